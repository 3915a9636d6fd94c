/** A pod that waits to be scheduled, and what has become of it so far. */
import type { PodInfo } from "../pod-info.ts";
import type { Plugin } from "../rejection.ts";

/** Where it waits; "flying" is being scheduled. */
export type Whereabouts = "active" | "backoff" | "errorBackoff" | "unschedulable" | "flying" | "nowhere";

export class QueuedPod {
  info: PodInfo;
  whereabouts: Whereabouts = "nowhere";
  /** Since when it waits; those who came in the same moment go in the order in which they came. */
  since = 0;
  order = 0;
  attempts = 0;
  /** How often it was tried in the moment in which it was tried last. */
  attemptsAtOnce = 0;
  /** How often no node would do, in all; and how often in a row something went wrong. */
  unschedulableCount = 0;
  errorCount = 0;
  /** When it may be tried again; worked out when needed. */
  backoffUntil: number | undefined;
  /** The rules that rejected it. None if something went wrong. */
  rejectedBy: Set<Plugin> = new Set();
  /** The rule that does not even let it into the queue. */
  gate: Plugin | undefined;
  /** Its place in a heap. */
  index = -1;

  constructor(info: PodInfo) {
    this.info = info;
  }
}

/** The more important first, then whoever waits longest. */
export function goesBefore(a: QueuedPod, b: QueuedPod): boolean {
  if (a.info.priority !== b.info.priority) return a.info.priority > b.info.priority;
  return a.since !== b.since ? a.since < b.since : a.order < b.order;
}
