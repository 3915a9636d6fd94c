/**
 * What a Job's status says: every pod that ended is counted exactly once. A pod carries a finalizer until it is counted; in
 * between its uid stands in `uncountedTerminatedPods`, so that nothing is lost or doubled whenever somebody dies. Pure.
 */
import { type batchV1, type coreV1, kubernetesTime } from "@berth/kube";
import type { Assessment, Finish } from "./assess.ts";
import { IndexSet } from "./indexes.ts";
import { hasIndexBelow, indexOf, isFailed, isIndexed, isSucceeded, isSuspended, isTracked } from "./job-facts.ts";
import { failureVerdict } from "./policies.ts";

/** Pods that are there, after some were made and others deleted. */
export interface Counts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

export interface Tracking {
  /** What is to be written before finalizers are removed. */
  readonly status: batchV1.JobStatus;
  /** The pods whose finalizers can go. */
  readonly release: readonly coreV1.Pod[];
  /** Some pods have to wait for the next time: a status must not become too long. */
  readonly isPartial: boolean;
}

const MOST_UNCOUNTED = 500;

export function track(
  job: batchV1.Job,
  assessment: Assessment,
  counts: Counts,
  finish: Finish | undefined,
  conditions: readonly batchV1.JobCondition[],
  now: number,
): Tracking {
  const { pods, failedIndexes, countedIndexes, startTime } = assessment;
  const before = job.status ?? {};
  const completions = job.spec?.completions ?? 0;
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ""));
  const status = counted({ ...before, ...(startTime !== undefined && { startTime }) }, tracked);
  const succeeded = [...(status.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(status.uncountedTerminatedPods?.failed ?? [])];
  const indexes: number[] = [];
  const release: coreV1.Pod[] = [];
  const candidates = isIndexed(job) ? pods.toSorted((a, b) => (indexOf(a) ?? -1) - (indexOf(b) ?? -1)) : pods;
  let isPartial = false;
  for (const pod of candidates) {
    const { uid = "" } = pod.metadata;
    if (!isTracked(pod) || !canRelease(job, pod, assessment, finish)) continue;
    if (isPartial || indexes.length + succeeded.length + failed.length >= MOST_UNCOUNTED) {
      isPartial = true;
      break;
    }
    release.push(pod);
    if (isSucceeded(pod) && !failed.includes(uid)) {
      if (!isIndexed(job)) {
        if (!succeeded.includes(uid)) succeeded.push(uid);
      } else if (hasIndexBelow(pod, completions) && !countedIndexes.has(indexOf(pod) ?? 0)) {
        indexes.push(indexOf(pod) ?? 0);
      }
    } else if (isFailed(pod, job) || finish?.type === "Failed") {
      // Whoever still runs when a Job fails has failed with it.
      const isCountable = !failed.includes(uid) && (!isIndexed(job) || hasIndexBelow(pod, completions));
      if (isCountable && failureVerdict(job.spec?.podFailurePolicy, pod).counts) failed.push(uid);
    }
  }
  status.uncountedTerminatedPods = uncountedOf(succeeded, failed);
  if (isIndexed(job)) {
    const completed = countedIndexes.union(IndexSet.of(indexes));
    status.succeeded = completed.size;
    if (completed.size > 0 || before.completedIndexes !== undefined) status.completedIndexes = completed.toString();
    if (failedIndexes) status.failedIndexes = failedIndexes.toString();
  }
  const all = [...conditions];
  const interim = finish && (finish.type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget");
  if (interim && !all.some(({ type, status: is }) => type === interim && is === "True")) {
    all.push(condition(interim, "True", finish.reason, finish.message, now));
  }
  if (all.length > 0) status.conditions = all;
  Object.assign(status, counts);
  return { status: tidy(status), release, isPartial };
}

/** Whether nobody needs a pod's finalizer any more. */
function canRelease(
  job: batchV1.Job,
  pod: coreV1.Pod,
  { lastFailed }: Assessment,
  finish: Finish | undefined,
): boolean {
  if (job.metadata.deletionTimestamp !== undefined || finish || isSucceeded(pod)) return true;
  if (!isFailed(pod, job)) return false;
  // The pod that replaces it has to know how often its index failed.
  const index = indexOf(pod);
  return index === undefined || lastFailed.get(index)?.metadata.uid !== pod.metadata.uid;
}

/** The status with everything counted whose finalizer is gone. @param tracked - The uids of pods that still have theirs. */
export function counted(status: batchV1.JobStatus, tracked: ReadonlySet<string>): batchV1.JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const [leftSucceeded, leftFailed] = [succeeded, failed].map((uids) => uids.filter((uid) => tracked.has(uid)));
  return tidy({
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - (leftSucceeded?.length ?? 0),
    failed: (status.failed ?? 0) + failed.length - (leftFailed?.length ?? 0),
    uncountedTerminatedPods: uncountedOf(leftSucceeded ?? [], leftFailed ?? []),
  });
}

/** The status of a Job that is over; `undefined` if somebody is still to be counted, or still on their way out. */
export function concluded(
  status: batchV1.JobStatus,
  { type, reason, message }: Finish,
  now: number,
): batchV1.JobStatus | undefined {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length > 0 || (status.terminating ?? 0) > 0) return undefined;
  const time = kubernetesTime(now);
  return {
    ...status,
    conditions: [...(status.conditions ?? []), condition(type, "True", reason, message, now)],
    ...(type === "Complete" && { completionTime: time }),
  };
}

/** The conditions of a Job that goes on, and whether it has just been suspended or resumed. */
export function suspension(
  job: batchV1.Job,
  now: number,
): { readonly conditions: readonly batchV1.JobCondition[]; readonly changed?: "Suspended" | "Resumed" } {
  const conditions = job.status?.conditions ?? [];
  const known = conditions.find(({ type }) => type === "Suspended");
  if (isSuspended(job) ? known?.status === "True" : known?.status !== "True") return { conditions };
  const next = isSuspended(job)
    ? condition("Suspended", "True", "JobSuspended", "Job suspended", now)
    : condition("Suspended", "False", "JobResumed", "Job resumed", now);
  return {
    conditions: known ? conditions.map((each) => (each === known ? next : each)) : [...conditions, next],
    changed: isSuspended(job) ? "Suspended" : "Resumed",
  };
}

function condition(type: string, status: string, reason: string, message: string, now: number): batchV1.JobCondition {
  const time = kubernetesTime(now);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

function uncountedOf(succeeded: readonly string[], failed: readonly string[]): batchV1.UncountedTerminatedPods {
  return {
    ...(succeeded.length > 0 && { succeeded: [...succeeded] }),
    ...(failed.length > 0 && { failed: [...failed] }),
  };
}

/** Numbers that are zero are left out, but for two that say so. */
function tidy(status: batchV1.JobStatus): batchV1.JobStatus {
  for (const field of ["active", "succeeded", "failed"] as const) if (status[field] === 0) delete status[field];
  return status;
}
