/** Which of several pods a controller deletes first when there are too many: those that have come the least far. Pure. */
import type { coreV1 } from "@berth/kube";

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

export function isActive({ metadata, status }: coreV1.Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** Whether a pod is being deleted and has not ended yet. */
export function isTerminating({ metadata, status }: coreV1.Pod): boolean {
  return metadata.deletionTimestamp !== undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

export function isReady(pod: coreV1.Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** Since when a pod is ready, in milliseconds; `undefined` if it is not. */
export function readySince({ status }: coreV1.Pod): number | undefined {
  const ready = status?.conditions?.find((condition) => condition.type === "Ready" && condition.status === "True");
  return ready && Date.parse(ready.lastTransitionTime ?? "");
}

/** Whether a pod has been ready for long enough to be relied upon. */
export function isAvailable(pod: coreV1.Pod, minReadySeconds: number, now: number): boolean {
  const since = readySince(pod);
  return since !== undefined && (minReadySeconds === 0 || since + minReadySeconds * 1000 <= now);
}

/** Negative if `a` goes before `b`. @param rank - How many others of its kind share a pod's node: more go first. */
export function byExpendability(
  a: coreV1.Pod,
  b: coreV1.Pod,
  { rank, cost = false }: { rank?: (pod: coreV1.Pod) => number; cost?: boolean } = {},
): number {
  const [aNode, bNode] = [Boolean(a.spec?.nodeName), Boolean(b.spec?.nodeName)];
  if (aNode !== bNode) return aNode ? 1 : -1;
  const phase = (PHASES[a.status?.phase ?? ""] ?? 0) - (PHASES[b.status?.phase ?? ""] ?? 0);
  if (phase !== 0) return phase;
  const [aReady, bReady] = [readySince(a), readySince(b)];
  if ((aReady === undefined) !== (bReady === undefined)) return aReady === undefined ? -1 : 1;
  if (cost && costOf(a) !== costOf(b)) return costOf(a) - costOf(b);
  if (rank && rank(a) !== rank(b)) return rank(b) - rank(a);
  if (aReady !== undefined && bReady !== undefined && aReady !== bReady) return bReady - aReady;
  if (restartsOf(a) !== restartsOf(b)) return restartsOf(b) - restartsOf(a);
  return createdAt(b) - createdAt(a);
}

function costOf({ metadata }: coreV1.Pod): number {
  const text = metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"];
  return text !== undefined && /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
}

function restartsOf({ status }: coreV1.Pod): number {
  return Math.max(0, ...(status?.containerStatuses?.map(({ restartCount }) => restartCount) ?? []));
}

function createdAt({ metadata }: coreV1.Pod): number {
  return Date.parse(metadata.creationTimestamp ?? "");
}
