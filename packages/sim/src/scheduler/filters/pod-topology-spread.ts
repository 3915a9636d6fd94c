/** The filter PodTopologySpread: no place may have many more pods of a kind than the one that has fewest. */

import { labelOf, type NodeMatcher } from "../../placement/selectors.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { type Rejection, resolvable, unresolvable } from "../rejection.ts";
import { countMatching, counts, hasAllKeys, type SpreadConstraint } from "../spread-constraints.ts";

const UNEVEN = resolvable("PodTopologySpread", "node(s) didn't match pod topology spread constraints");
const NOWHERE = unresolvable(
  "PodTopologySpread",
  "node(s) didn't match pod topology spread constraints (missing required label)",
);

export class PodTopologySpread {
  readonly #pod: PodInfo;
  readonly #constraints: readonly SpreadConstraint[];
  readonly #required: NodeMatcher | undefined;
  /** For each constraint, how many pods match, by the topology's value. */
  readonly #matching: readonly Map<string, number>[];
  /** For each constraint, how many the place with the fewest has, as long as nothing is counted anew. */
  readonly #fewest: (number | undefined)[] = [];

  constructor(
    pod: PodInfo,
    constraints: readonly SpreadConstraint[],
    required: NodeMatcher | undefined,
    matching: readonly Map<string, number>[],
  ) {
    this.#pod = pod;
    this.#constraints = constraints;
    this.#required = required;
    this.#matching = matching;
  }

  /** `undefined` if the pod does not mind. */
  static of(
    pod: PodInfo,
    constraints: readonly SpreadConstraint[],
    required: NodeMatcher | undefined,
    nodes: readonly NodeInfo[],
  ): PodTopologySpread | undefined {
    if (constraints.length === 0) return undefined;
    const matching = constraints.map(() => new Map<string, number>());
    for (const node of nodes) {
      if (!hasAllKeys(node.labels, constraints)) continue;
      for (const [index, constraint] of constraints.entries()) {
        if (!counts(constraint, pod, node, required)) continue;
        const found = countMatching(node, constraint.selector, pod.namespace);
        add(matching[index], labelOf(node.labels, constraint.topologyKey), found);
      }
    }
    return new PodTopologySpread(pod, constraints, required, matching);
  }

  filter({ labels }: NodeInfo): Rejection | undefined {
    for (const [index, { topologyKey, selector, maxSkew, minDomains }] of this.#constraints.entries()) {
      const value = labelOf(labels, topologyKey);
      if (value === undefined) return NOWHERE;
      const matching = this.#matching[index] as Map<string, number>;
      this.#fewest[index] ??= lowest(matching);
      const fewest = matching.size < minDomains ? 0 : this.#fewest[index];
      const self = selector.matches(this.#pod.labels) ? 1 : 0;
      if ((matching.get(value) ?? 0) + self - fewest > maxSkew) return UNEVEN;
    }
    return undefined;
  }

  /** What if a pod were on a node as well? */
  addPod(other: PodInfo, node: NodeInfo): void {
    this.#count(other, node, 1);
  }

  /** What if it were not? */
  removePod(other: PodInfo, node: NodeInfo): void {
    this.#count(other, node, -1);
  }

  copy(): PodTopologySpread {
    const matching = this.#matching.map((values) => new Map(values));
    return new PodTopologySpread(this.#pod, this.#constraints, this.#required, matching);
  }

  #count(other: PodInfo, node: NodeInfo, by: number): void {
    if (other.namespace !== this.#pod.namespace || !hasAllKeys(node.labels, this.#constraints)) return;
    for (const [index, constraint] of this.#constraints.entries()) {
      if (!constraint.selector.matches(other.labels)) continue;
      if (!counts(constraint, this.#pod, node, this.#required)) continue;
      add(this.#matching[index], labelOf(node.labels, constraint.topologyKey), by);
      this.#fewest[index] = undefined;
    }
  }
}

function lowest(values: ReadonlyMap<string, number>): number {
  let fewest = 2 ** 31 - 1;
  for (const value of values.values()) if (value < fewest) fewest = value;
  return fewest;
}

function add(values: Map<string, number> | undefined, value: string | undefined, by: number): void {
  if (values && value !== undefined) values.set(value, (values.get(value) ?? 0) + by);
}
