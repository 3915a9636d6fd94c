/** What the operator's webhook does to pods after Spark has made them. Pure. */
import type { coreV1 } from "@berth/kube";
import { listOr } from "../pod-template.ts";
import type { SparkApplication as Application, SparkPodSpec } from "./application.ts";

/** It sees every pod that the operator launched, also those with a template, and its word counts more than that. */
export function afterWebhook(
  pod: coreV1.Pod,
  { spec: { batchScheduler, volumes } }: Application,
  from: SparkPodSpec,
): coreV1.Pod {
  const { spec } = pod;
  if (!spec) return pod;
  const main = spec.containers.length - 1;
  const mounts = listOr(from.volumeMounts).filter(({ name }) => !name?.startsWith("spark-local-dir-"));
  const mounted = listOr(volumes).filter(({ name }) => mounts.some((mount) => mount.name === name));
  const containers = spec.containers.map((container, index) => {
    if (index !== main) return container;
    const { limits } = container.resources ?? {};
    const memory = from.memoryLimit === undefined ? undefined : binary(from.memoryLimit);
    return {
      ...container,
      env: [...listOr(container.env), ...listOr(from.env)],
      volumeMounts: [...listOr(container.volumeMounts), ...mounts],
      ...(memory !== undefined && { resources: { ...container.resources, limits: { ...limits, memory } } }),
    };
  });
  const scheduler = batchScheduler || from.schedulerName;
  const { priority: _, preemptionPolicy: __, ...withoutPriority } = spec;
  return {
    ...pod,
    spec: {
      ...(from.priorityClassName ? { ...withoutPriority, priorityClassName: from.priorityClassName } : spec),
      containers: [...containers, ...listOr(from.sidecars)],
      ...(from.initContainers && { initContainers: [...listOr(spec.initContainers), ...listOr(from.initContainers)] }),
      ...(mounted.length > 0 && { volumes: [...listOr(spec.volumes), ...mounted] }),
      ...(scheduler && { schedulerName: scheduler }),
      ...(from.nodeSelector && { nodeSelector: { ...spec.nodeSelector, ...from.nodeSelector } }),
      ...(from.affinity && { affinity: from.affinity }),
      ...(from.tolerations && { tolerations: [...listOr(spec.tolerations), ...listOr(from.tolerations)] }),
      ...(from.hostNetwork && { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" }),
      ...(from.terminationGracePeriodSeconds !== undefined && {
        terminationGracePeriodSeconds: from.terminationGracePeriodSeconds,
      }),
    },
  };
}

/** "4g" is 4Gi to Kubernetes. */
function binary(amount: string): string {
  return amount.replace(/^(\d+)([kmgtp])b?$/i, (_, digits, unit) => `${digits}${unit.toUpperCase()}i`);
}
