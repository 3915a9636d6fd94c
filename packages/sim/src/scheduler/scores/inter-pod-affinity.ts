/** The score InterPodAffinity: rather near whom the pod likes and who likes it, rather not near the others. */

import { type Labels, labelOf } from "../../placement/selectors.ts";
import { type AffinityTerm, type LabelledPod, matchesTerm, withNamespaces } from "../affinity-terms.ts";
import type { AffinitySurroundings } from "../filters/inter-pod-affinity.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { stretch } from "./normalize.ts";

export interface AffinityScoring extends AffinitySurroundings {
  readonly withTerms: Iterable<NodeInfo>;
  readonly hardPodAffinityWeight: number;
  readonly ignoresPreferencesOfOthers: boolean;
}

/** `undefined` if nobody has a wish. */
export function interPodAffinityScores(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  around: AffinityScoring,
): number[] | undefined {
  const preferred = withNamespaces(pod.terms.preferred, around.namespaces);
  const preferredNot = withNamespaces(pod.terms.preferredNot, around.namespaces);
  const choosy = preferred.length > 0 || preferredNot.length > 0;
  if (!choosy && around.ignoresPreferencesOfOthers) return undefined;
  const points = new Points();
  const labels = around.namespaceLabels(pod.namespace);
  for (const node of choosy ? around.nodes : around.withTerms) {
    if (!node.node) continue;
    for (const other of choosy ? node.pods : node.podsWithTerms) {
      points.add(preferred, other, undefined, node, 1);
      points.add(preferredNot, other, undefined, node, -1);
      if (around.hardPodAffinityWeight > 0)
        points.add(other.terms.affinity, pod, labels, node, 1, around.hardPodAffinityWeight);
      points.add(other.terms.preferred, pod, labels, node, 1);
      points.add(other.terms.preferredNot, pod, labels, node, -1);
    }
  }
  if (points.isEmpty) return undefined;
  const scores = nodes.map((node) => points.of(node));
  stretch(scores);
  return scores;
}

/** By the topology's key and value. */
class Points {
  readonly #points = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#points.size === 0;
  }

  add(
    terms: readonly AffinityTerm[],
    pod: LabelledPod,
    namespaceLabels: Labels | undefined,
    { labels }: NodeInfo,
    sign: 1 | -1,
    weight?: number,
  ): void {
    for (const term of terms) {
      if (!matchesTerm(term, pod, namespaceLabels)) continue;
      const value = labelOf(labels, term.topologyKey);
      if (value === undefined) continue;
      const values = this.#points.get(term.topologyKey) ?? new Map<string, number>();
      values.set(value, (values.get(value) ?? 0) + sign * (weight ?? term.weight));
      this.#points.set(term.topologyKey, values);
    }
  }

  of({ labels }: NodeInfo): number {
    let sum = 0;
    for (const [key, values] of this.#points) {
      const value = labelOf(labels, key);
      if (value !== undefined) sum += values.get(value) ?? 0;
    }
    return sum;
  }
}
