/** Which taints a pod puts up with. Pure. */
import type { coreV1 } from "@berth/kube";

type Taint = coreV1.Taint;
type Toleration = coreV1.Toleration;

export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (!operator || operator === "Equal") return (value ?? "") === (taint.value ?? "");
  return operator === "Exists";
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}

/** Whether there is a taint among these that keeps the pod away. */
export function anyUntolerated(taints: readonly Taint[], tolerations: readonly Toleration[] | undefined): boolean {
  for (const taint of taints) if (!isTolerated(taint, tolerations)) return true;
  return false;
}

/** What a node that takes no new pods amounts to. */
const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

export function toleratesUnschedulable(tolerations: readonly Toleration[] | undefined): boolean {
  return isTolerated(UNSCHEDULABLE, tolerations);
}
