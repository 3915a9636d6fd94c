/** Which pods a Job needs, and which it has too many of. Pure. */
import type { batchV1, coreV1 } from "@berth/kube";
import { byExpendability, isTerminating } from "../pod-order.ts";
import type { Assessment } from "./assess.ts";
import { remainingMs, remainingMsOfIndex } from "./backoff.ts";
import { IndexSet } from "./indexes.ts";
import { hasLimitPerIndex, indexOf, isIndexed, isNumber, isSuspended, replacesEndedOnly } from "./job-facts.ts";

export interface PodPlan {
  readonly remove: readonly coreV1.Pod[];
  /** One for each pod that is to be made: its index, if it has one. */
  readonly make: readonly (number | undefined)[];
  /** Pods may be made again after so long. */
  readonly waitMs?: number;
}

const MOST_AT_ONCE = 500;
const NOTHING: PodPlan = { remove: [], make: [] };

export function planPods(job: batchV1.Job, assessment: Assessment, now: number): PodPlan {
  const { active, terminating, record } = assessment;
  if (isSuspended(job)) return { remove: tooMany(job, active, active.length), make: [] };
  const wanted = wantedActive(job, assessment);
  const remove = tooMany(job, active, Math.max(0, active.length - wanted)).slice(0, MOST_AT_ONCE);
  if (remove.length > 0) return { remove, make: [] };
  const leaving = replacesEndedOnly(job) ? terminating : 0;
  const count = Math.min(wanted - leaving - active.length, MOST_AT_ONCE);
  if (count <= 0) return NOTHING;
  const waitMs = hasLimitPerIndex(job) ? 0 : remainingMs(record, now);
  if (waitMs > 0) return { ...NOTHING, waitMs };
  if (!isIndexed(job)) return { remove: [], make: Array.from({ length: count }, () => undefined) };
  const indexes = pendingIndexes(job, assessment, count);
  return hasLimitPerIndex(job) ? whenDue(indexes, assessment, now) : { remove: [], make: indexes };
}

function wantedActive({ spec }: batchV1.Job, { active, succeeded }: Assessment): number {
  const parallelism = spec?.parallelism ?? 1;
  if (isNumber(spec?.completions)) return Math.max(0, Math.min(spec.completions - succeeded, parallelism));
  // Any success ends a Job without a number of completions: who still runs may run on, but nobody is added.
  return succeeded > 0 ? active.length : parallelism;
}

function pendingIndexes(job: batchV1.Job, assessment: Assessment, count: number): number[] {
  const { pods, active, succeededIndexes, failedIndexes } = assessment;
  const taken = replacesEndedOnly(job) ? [...active, ...pods.filter(isTerminating)] : active;
  const present = IndexSet.of(taken.map(indexOf).filter((index) => index !== undefined));
  const settled = succeededIndexes.union(present).union(failedIndexes ?? IndexSet.empty);
  return settled.missing(count, job.spec?.completions ?? 0);
}

/** With a limit per index, each index waits for its own failures. */
function whenDue(indexes: readonly number[], { lastFailed }: Assessment, now: number): PodPlan {
  const waits = indexes.map((index) => remainingMsOfIndex(lastFailed.get(index), now));
  const make = indexes.filter((_, place) => waits[place] === 0);
  if (make.length > 0 || indexes.length === 0) return { remove: [], make };
  return { ...NOTHING, waitMs: Math.min(...waits) };
}

/** At least so many, of those that have come the least far; of Indexed Jobs all that are double or have no index, first. */
function tooMany(job: batchV1.Job, active: readonly coreV1.Pod[], atLeast: number): coreV1.Pod[] {
  const inOrder = active.toSorted((a, b) => byExpendability(a, b));
  if (!isIndexed(job)) return inOrder.slice(0, atLeast);
  const completions = job.spec?.completions ?? 0;
  const best = new Map<number, coreV1.Pod>();
  for (const pod of inOrder) {
    const index = indexOf(pod);
    if (index !== undefined && index < completions) best.set(index, pod); // the last one has come the furthest
  }
  const kept = new Set(best.values());
  const useless = inOrder.filter((pod) => !kept.has(pod));
  const more = inOrder.filter((pod) => kept.has(pod)).slice(0, Math.max(0, atLeast - useless.length));
  return [...useless, ...more];
}
