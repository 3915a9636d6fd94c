/**
 * The filter InterPodAffinity: near some pods and far from others. Who is where is counted once, before the nodes are
 * looked at; whoever tries what would be if a pod came or went counts on.
 */

import { type Labels, labelOf } from "../../placement/selectors.ts";
import {
  type AffinityTerm,
  type LabelledPod,
  matchesAllTerms,
  matchesTerm,
  type Namespaces,
  withNamespaces,
} from "../affinity-terms.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { type Rejection, resolvable, unresolvable } from "../rejection.ts";

const NOT_NEAR = unresolvable("InterPodAffinity", "node(s) didn't match pod affinity rules");
const TOO_NEAR = resolvable("InterPodAffinity", "node(s) didn't match pod anti-affinity rules");
const UNWANTED = resolvable("InterPodAffinity", "node(s) didn't satisfy existing pods anti-affinity rules");

/** How many terms match, by the topology's key and value. */
type Counts = Map<string, Map<string, number>>;

/** What else the filter has to know of the cluster. */
export interface AffinitySurroundings {
  readonly nodes: readonly NodeInfo[];
  readonly withAntiAffinity: Iterable<NodeInfo>;
  readonly namespaces: Namespaces;
  namespaceLabels(name: string): Labels | undefined;
}

export class InterPodAffinity {
  readonly #pod: PodInfo;
  readonly #namespaceLabels: Labels | undefined;
  readonly #affinity: readonly AffinityTerm[];
  readonly #antiAffinity: readonly AffinityTerm[];
  /** Pods whose own anti-affinity is against this one; pods that it wants near; pods that it does not. */
  readonly #against: Counts;
  readonly #near: Counts;
  readonly #apart: Counts;

  private constructor(
    pod: PodInfo,
    namespaceLabels: Labels | undefined,
    terms: { affinity: readonly AffinityTerm[]; antiAffinity: readonly AffinityTerm[] },
    counts: { against: Counts; near: Counts; apart: Counts },
  ) {
    this.#pod = pod;
    this.#namespaceLabels = namespaceLabels;
    this.#affinity = terms.affinity;
    this.#antiAffinity = terms.antiAffinity;
    this.#against = counts.against;
    this.#near = counts.near;
    this.#apart = counts.apart;
  }

  /** `undefined` if nobody minds. A rejection if the pod's terms cannot be read. */
  static of(pod: PodInfo, around: AffinitySurroundings): InterPodAffinity | Rejection | undefined {
    if (pod.terms.problem !== undefined) return unresolvable("InterPodAffinity", `parsing pod: ${pod.terms.problem}`);
    const affinity = withNamespaces(pod.terms.affinity, around.namespaces);
    const antiAffinity = withNamespaces(pod.terms.antiAffinity, around.namespaces);
    const counts = { against: new Map(), near: new Map(), apart: new Map() };
    const labels = around.namespaceLabels(pod.namespace);
    const filter = new InterPodAffinity(pod, labels, { affinity, antiAffinity }, counts);
    for (const node of around.withAntiAffinity) {
      if (node.node) for (const other of node.podsWithAntiAffinity) filter.#countAgainst(other, node, 1);
    }
    if (affinity.length === 0 && antiAffinity.length === 0) return counts.against.size > 0 ? filter : undefined;
    for (const node of around.nodes) for (const other of node.pods) filter.#countOwn(other, node, 1);
    return filter;
  }

  filter(node: NodeInfo): Rejection | undefined {
    if (!this.#isNear(node)) return NOT_NEAR;
    if (this.#isTooNear(node)) return TOO_NEAR;
    return this.#isUnwanted(node) ? UNWANTED : undefined;
  }

  /** What if a pod were on a node as well? */
  addPod(other: PodInfo, node: NodeInfo): void {
    this.#countAgainst(other, node, 1);
    this.#countOwn(other, node, 1);
  }

  /** What if it were not? */
  removePod(other: PodInfo, node: NodeInfo): void {
    this.#countAgainst(other, node, -1);
    this.#countOwn(other, node, -1);
  }

  copy(): InterPodAffinity {
    const terms = { affinity: this.#affinity, antiAffinity: this.#antiAffinity };
    const counts = { against: copyOf(this.#against), near: copyOf(this.#near), apart: copyOf(this.#apart) };
    return new InterPodAffinity(this.#pod, this.#namespaceLabels, terms, counts);
  }

  #countAgainst(other: PodInfo, node: NodeInfo, by: number): void {
    for (const term of other.terms.antiAffinity) {
      if (matchesTerm(term, this.#pod, this.#namespaceLabels)) count(this.#against, node, term.topologyKey, by);
    }
  }

  #countOwn(other: LabelledPod, node: NodeInfo, by: number): void {
    if (matchesAllTerms(this.#affinity, other))
      for (const { topologyKey } of this.#affinity) count(this.#near, node, topologyKey, by);
    for (const term of this.#antiAffinity)
      if (matchesTerm(term, other, undefined)) count(this.#apart, node, term.topologyKey, by);
  }

  #isNear(node: NodeInfo): boolean {
    let found = true;
    for (const { topologyKey } of this.#affinity) {
      const value = labelOf(node.labels, topologyKey);
      if (value === undefined) return false;
      if ((this.#near.get(topologyKey)?.get(value) ?? 0) <= 0) found = false;
    }
    // The first of a group that wants to be near itself may go anywhere.
    return found || (this.#near.size === 0 && matchesAllTerms(this.#affinity, this.#pod));
  }

  #isTooNear(node: NodeInfo): boolean {
    if (this.#apart.size === 0) return false;
    return this.#antiAffinity.some(({ topologyKey }) => isCounted(this.#apart, node, topologyKey));
  }

  #isUnwanted(node: NodeInfo): boolean {
    for (const key of this.#against.keys()) if (isCounted(this.#against, node, key)) return true;
    return false;
  }
}

function count(counts: Counts, { labels }: NodeInfo, key: string, by: number): void {
  const value = labelOf(labels, key);
  if (value === undefined) return;
  const values = counts.get(key) ?? new Map<string, number>();
  const sum = (values.get(value) ?? 0) + by;
  if (sum === 0) values.delete(value);
  else values.set(value, sum);
  if (values.size === 0) counts.delete(key);
  else counts.set(key, values);
}

function isCounted(counts: Counts, { labels }: NodeInfo, key: string): boolean {
  const value = labelOf(labels, key);
  return value !== undefined && (counts.get(key)?.get(value) ?? 0) > 0;
}

function copyOf(counts: Counts): Counts {
  return new Map(Array.from(counts, ([key, values]) => [key, new Map(values)]));
}
