/** The score NodeAffinity: rather the nodes that the pod prefers. Pure. */
import type { coreV1 } from "@berth/kube";
import { termMatcher } from "../../placement/selectors.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { normalize } from "./normalize.ts";

/** `undefined` if there is nothing to prefer. @param added - What the scheduler's configuration prefers. */
export function nodeAffinityScores(
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
  added: readonly coreV1.PreferredSchedulingTerm[],
): number[] | undefined {
  const own = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (!own && added.length === 0) return undefined;
  const terms = [...added, ...(own ?? [])].map(({ preference, weight }) => ({
    weight,
    matches: termMatcher(preference),
  }));
  const scores = nodes.map((node) => {
    let sum = 0;
    for (const { weight, matches } of terms) if (matches(node)) sum += weight;
    return sum;
  });
  normalize(scores, false);
  return scores;
}
