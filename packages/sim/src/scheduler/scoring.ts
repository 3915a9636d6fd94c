/** Which of the nodes that will do is best: the sum of all scores, each by its weight. */

import type { NodeMatcher } from "../placement/selectors.ts";
import type { Surrounded } from "./checks.ts";
import type { ClusterCache } from "./cluster-cache.ts";
import type { Profile } from "./configuration.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import { balanceScorer, hasBalance } from "./scores/balanced-allocation.ts";
import { interPodAffinityScores } from "./scores/inter-pod-affinity.ts";
import { nodeAffinityScores } from "./scores/node-affinity.ts";
import { spreadScores } from "./scores/pod-topology-spread.ts";
import { resourceScorer } from "./scores/resource-strategy.ts";
import { taintScores } from "./scores/taint-toleration.ts";
import { spreadConstraints } from "./spread-constraints.ts";

/** For each node its points. */
export function scoresOf(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  required: NodeMatcher | undefined,
  profile: Profile,
  cache: ClusterCache,
  around: Surrounded,
): number[] {
  const { scores: weights, strategy, balanced } = profile;
  const total = new Array<number>(nodes.length).fill(0);
  const add = (weight: number, scores: readonly number[] | undefined) => {
    if (scores)
      for (let index = 0; index < total.length; index++)
        total[index] = (total[index] ?? 0) + weight * (scores[index] ?? 0);
  };
  const resources = weights.get("NodeResourcesFit") ?? 0;
  const balance = hasBalance(pod, balanced) ? (weights.get("NodeResourcesBalancedAllocation") ?? 0) : 0;
  const [fit, even] = [resourceScorer(strategy, pod), balanceScorer(pod, balanced)];
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index] as NodeInfo;
    let points = 0;
    if (resources > 0) points += resources * fit(node);
    if (balance > 0) points += balance * even(node);
    total[index] = points;
  }
  const taints = weights.get("TaintToleration");
  // Without such a taint anywhere it is the same for all.
  if (taints !== undefined && nodes.some(({ softTaints }) => softTaints.length > 0))
    add(taints, taintScores(pod, nodes));
  const preferred = weights.get("NodeAffinity");
  if (preferred !== undefined) add(preferred, nodeAffinityScores(pod, nodes, profile.addedPreferences));
  const spread = weights.get("PodTopologySpread");
  if (spread !== undefined) {
    const constraints = spreadConstraints(pod.pod, "ScheduleAnyway", profile.spreadDefaults, around.kindSelector);
    const own = (pod.pod.spec?.topologySpreadConstraints?.length ?? 0) > 0;
    const requiresAll = own || !profile.spreadDefaults.system;
    add(spread, spreadScores(pod, nodes, cache.nodes, constraints, required, requiresAll));
  }
  const affinity = weights.get("InterPodAffinity");
  if (affinity !== undefined && (pod.hasTerms || cache.withTerms.size > 0)) {
    const { nodes: all, withTerms, withAntiAffinity } = cache;
    const { namespaces, namespaceLabels } = around;
    const { hardPodAffinityWeight, ignoresPreferencesOfOthers } = profile;
    add(
      affinity,
      interPodAffinityScores(pod, nodes, {
        nodes: all,
        withTerms,
        withAntiAffinity,
        namespaces,
        namespaceLabels,
        hardPodAffinityWeight,
        ignoresPreferencesOfOthers,
      }),
    );
  }
  return total;
}
