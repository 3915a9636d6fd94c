/** How long a Job waits before it replaces pods that failed: longer after each failure, until one succeeds. Pure. */
import type { coreV1 } from "@berth/kube";
import { failuresOf, finishedAt } from "./job-facts.ts";

/** What a Job remembers between two looks at its pods. */
export interface BackoffRecord {
  readonly failures: number;
  /** Milliseconds of the clock. */
  readonly lastFailure: number;
}

export const NO_FAILURES: BackoffRecord = { failures: 0, lastFailure: 0 };
const FIRST_MS = 10_000;
const LAST_MS = 600_000;

/** What is to be remembered after some more pods have ended. */
export function withEnded(
  record: BackoffRecord,
  succeeded: readonly coreV1.Pod[],
  failed: readonly coreV1.Pod[],
): BackoffRecord {
  if (succeeded.length === 0 && failed.length === 0) return record;
  const failures = failed.map(finishedAt);
  if (succeeded.length === 0) {
    return { failures: record.failures + failures.length, lastFailure: Math.max(...failures) };
  }
  const lastSuccess = Math.max(...succeeded.map(finishedAt));
  const later = failures.filter((time) => time > lastSuccess);
  return later.length === 0 ? NO_FAILURES : { failures: later.length, lastFailure: Math.max(...later) };
}

/** How long it is until pods may be created again. */
export function remainingMs({ failures, lastFailure }: BackoffRecord, now: number): number {
  if (failures === 0) return 0;
  const wait = Math.min(FIRST_MS * 2 ** (failures - 1), LAST_MS);
  return Math.max(0, wait - (now - lastFailure));
}

/** The same for one index, by the last pod of it that failed. */
export function remainingMsOfIndex(lastFailed: coreV1.Pod | undefined, now: number): number {
  if (!lastFailed) return 0;
  return remainingMs({ failures: failuresOf(lastFailed).all + 1, lastFailure: finishedAt(lastFailed) }, now);
}
