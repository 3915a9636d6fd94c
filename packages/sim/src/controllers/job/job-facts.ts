/** What the rules of Jobs ask about a Job and its pods. Pure. */
import type { batchV1, coreV1 } from "@berth/kube";

export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
export const INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";
export const FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
export const IGNORED_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-ignored-failure-count";

const CONTROLLER = "kubernetes.io/job-controller";

export function isIndexed({ spec }: batchV1.Job): boolean {
  return spec?.completionMode === "Indexed";
}

export function isSuspended({ spec }: batchV1.Job): boolean {
  return spec?.suspend ?? false;
}

/** Whether another controller looks after it. */
export function isManagedElsewhere({ spec }: batchV1.Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== CONTROLLER;
}

export function hasLimitPerIndex({ spec }: batchV1.Job): boolean {
  return isNumber(spec?.backoffLimitPerIndex);
}

/** An optional field may also be null. */
export function isNumber(value: number | null | undefined): value is number {
  return typeof value === "number";
}

/** The condition that says that a Job is over. */
export function finalCondition({ status }: batchV1.Job): batchV1.JobCondition | undefined {
  return status?.conditions?.find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
}

export function trueCondition({ status }: batchV1.Job, wanted: string): batchV1.JobCondition | undefined {
  return status?.conditions?.find(({ type, status: is }) => type === wanted && is === "True");
}

/** Whether a pod is replaced only when it has really ended, and not when it is about to. */
export function replacesEndedOnly({ spec }: batchV1.Job): boolean {
  return spec?.podReplacementPolicy === "Failed" || Boolean(spec?.podFailurePolicy);
}

export function isTracked({ metadata }: coreV1.Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

export function isSucceeded({ status }: coreV1.Pod): boolean {
  return status?.phase === "Succeeded";
}

/** Whether a pod is one that failed; one that is being deleted counts before it ends. */
export function isFailed(pod: coreV1.Pod, job: batchV1.Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesEndedOnly(job) && pod.metadata.deletionTimestamp !== undefined && !isSucceeded(pod);
}

/** A pod's completion index; `undefined` if it has none. */
export function indexOf({ metadata }: coreV1.Pod): number | undefined {
  const text = metadata.annotations?.[INDEX_ANNOTATION];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

export function hasIndexBelow(pod: coreV1.Pod, completions: number): boolean {
  const index = indexOf(pod);
  return index !== undefined && index < completions;
}

/** How often a pod's index failed before, as the pod says; and how often in all, with failures that do not count. */
export function failuresOf({ metadata }: coreV1.Pod): { counted: number; all: number } {
  const read = (name: string) => {
    const text = metadata.annotations?.[name];
    return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  };
  const counted = read(FAILURES_ANNOTATION);
  return { counted, all: counted + read(IGNORED_FAILURES_ANNOTATION) };
}

/** When a pod ended, in milliseconds; or what comes closest to that. */
export function finishedAt({ metadata, status, spec }: coreV1.Pod): number {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  const beside = status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? [];
  const ends = [...(status?.containerStatuses ?? []), ...beside].map(({ state }) => state?.terminated?.finishedAt);
  if (ends.length > 0 && ends.every(Boolean)) return Math.max(...ends.map((end) => Date.parse(end as string)));
  const ready = status?.conditions?.find(({ type, status: is }) => type === "Ready" && is === "False");
  if (ready?.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp = "" } = metadata;
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}
