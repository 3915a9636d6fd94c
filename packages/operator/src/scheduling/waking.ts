/** What is worth a look at all Schedulings of a testbed: of everything that happens, little. Pure. */
import type { coreV1, ObjectEvent } from "@berth/kube";
import type { BatchJob, Slot } from "@berth/model";
import { label } from "../names.ts";

/** A slot is free in the moment when its ghost is there, which is before anybody has written it down. */
export function isGhostThere(event: ObjectEvent<coreV1.Pod>): boolean {
  const { object } = event;
  if (object.metadata.labels?.[label.role] !== "ghost" || event.type === "delete") return false;
  return event.type === "create" || event.old.spec?.nodeName !== object.spec?.nodeName;
}

/** Jobs move on in many steps; only some of them are the Scheduling's affair. */
export function jobMoved(old: BatchJob, job: BatchJob): boolean {
  return (
    old.metadata.generation !== job.metadata.generation ||
    old.metadata.deletionTimestamp !== job.metadata.deletionTimestamp ||
    old.status?.phase !== job.status?.phase ||
    old.status?.claimTime !== job.status?.claimTime
  );
}

/** A slot was changed, has become free, or cannot be used any more, or can again. */
export function slotMoved(old: Slot, slot: Slot): boolean {
  if (old.metadata.generation !== slot.metadata.generation) return true;
  const [before, after] = [old.status?.state, slot.status?.state];
  return before !== after && [before, after].some((state) => state === "free" || state === "unavailable");
}
