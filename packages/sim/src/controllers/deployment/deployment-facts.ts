/** What the rules of Deployments ask about a Deployment and its ReplicaSets. Pure. */
import type { appsV1, coreV1 } from "@berth/kube";
import { equal } from "../../api/json.ts";

export const REVISION = "deployment.kubernetes.io/revision";
export const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";
export const TEMPLATE_HASH = "pod-template-hash";

/** Annotations that a ReplicaSet does not take from its Deployment. */
const OWN = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  ...[REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS],
]);

const NO_LIMIT = 2 ** 31 - 1;

export function wantedReplicas({ spec }: appsV1.Deployment): number {
  return spec?.replicas ?? 1;
}

export function replicasOf({ spec }: appsV1.ReplicaSet): number {
  return spec?.replicas ?? 1;
}

export function isRolling({ spec }: appsV1.Deployment): boolean {
  return spec?.strategy?.type !== "Recreate";
}

/** How many pods there may be too many during a roll-out, and how many too few. */
export function fenceposts(deployment: appsV1.Deployment): { surge: number; unavailable: number } {
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const wanted = wantedReplicas(deployment);
  const surge = scaled(maxSurge, wanted, Math.ceil);
  let unavailable = scaled(maxUnavailable, wanted, Math.floor);
  if (surge === 0 && unavailable === 0) unavailable = 1; // or nothing would ever move
  return { surge, unavailable: Math.min(unavailable, wanted) };
}

/** A number, or a share of one: "25%". What is neither is nothing. */
export function scaled(value: number | string, of: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  const [, percent] = /^(\d{1,9})%$/.exec(value) ?? [];
  return percent === undefined ? 0 : round((Number(percent) * of) / 100);
}

export function progressDeadlineMs({ spec }: appsV1.Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === null || seconds === NO_LIMIT ? undefined : seconds * 1000;
}

export function historyLimit({ spec }: appsV1.Deployment): number | undefined {
  const limit = spec?.revisionHistoryLimit ?? 10;
  return limit === NO_LIMIT ? undefined : limit;
}

export function revisionOf({ metadata }: appsV1.ReplicaSet): number {
  const text = metadata.annotations?.[REVISION];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** By age, then by name: never by chance. */
export function byAge(a: appsV1.ReplicaSet, b: appsV1.ReplicaSet): number {
  const [left, right] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? "") as [string, string];
  if (left !== right) return left < right ? -1 : 1;
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

/** The set that has the Deployment's present template; the oldest, should there be several. */
export function currentSet(
  { spec }: appsV1.Deployment,
  sets: readonly appsV1.ReplicaSet[],
): appsV1.ReplicaSet | undefined {
  return sets.toSorted(byAge).find((set) => sameTemplate(set.spec?.template, spec?.template));
}

function sameTemplate(a: coreV1.PodTemplateSpec | undefined, b: coreV1.PodTemplateSpec | undefined): boolean {
  if (!a || !b || !equal(a.spec, b.spec)) return false;
  return equal(withoutHash(a), withoutHash(b));
}

function withoutHash({ metadata = {} }: coreV1.PodTemplateSpec) {
  const { labels: { [TEMPLATE_HASH]: _hash, ...labels } = {}, creationTimestamp: _time, ...rest } = metadata;
  return { ...rest, labels };
}

/** The annotations that the set with a revision has to have. @param limit - How long a history may be, in characters. */
export function setAnnotations(
  deployment: appsV1.Deployment,
  set: appsV1.ReplicaSet,
  revision: number,
  limit = 2000,
): Record<string, string> {
  const annotations = { ...set.metadata.annotations };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {}))
    if (!OWN.has(key)) annotations[key] = value;
  const before = annotations[REVISION];
  if (before !== undefined && !/^\d{1,15}$/.test(before)) return annotations;
  if (Number(before ?? 0) >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (before === undefined) return annotations;
  const history = [...(annotations[REVISION_HISTORY]?.split(",").filter(Boolean) ?? []), before];
  while (history.length > 1 && history.join(",").length > limit) history.shift();
  annotations[REVISION_HISTORY] = history.join(",");
  return annotations;
}

/** What a set says about the size of its Deployment, so that the next change of that size is noticed. */
export function sizeAnnotations(deployment: appsV1.Deployment): Record<string, string> {
  const wanted = wantedReplicas(deployment);
  return { [DESIRED_REPLICAS]: String(wanted), [MAX_REPLICAS]: String(wanted + fenceposts(deployment).surge) };
}

export function numberOf({ metadata }: appsV1.ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
