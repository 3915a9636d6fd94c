/** What the scheduler notes on a pod's status. Pure. */
import { type coreV1, kubernetesTime } from "@berth/kube";
import type { Pod } from "./pod-info.ts";

type PodCondition = coreV1.PodCondition;

/** The pod's status with one condition updated and, if one is given, the node that it waits for; `undefined` if nothing changes. */
export function changedStatus(
  pod: Pod,
  finding: Pick<PodCondition, "type" | "status" | "reason" | "message"> | undefined,
  nominated: string | undefined,
  now: number,
): coreV1.PodStatus | undefined {
  const status: coreV1.PodStatus = { ...pod.status };
  let changed = false;
  if (finding) {
    const conditions = status.conditions ?? [];
    const present = conditions.find(({ type }) => type === finding.type);
    const { status: is, reason, message } = finding;
    if (present?.status !== is || present.reason !== reason || present.message !== message) {
      const lastTransitionTime =
        present?.status === is && present.lastTransitionTime ? present.lastTransitionTime : kubernetesTime(now);
      const { generation } = pod.metadata;
      const next: PodCondition = {
        ...finding,
        lastTransitionTime,
        ...(generation !== undefined && { observedGeneration: generation }),
      };
      status.conditions = present
        ? conditions.map((condition) => (condition === present ? next : condition))
        : [...conditions, next];
      changed = true;
    }
  }
  if (nominated !== undefined && nominated !== (status.nominatedNodeName ?? "")) {
    if (nominated) status.nominatedNodeName = nominated;
    else delete status.nominatedNodeName;
    changed = true;
  }
  return changed ? status : undefined;
}
