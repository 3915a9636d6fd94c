/** The node with the most points, and who wins among equals. */
import { integer, type Random } from "@berth/kube";
import type { NodeInfo } from "./node-info.ts";

/**
 * kube-scheduler puts the nodes into a heap and takes the first. Among equals that is the one that comes first when the
 * heap is walked through from its root, the left before the right: as a rule, the node that was looked at first. In
 * kube-scheduler several look at once, so that now and then another node comes first; nobody can rely on either.
 */
export function bestNode(nodes: readonly NodeInfo[], scores: readonly number[]): NodeInfo {
  return nodes[firstOfHeap(scores, scores.length)] as NodeInfo;
}

/** The place of the first in a list of so many scores. */
export function firstOfHeap(scores: ArrayLike<number>, length: number): number {
  const winners = new Int32Array(length);
  for (let index = length - 1; index >= 0; index--) {
    let winner = index;
    let score = scores[index] as number;
    const left = 2 * index + 1;
    for (let child = left; child <= left + 1 && child < length; child++) {
      const other = winners[child] as number;
      const points = scores[other] as number;
      if (points > score) [winner, score] = [other, points];
    }
    winners[index] = winner;
  }
  return winners[0] ?? 0;
}

/** The same where extenders have their say: then chance decides among equals. */
export function bestNodeByChance(nodes: readonly NodeInfo[], scores: readonly number[], random: Random): NodeInfo {
  const highest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const best = nodes.filter((_, index) => scores[index] === highest);
  return best[best.length === 1 ? 0 : integer(random, 0, best.length)] as NodeInfo;
}
