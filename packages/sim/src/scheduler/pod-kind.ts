/** What kind of pod it is: pods of the same kind fare alike, as long as nothing else changes. */
import type { ClusterCache } from "./cluster-cache.ts";
import type { PodInfo } from "./pod-info.ts";

/** Everything that the filters look at in a pod; `undefined` if they look at more than what the pod itself says. */
export function kindOf({ pod, hasTerms, ports }: PodInfo, cache: ClusterCache): string | undefined {
  const { spec, status } = pod;
  if (hasTerms || ports.length > 0 || cache.withAntiAffinity.size > 0) return undefined;
  if (spec?.topologySpreadConstraints?.length || status?.nominatedNodeName) return undefined;
  const { schedulerName, priority, preemptionPolicy, nodeName, nodeSelector, affinity, tolerations } = spec ?? {};
  const asked = [spec?.containers, spec?.initContainers].map((containers) =>
    containers?.map(({ resources, restartPolicy }) => [resources?.requests, restartPolicy]),
  );
  return JSON.stringify([
    [schedulerName, priority, preemptionPolicy, nodeName],
    [nodeSelector, affinity?.nodeAffinity, tolerations],
    [asked, spec?.overhead, spec?.resources?.requests],
  ]);
}
