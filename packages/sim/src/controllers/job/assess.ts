/** How a Job stands: how many of its pods run, have succeeded, have failed, and whether that decides it. Pure. */
import { type batchV1, type coreV1, kubernetesTime } from "@berth/kube";
import { isActive, isReady, isTerminating } from "../pod-order.ts";
import { type BackoffRecord, withEnded } from "./backoff.ts";
import { IndexSet } from "./indexes.ts";
import {
  failuresOf,
  finishedAt,
  hasIndexBelow,
  hasLimitPerIndex,
  indexOf,
  isFailed,
  isIndexed,
  isNumber,
  isSucceeded,
  isSuspended,
  isTracked,
  trueCondition,
} from "./job-facts.ts";
import { enoughSucceeded, failureVerdict } from "./policies.ts";

/** How a Job is to end. */
export interface Finish {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
}

export interface Assessment {
  readonly pods: readonly coreV1.Pod[];
  readonly active: readonly coreV1.Pod[];
  readonly ready: number;
  readonly terminating: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Of Indexed Jobs: what the status says, and what is true now. */
  readonly countedIndexes: IndexSet;
  readonly succeededIndexes: IndexSet;
  /** With a limit per index: those that have reached it. */
  readonly failedIndexes: IndexSet | undefined;
  /** With a limit per index: the last failed pod of each index that is to be tried again. */
  readonly lastFailed: ReadonlyMap<number, coreV1.Pod>;
  readonly record: BackoffRecord;
  readonly startTime: string | undefined;
  readonly finish: Finish | undefined;
  /** How long the Job may still be active. */
  readonly deadlineMs: number | undefined;
}

export function assess(job: batchV1.Job, pods: readonly coreV1.Pod[], record: BackoffRecord, now: number): Assessment {
  const { spec, status = {} } = job;
  const completions = spec?.completions ?? 0;
  const uncounted = status.uncountedTerminatedPods ?? {};
  const isNew = (known: readonly string[] | undefined) => (pod: coreV1.Pod) =>
    isTracked(pod) && !known?.includes(pod.metadata.uid ?? "") && (!isIndexed(job) || hasIndexBelow(pod, completions));
  const newSucceeded = pods.filter((pod) => isSucceeded(pod) && isNew(uncounted.succeeded)(pod));
  const newFailed = pods.filter((pod) => isFailed(pod, job) && isNew(uncounted.failed)(pod));
  const counting = newFailed.filter((pod) => failureVerdict(spec?.podFailurePolicy, pod).counts);
  const active = pods.filter(isActive);
  const startTime = status.startTime ?? (isSuspended(job) ? undefined : kubernetesTime(now));
  const countedIndexes = isIndexed(job) ? IndexSet.parse(status.completedIndexes, completions) : IndexSet.empty;
  const succeededIndexes = isIndexed(job) ? countedIndexes.union(indexesOf(pods, completions)) : countedIndexes;
  const failedIndexes = isIndexed(job) && hasLimitPerIndex(job) ? failedIndexesOf(job, pods) : undefined;
  const failed = (status.failed ?? 0) + counting.length + (uncounted.failed?.length ?? 0);
  const deadlineMs = timeLeft(job, startTime, now);
  return {
    ...{ pods, active, startTime, countedIndexes, succeededIndexes, failedIndexes, failed, deadlineMs },
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    succeeded: isIndexed(job)
      ? succeededIndexes.size
      : (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0),
    record: withEnded(record, newSucceeded, newFailed),
    lastFailed: failedIndexes ? lastFailedOf(job, pods, active, succeededIndexes, failedIndexes) : new Map(),
    finish: finishOf(job, pods, failed, deadlineMs, succeededIndexes, failedIndexes),
  };
}

/** What decides a Job, other than that all of its completions are reached. */
function finishOf(
  job: batchV1.Job,
  pods: readonly coreV1.Pod[],
  failed: number,
  deadlineMs: number | undefined,
  succeeded: IndexSet,
  failedIndexes: IndexSet | undefined,
): Finish | undefined {
  const { spec } = job;
  const completions = spec?.completions ?? 0;
  // What was decided once stays decided.
  for (const [interim, type] of [
    ["SuccessCriteriaMet", "Complete"],
    ["FailureTarget", "Failed"],
  ] as const) {
    const known = trueCondition(job, interim);
    if (known) return { type, reason: known.reason ?? "", message: known.message ?? "" };
  }
  for (const pod of spec?.podFailurePolicy ? pods : []) {
    const why = isFailed(pod, job) ? failureVerdict(spec?.podFailurePolicy, pod).failJob : undefined;
    if (why !== undefined) return { type: "Failed", reason: "PodFailurePolicy", message: why };
  }
  if (failed > (spec?.backoffLimit ?? 6) || tooManyRestarts(job, pods)) {
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  if (deadlineMs !== undefined && deadlineMs <= 0) {
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  }
  if (failedIndexes) {
    if (isNumber(spec?.maxFailedIndexes) && failedIndexes.size > spec.maxFailedIndexes) {
      const message = "Job has exceeded the specified maximal number of failed indexes";
      return failure("MaxFailedIndexesExceeded", message);
    }
    if (failedIndexes.size > 0 && failedIndexes.size + succeeded.size >= completions) {
      return failure("FailedIndexes", "Job has failed indexes");
    }
  }
  const enough = isIndexed(job) ? enoughSucceeded(spec?.successPolicy, completions, succeeded) : undefined;
  return enough === undefined ? undefined : { type: "Complete", reason: "SuccessPolicy", message: enough };
}

function failure(reason: string, message: string): Finish {
  return { type: "Failed", reason, message };
}

/** Pods that restart their own containers fail their Job by that. */
function tooManyRestarts({ spec }: batchV1.Job, pods: readonly coreV1.Pod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    for (const { restartCount } of status.initContainerStatuses ?? []) restarts += restartCount;
    for (const { restartCount } of status.containerStatuses ?? []) restarts += restartCount;
  }
  const limit = spec.backoffLimit ?? 6;
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function timeLeft(job: batchV1.Job, startTime: string | undefined, now: number): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds;
  if (!isNumber(seconds) || startTime === undefined || isSuspended(job)) return undefined;
  return Date.parse(startTime) + seconds * 1000 - now;
}

function indexesOf(pods: readonly coreV1.Pod[], completions: number): IndexSet {
  const done = pods.filter((pod) => isSucceeded(pod) && isTracked(pod) && hasIndexBelow(pod, completions));
  return IndexSet.of(done.map((pod) => indexOf(pod) ?? 0));
}

function failedIndexesOf(job: batchV1.Job, pods: readonly coreV1.Pod[]): IndexSet {
  const completions = job.spec?.completions ?? 0;
  const lost = pods.filter((pod) => {
    if (!isTracked(pod) || !hasIndexBelow(pod, completions) || !isFailed(pod, job)) return false;
    const { action, counts } = failureVerdict(job.spec?.podFailurePolicy, pod);
    return action === "FailIndex" || (counts && failuresOf(pod).counted >= (job.spec?.backoffLimitPerIndex ?? 0));
  });
  return IndexSet.parse(job.status?.failedIndexes, completions).union(
    IndexSet.of(lost.map((pod) => indexOf(pod) ?? 0)),
  );
}

function lastFailedOf(
  job: batchV1.Job,
  pods: readonly coreV1.Pod[],
  active: readonly coreV1.Pod[],
  succeeded: IndexSet,
  failed: IndexSet,
): Map<number, coreV1.Pod> {
  const running = new Set(active.map(indexOf));
  const last = new Map<number, coreV1.Pod>();
  for (const pod of pods) {
    const index = indexOf(pod);
    if (index === undefined || index >= (job.spec?.completions ?? 0) || !isTracked(pod) || !isFailed(pod, job))
      continue;
    if (running.has(index) || succeeded.has(index) || failed.has(index)) continue;
    const other = last.get(index);
    const isLater = !other || (failuresOf(other).all <= failuresOf(pod).all && finishedAt(pod) >= finishedAt(other));
    if (isLater) last.set(index, pod);
  }
  return last;
}
