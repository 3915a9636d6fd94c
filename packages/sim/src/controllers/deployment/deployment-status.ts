/** What a Deployment's status says. Pure. */
import { type appsV1, kubernetesTime } from "@berth/kube";
import { fenceposts, progressDeadlineMs, replicasOf, wantedReplicas } from "./deployment-facts.ts";

type Condition = appsV1.DeploymentCondition;

/** The counts, and whether enough pods are available. */
export function statusOf(
  deployment: appsV1.Deployment,
  newSet: appsV1.ReplicaSet | undefined,
  all: readonly appsV1.ReplicaSet[],
  now: number,
): appsV1.DeploymentStatus {
  const sum = (count: (set: appsV1.ReplicaSet) => number | undefined) =>
    all.reduce((total, set) => total + (count(set) ?? 0), 0);
  const available = sum(({ status }) => status?.availableReplicas);
  const counts = {
    replicas: sum(({ status }) => status?.replicas),
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: sum(({ status }) => status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(replicasOf) - available),
  };
  const { collisionCount, conditions = [] } = deployment.status ?? {};
  const isEnough = available >= wantedReplicas(deployment) - fenceposts(deployment).unavailable;
  const availability = isEnough
    ? condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
    : condition(
        "Available",
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
        now,
      );
  return {
    ...(deployment.metadata.generation !== undefined && { observedGeneration: deployment.metadata.generation }),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: sum(({ status }) => status?.terminatingReplicas),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(conditions, availability),
  };
}

export function isComplete(deployment: appsV1.Deployment, status: appsV1.DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const isThere = updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
  return isThere && observedGeneration >= (deployment.metadata.generation ?? 0);
}

/** The status of a Deployment that rolls out: does it get on? */
export function rolloutStatus(
  deployment: appsV1.Deployment,
  newSet: appsV1.ReplicaSet | undefined,
  all: readonly appsV1.ReplicaSet[],
  now: number,
): appsV1.DeploymentStatus {
  const status = statusOf(deployment, newSet, all, now);
  const conditions = withFailures(progress(deployment, newSet, status, now), newSet, all);
  return { ...status, conditions };
}

function progress(
  deployment: appsV1.Deployment,
  newSet: appsV1.ReplicaSet | undefined,
  status: appsV1.DeploymentStatus,
  now: number,
): readonly Condition[] {
  const conditions = status.conditions ?? [];
  const known = conditions.find(({ type }) => type === "Progressing");
  const deadline = progressDeadlineMs(deployment);
  if (deadline === undefined) return conditions.filter((each) => each !== known);
  const wasComplete = known?.reason === "NewReplicaSetAvailable";
  if (wasComplete && (status.replicas ?? 0) === (status.updatedReplicas ?? 0)) return conditions;
  const who = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const message = `${who} has successfully progressed.`;
    return withCondition(conditions, condition("Progressing", "True", "NewReplicaSetAvailable", message, now));
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const next = condition("Progressing", "True", "ReplicaSetUpdated", `${who} is progressing.`, now);
    const { lastTransitionTime } = known?.status === "True" ? known : next;
    const others = conditions.filter((each) => each !== known);
    return [...others, { ...next, ...(lastTransitionTime !== undefined && { lastTransitionTime }) }];
  }
  const isStuck =
    known && !wasComplete && Date.parse(known.lastUpdateTime ?? "") + deadline < now && known.reason !== TIMED_OUT;
  if (!isStuck) return conditions;
  const message = `${who} has timed out progressing.`;
  return withCondition(conditions, condition("Progressing", "False", TIMED_OUT, message, now));
}

const TIMED_OUT = "ProgressDeadlineExceeded";

function hasProgressed(before: appsV1.DeploymentStatus, after: appsV1.DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: appsV1.DeploymentStatus) => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** That pods cannot be made is said of the Deployment too. */
function withFailures(
  conditions: readonly Condition[],
  newSet: appsV1.ReplicaSet | undefined,
  all: readonly appsV1.ReplicaSet[],
): Condition[] {
  const failures = [...(newSet ? [newSet] : []), ...all].flatMap(({ status }) => status?.conditions ?? []);
  const failure = failures.find(({ type }) => type === "ReplicaFailure");
  if (!failure) return conditions.filter(({ type }) => type !== "ReplicaFailure");
  const { lastTransitionTime } = failure;
  return withCondition(conditions, { ...failure, ...(lastTransitionTime && { lastUpdateTime: lastTransitionTime }) });
}

/** How long until it is to be looked at whether it still gets on; `undefined` if nobody has to look. */
export function nextCheckMs(
  deployment: appsV1.Deployment,
  status: appsV1.DeploymentStatus,
  now: number,
): number | undefined {
  const deadline = progressDeadlineMs(deployment);
  const known = status.conditions?.find(({ type }) => type === "Progressing");
  if (deadline === undefined || !known || isComplete(deployment, status) || known.reason === TIMED_OUT)
    return undefined;
  return Math.max(0, Date.parse(known.lastUpdateTime ?? "") + deadline - now) + 1000;
}

/** Whether it is paused, as a condition; `undefined` if that is said already. */
export function pauseCondition({ spec, status }: appsV1.Deployment, now: number): Condition | undefined {
  const known = status?.conditions?.find(({ type }) => type === "Progressing");
  if (known?.reason === TIMED_OUT) return undefined;
  const wasPaused = known?.reason === "DeploymentPaused";
  if (Boolean(spec?.paused) === wasPaused) return undefined;
  return wasPaused
    ? condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", now)
    : condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", now);
}

export function condition(type: string, status: string, reason: string, message: string, now: number): Condition {
  const time = kubernetesTime(now);
  return { type, status, reason, message, lastUpdateTime: time, lastTransitionTime: time };
}

/** The conditions with one of them put in; the same list if it says nothing new. */
export function withCondition(conditions: readonly Condition[], next: Condition): Condition[] {
  const known = conditions.find(({ type }) => type === next.type);
  if (known?.status === next.status && known.reason === next.reason) return [...conditions];
  const { lastTransitionTime } = known?.status === next.status ? known : next;
  const others = conditions.filter((each) => each !== known);
  return [...others, { ...next, ...(lastTransitionTime !== undefined && { lastTransitionTime }) }];
}
