/** On which nodes a pod may be, by their labels or their names. Pure. */
import type { coreV1 } from "@berth/kube";
import { type NodeMatcher, nodeSelectorMatcher, selectorOfLabels } from "./selectors.ts";

/** What a pod's selector and required affinity amount to; `undefined` if it has neither. */
export function requiredNodes({ spec }: Pick<coreV1.Pod, "spec">): NodeMatcher | undefined {
  const { nodeSelector, affinity } = spec ?? {};
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!nodeSelector && !required) return undefined;
  const labels = selectorOfLabels(nodeSelector ?? {});
  if (!required) return (node) => labels.matches(node.labels);
  const nodes = nodeSelectorMatcher(required);
  return (node) => labels.matches(node.labels) && nodes(node);
}
