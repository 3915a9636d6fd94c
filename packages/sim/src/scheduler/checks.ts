/** All filters for one pod, ready to be asked about node after node, in the order in which kube-scheduler asks them. */

import { requiredNodes } from "../placement/required-nodes.ts";
import type { Labels, NodeMatcher, Selector } from "../placement/selectors.ts";
import type { Namespaces } from "./affinity-terms.ts";
import type { ClusterCache } from "./cluster-cache.ts";
import type { Profile } from "./configuration.ts";
import { InterPodAffinity } from "./filters/inter-pod-affinity.ts";
import { CONFLICT, nodeAffinity, pinnedNodes } from "./filters/node-affinity.ts";
import { nodeName } from "./filters/node-name.ts";
import { nodePorts } from "./filters/node-ports.ts";
import { nodeResourcesFit } from "./filters/node-resources-fit.ts";
import { nodeUnschedulable } from "./filters/node-unschedulable.ts";
import { PodTopologySpread } from "./filters/pod-topology-spread.ts";
import { taintToleration } from "./filters/taint-toleration.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Nominator } from "./nominator.ts";
import type { Pod, PodInfo } from "./pod-info.ts";
import { type Rejection, unresolvable } from "./rejection.ts";
import { spreadConstraints } from "./spread-constraints.ts";

/** What the filters and scores have to know besides nodes and pods. */
export interface Surrounded {
  readonly namespaces: Namespaces;
  namespaceLabels(name: string): Labels | undefined;
  /** What else is of a pod's kind. */
  kindSelector(pod: Pod): Selector;
}

/** What can be said before any node is looked at. */
export interface Preparation {
  readonly checks: Checks;
  /** The only nodes that come into question, if there are such. */
  readonly pinned: ReadonlySet<string> | undefined;
}

/** A rejection of all nodes, if no node needs to be looked at. */
export function prepare(
  pod: PodInfo,
  profile: Profile,
  cache: ClusterCache,
  around: Surrounded,
): Preparation | Rejection {
  const { filters, spreadDefaults } = profile;
  let pinned: ReadonlySet<string> | undefined;
  let required: NodeMatcher | undefined;
  if (filters.has("NodeAffinity")) {
    const names = pinnedNodes(pod.pod);
    if (names && "reasons" in names) return CONFLICT;
    pinned = names;
  }
  required = requiredNodes(pod.pod);
  let spread: PodTopologySpread | undefined;
  if (filters.has("PodTopologySpread")) {
    try {
      const constraints = spreadConstraints(pod.pod, "DoNotSchedule", spreadDefaults, around.kindSelector);
      spread = PodTopologySpread.of(pod, constraints, required, cache.nodes);
    } catch (error) {
      return unresolvable("PodTopologySpread", error instanceof Error ? error.message : String(error));
    }
  }
  let affinity: InterPodAffinity | undefined;
  if (filters.has("InterPodAffinity")) {
    // Most pods have no wishes, in clusters where no pod has any.
    const anybody = pod.hasTerms || cache.withAntiAffinity.size > 0;
    const result = anybody
      ? InterPodAffinity.of(pod, {
          nodes: cache.nodes,
          withAntiAffinity: cache.withAntiAffinity,
          namespaces: around.namespaces,
          namespaceLabels: around.namespaceLabels,
        })
      : undefined;
    if (result && !(result instanceof InterPodAffinity)) return result;
    affinity = result;
  }
  return { pinned, checks: new Checks(pod, profile, required, spread, affinity) };
}

export class Checks {
  readonly pod: PodInfo;
  readonly required: NodeMatcher | undefined;
  readonly #profile: Profile;
  readonly #spread: PodTopologySpread | undefined;
  readonly #affinity: InterPodAffinity | undefined;
  readonly #on: Readonly<Record<"unschedulable" | "name" | "taints" | "nodes" | "ports" | "fit", boolean>>;

  constructor(
    pod: PodInfo,
    profile: Profile,
    required: NodeMatcher | undefined,
    spread: PodTopologySpread | undefined,
    affinity: InterPodAffinity | undefined,
  ) {
    const { filters } = profile;
    this.pod = pod;
    this.required = required;
    this.#profile = profile;
    this.#spread = spread;
    this.#affinity = affinity;
    this.#on = {
      unschedulable: filters.has("NodeUnschedulable"),
      name: filters.has("NodeName") && Boolean(pod.pod.spec?.nodeName),
      taints: filters.has("TaintToleration"),
      nodes: filters.has("NodeAffinity") && (required !== undefined || profile.addedNodes !== undefined),
      ports: filters.has("NodePorts") && pod.ports.length > 0,
      fit: filters.has("NodeResourcesFit"),
    };
  }

  /** `undefined` if the node will do. */
  check(node: NodeInfo): Rejection | undefined {
    const { pod } = this;
    const on = this.#on;
    let found: Rejection | undefined;
    if (on.unschedulable && node.unschedulable) found = nodeUnschedulable(pod, node);
    if (!found && on.name) found = nodeName(pod, node);
    if (!found && on.taints && node.hardTaints.length > 0) found = taintToleration(pod, node);
    if (!found && on.nodes) found = nodeAffinity(this.required, this.#profile.addedNodes, node);
    if (!found && on.ports) found = nodePorts(pod, node);
    if (!found && on.fit) found = nodeResourcesFit(pod, node, this.#profile.ignoredResources);
    return found ?? this.#spread?.filter(node) ?? this.#affinity?.filter(node);
  }

  /** What if a pod were on a node as well? The node must have it already. */
  addPod(other: PodInfo, node: NodeInfo): void {
    this.#spread?.addPod(other, node);
    this.#affinity?.addPod(other, node);
  }

  removePod(other: PodInfo, node: NodeInfo): void {
    this.#spread?.removePod(other, node);
    this.#affinity?.removePod(other, node);
  }

  /** One to try things with. */
  copy(): Checks {
    if (!this.#spread && !this.#affinity) return this; // nothing to change
    return new Checks(this.pod, this.#profile, this.required, this.#spread?.copy(), this.#affinity?.copy());
  }
}

/**
 * Whether a node does for a pod both with and without those who wait there for place and are no less important: some of
 * them may never come, and some rules are only kept if they do.
 */
export function checkWithNominated(checks: Checks, node: NodeInfo, nominator: Nominator): Rejection | undefined {
  if (nominator.size > 0) {
    const { pod } = checks;
    const waiting = [...nominator.on(node.name)].filter(
      (other) => other.priority >= pod.priority && other.uid !== pod.uid,
    );
    if (waiting.length > 0) {
      const [tried, copy] = [checks.copy(), node.copy()];
      for (const other of waiting) {
        copy.addPod(other);
        tried.addPod(other, copy);
      }
      const rejection = tried.check(copy);
      if (rejection) return rejection;
    }
  }
  return checks.check(node);
}
