/** How large a Deployment's ReplicaSets are to be: while it rolls out, and when it is scaled. Pure. */
import type { appsV1 } from "@berth/kube";
import {
  byAge,
  DESIRED_REPLICAS,
  fenceposts,
  isRolling,
  MAX_REPLICAS,
  numberOf,
  replicasOf,
  wantedReplicas,
} from "./deployment-facts.ts";

/** A set, and how large it is to be. */
export type Resize = readonly [set: appsV1.ReplicaSet, replicas: number];

const total = (sets: readonly appsV1.ReplicaSet[]) => sets.reduce((sum, set) => sum + replicasOf(set), 0);
const available = (set: appsV1.ReplicaSet) => set.status?.availableReplicas ?? 0;

/** How large the new set is to be, as far as there is room for it. */
export function newSetSize(deployment: appsV1.Deployment, present: number, all: readonly appsV1.ReplicaSet[]): number {
  const wanted = wantedReplicas(deployment);
  if (present > wanted || !isRolling(deployment)) return wanted;
  const room = wanted + fenceposts(deployment).surge - total(all);
  return room <= 0 ? present : present + Math.min(room, wanted - present);
}

/** Which old sets can be smaller: first by what does not work anyway, then by what the new set makes up for. */
export function shrunkOldSets(
  deployment: appsV1.Deployment,
  newSet: appsV1.ReplicaSet,
  oldSets: readonly appsV1.ReplicaSet[],
): Resize[] {
  const old = oldSets.filter((set) => replicasOf(set) > 0).toSorted(byAge);
  const minimum = wantedReplicas(deployment) - fenceposts(deployment).unavailable;
  const missing = replicasOf(newSet) - available(newSet);
  let broken = total([...old, newSet]) - minimum - missing;
  if (old.length === 0 || broken <= 0) return [];
  const sizes = new Map<appsV1.ReplicaSet, number>();
  for (const set of old) {
    const surplus = Math.min(broken, Math.max(0, replicasOf(set) - available(set)));
    sizes.set(set, replicasOf(set) - surplus);
    broken -= surplus;
  }
  let spare = [...old, newSet].reduce((sum, set) => sum + available(set), 0) - minimum;
  for (const set of old) {
    const size = sizes.get(set) ?? 0;
    const surplus = Math.max(0, Math.min(size, spare));
    sizes.set(set, size - surplus);
    spare -= surplus;
  }
  return [...sizes].filter(([set, size]) => size !== replicasOf(set));
}

/** What becomes of the sets when only the number of replicas has changed: each gets its share. */
export function rescaled(
  deployment: appsV1.Deployment,
  newSet: appsV1.ReplicaSet | undefined,
  oldSets: readonly appsV1.ReplicaSet[],
): Resize[] {
  const wanted = wantedReplicas(deployment);
  const all = [...oldSets, ...(newSet ? [newSet] : [])];
  const active = all.filter((set) => replicasOf(set) > 0);
  const only =
    active.length === 1 ? active[0] : active.length === 0 ? (newSet ?? oldSets.toSorted(byAge).at(-1)) : undefined;
  if (only) return replicasOf(only) === wanted ? [] : [[only, wanted]];
  if (newSet && isSaturated(newSet, wanted)) return active.filter((set) => set !== newSet).map((set) => [set, 0]);
  return isRolling(deployment) ? shares(deployment, active) : [];
}

function isSaturated(set: appsV1.ReplicaSet, wanted: number): boolean {
  return replicasOf(set) === wanted && numberOf(set, DESIRED_REPLICAS) === wanted && available(set) === wanted;
}

function shares(deployment: appsV1.Deployment, active: readonly appsV1.ReplicaSet[]): Resize[] {
  const wanted = wantedReplicas(deployment);
  const most = wanted === 0 ? 0 : wanted + fenceposts(deployment).surge;
  const change = most - total(active);
  const direction = change > 0 ? -1 : 1; // growing favours the newer of two equal sets, shrinking takes from the older
  const inOrder = active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || direction * byAge(a, b));
  let left = change;
  const sizes = inOrder.map((set) => {
    const share = shareOf(deployment, set, most);
    const part = change > 0 ? Math.min(share, left) : change < 0 ? Math.max(share, left) : 0;
    left -= part;
    return replicasOf(set) + part;
  });
  if (sizes.length > 0) sizes[0] = Math.max(0, (sizes[0] ?? 0) + left);
  return inOrder.map((set, index) => [set, sizes[index] ?? 0]);
}

function shareOf(deployment: appsV1.Deployment, set: appsV1.ReplicaSet, most: number): number {
  const size = replicasOf(set);
  if (wantedReplicas(deployment) === 0) return -size;
  const before = numberOf(set, MAX_REPLICAS) || (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((size * most) / before) - size;
}
