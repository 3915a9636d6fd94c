/** How a pod wants its kind spread over zones, nodes and the like: its own constraints, or the scheduler's. */
import { appsV1, controllerOf, coreV1 } from "@berth/kube";
import type { LocalApi } from "../api/local-api.ts";
import {
  both,
  EVERYTHING,
  type Labels,
  labelOf,
  type NodeMatcher,
  type Selector,
  selectorOf,
  selectorOfLabels,
} from "../placement/selectors.ts";
import { anyUntolerated } from "../placement/tolerations.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Pod, PodInfo } from "./pod-info.ts";

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly selector: Selector;
  readonly minDomains: number;
  /** Whether nodes that the pod cannot have count. */
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

export type Action = "DoNotSchedule" | "ScheduleAnyway";

/** What the scheduler's configuration says of pods that say nothing. */
export interface SpreadDefaults {
  readonly constraints: readonly coreV1.TopologySpreadConstraint[];
  /** Kubernetes' own: then nodes without a zone are not left out. */
  readonly system: boolean;
}

export const SYSTEM_DEFAULTS: SpreadDefaults = {
  system: true,
  constraints: [
    { topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 3 },
    { topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 5 },
  ],
};

export const HOSTNAME = "kubernetes.io/hostname";

/** The constraints of a pod, those that must be kept or those that should. Throws if they cannot be read. */
export function spreadConstraints(
  pod: Pod,
  action: Action,
  defaults: SpreadDefaults,
  kindOf: (pod: Pod) => Selector,
): readonly SpreadConstraint[] {
  const own = pod.spec?.topologySpreadConstraints ?? [];
  if (own.length > 0) return own.filter((each) => each.whenUnsatisfiable === action).map((each) => read(each, pod));
  const wanted = defaults.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);
  if (wanted.length === 0) return [];
  const selector = kindOf(pod);
  return selector.isEmpty ? [] : wanted.map((each) => ({ ...read(each, pod), selector }));
}

function read(constraint: coreV1.TopologySpreadConstraint, { metadata }: Pod): SpreadConstraint {
  const { maxSkew, topologyKey, labelSelector, matchLabelKeys = [], minDomains = 1 } = constraint;
  const { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" } = constraint;
  const matched: Record<string, string> = {};
  for (const key of matchLabelKeys) {
    const value = labelOf(metadata.labels, key);
    if (value !== undefined) matched[key] = value;
  }
  return {
    maxSkew,
    topologyKey,
    selector: both(selectorOf(labelSelector), selectorOfLabels(matched)),
    minDomains,
    honorsAffinity: nodeAffinityPolicy === "Honor",
    honorsTaints: nodeTaintsPolicy === "Honor",
  };
}

/** Whether a node has a place in all of these topologies. */
export function hasAllKeys(labels: Labels | undefined, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => labelOf(labels, topologyKey) !== undefined);
}

/** Whether a node counts for a constraint. */
export function counts(
  constraint: SpreadConstraint,
  { pod }: PodInfo,
  node: NodeInfo,
  required: NodeMatcher | undefined,
): boolean {
  if (constraint.honorsAffinity && required && !required(node)) return false;
  return !constraint.honorsTaints || !anyUntolerated(node.hardTaints, pod.spec?.tolerations);
}

/** How many pods of a kind a node has; those that are about to go do not count any more. */
export function countMatching({ pods }: NodeInfo, selector: Selector, namespace: string): number {
  if (selector.isEmpty) return 0;
  let matching = 0;
  for (const { pod, namespace: other, labels } of pods)
    if (other === namespace && pod.metadata.deletionTimestamp === undefined && selector.matches(labels)) matching++;
  return matching;
}

/** What a pod's kind is, if it does not say: what the services and the controller that it belongs to select. */
export function kindSelector(api: LocalApi): (pod: Pod) => Selector {
  return (pod) => {
    const { namespace = "", labels } = pod.metadata;
    let selector: Selector = EVERYTHING;
    for (const { spec } of api.list(coreV1.Service, namespace)) {
      if (!spec?.selector) continue;
      const selected = selectorOfLabels(spec.selector);
      if (selected.matches(labels)) selector = both(selector, selected);
    }
    const owner = controllerOf(pod);
    if (!owner) return selector;
    const key = { namespace, name: owner.name };
    if (owner.apiVersion === "v1" && owner.kind === "ReplicationController")
      return both(selector, selectorOfLabels(api.get(coreV1.ReplicationController, key)?.spec?.selector ?? {}));
    if (owner.apiVersion !== "apps/v1") return selector;
    const kind =
      owner.kind === "ReplicaSet" ? appsV1.ReplicaSet : owner.kind === "StatefulSet" ? appsV1.StatefulSet : undefined;
    const spec = kind && api.get<appsV1.ReplicaSet | appsV1.StatefulSet>(kind, key)?.spec;
    return spec ? both(selector, selectorOf(spec.selector)) : selector;
  };
}
