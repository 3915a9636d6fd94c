/** Which of two pods is more important, and since when a pod runs. Pure. */
import type { PodInfo } from "../pod-info.ts";

/** In milliseconds; whoever has not started starts now. */
export function startOf({ pod }: PodInfo, now: number): number {
  const { startTime } = pod.status ?? {};
  return startTime === undefined ? now : Date.parse(startTime);
}

/** The higher priority, then the earlier start: for sorting, the most important first. */
export function byImportance(now: number): (a: PodInfo, b: PodInfo) => number {
  return (a, b) => b.priority - a.priority || startOf(a, now) - startOf(b, now);
}
