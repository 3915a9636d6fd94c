/** The node with the most points, and who wins among equals. */
import { integer, type Random } from "@berth/kube";
import type { NodeInfo } from "./node-info.ts";

/**
 * kube-scheduler puts the nodes into a heap and takes the first. Among equals that is the one that comes first when the
 * heap is walked through from its root, the left before the right: as a rule, the node that was looked at first. In
 * kube-scheduler several look at once, so that now and then another node comes first; nobody can rely on either.
 */
export function bestNode(nodes: readonly NodeInfo[], scores: readonly number[]): NodeInfo {
  const winners = new Int32Array(nodes.length);
  const score = (index: number) => scores[index] ?? 0;
  for (let index = nodes.length - 1; index >= 0; index--) {
    let winner = index;
    const [left, right] = [2 * index + 1, 2 * index + 2];
    if (left < nodes.length && score(winners[left] ?? 0) > score(winner)) winner = winners[left] ?? 0;
    if (right < nodes.length && score(winners[right] ?? 0) > score(winner)) winner = winners[right] ?? 0;
    winners[index] = winner;
  }
  return nodes[winners[0] ?? 0] as NodeInfo;
}

/** The same where extenders have their say: then chance decides among equals. */
export function bestNodeByChance(nodes: readonly NodeInfo[], scores: readonly number[], random: Random): NodeInfo {
  const highest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const best = nodes.filter((_, index) => scores[index] === highest);
  return best[best.length === 1 ? 0 : integer(random, 0, best.length)] as NodeInfo;
}
