/** The score PodTopologySpread: rather where there are few pods of the kind. Pure. */

import { labelOf, type NodeMatcher } from "../../placement/selectors.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { countMatching, counts, HOSTNAME, hasAllKeys, type SpreadConstraint } from "../spread-constraints.ts";

const MOST = 100;
const LEFT_OUT = -1;

/**
 * `undefined` if the pod does not mind.
 *
 * @param all - All nodes, also those that are not scored: their pods count.
 * @param requiresAll - Whether nodes that have no place in one of the topologies are left out.
 */
export function spreadScores(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  all: readonly NodeInfo[],
  constraints: readonly SpreadConstraint[],
  required: NodeMatcher | undefined,
  requiresAll: boolean,
): number[] | undefined {
  if (constraints.length === 0 || all.length === 0) return undefined;
  const isLeftOut = ({ labels }: NodeInfo) => requiresAll && !hasAllKeys(labels, constraints);
  const scored = nodes.filter((node) => !isLeftOut(node));
  const found = constraints.map((constraint) => placesOf(constraint, scored));
  for (const node of all) {
    if (isLeftOut(node)) continue;
    for (const [index, constraint] of constraints.entries()) {
      const places = found[index];
      const place = labelOf(node.labels, constraint.topologyKey) ?? "";
      if (!places?.has(place) || !counts(constraint, pod, node, required)) continue;
      places.set(place, (places.get(place) ?? 0) + countMatching(node, constraint.selector, pod.namespace));
    }
  }
  const weights = constraints.map(({ topologyKey }, index) =>
    Math.log((topologyKey === HOSTNAME ? scored.length : (found[index]?.size ?? 0)) + 2),
  );
  const scores = nodes.map((node) => {
    if (isLeftOut(node)) return LEFT_OUT;
    let sum = 0;
    for (const [index, { topologyKey, selector, maxSkew }] of constraints.entries()) {
      const place = labelOf(node.labels, topologyKey);
      if (place === undefined) continue;
      const matching =
        topologyKey === HOSTNAME ? countMatching(node, selector, pod.namespace) : (found[index]?.get(place) ?? 0);
      sum += matching * (weights[index] as number) + (maxSkew - 1);
    }
    return Math.round(sum);
  });
  return reversed(scores);
}

/** Nodes are counted one by one when they are scored; other places before. */
function placesOf({ topologyKey }: SpreadConstraint, nodes: readonly NodeInfo[]): Map<string, number> {
  if (topologyKey === HOSTNAME) return new Map();
  return new Map(nodes.map(({ labels }) => [labelOf(labels, topologyKey) ?? "", 0]));
}

function reversed(scores: number[]): number[] {
  const counted = scores.filter((score) => score !== LEFT_OUT);
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0];
  for (const score of counted) {
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  return scores.map((score) => {
    if (score === LEFT_OUT) return 0;
    return highest === 0 ? MOST : Math.floor((MOST * (highest + lowest - score)) / highest);
  });
}
