/**
 * The ladder of priorities that keeps slots to those they are for: ordinary pods are below ghosts, so that nobody evicts a
 * ghost by accident, and ghosts are below executors, for whom they make way.
 */
import type { schedulingV1 } from "@berth/kube";
import { priority } from "./names.ts";

/** @param base - The priority of ghosts; everything below is ordinary. Default: 1. */
export function priorityClasses(base = 1): schedulingV1.PriorityClass[] {
  return [
    {
      metadata: { name: priority.ghost },
      value: base,
      preemptionPolicy: "Never",
      description: "Berth: holds a slot that nobody is in. A new slot evicts nobody.",
    },
    {
      metadata: { name: priority.ghostReturn },
      value: base,
      preemptionPolicy: "PreemptLowerPriority",
      description: "Berth: comes back to a slot whose executor has left, also if somebody has taken the place.",
    },
    {
      metadata: { name: priority.slot },
      value: base + 1,
      preemptionPolicy: "PreemptLowerPriority",
      description: "Berth: an executor in its slot.",
    },
  ];
}
