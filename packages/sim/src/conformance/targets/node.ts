/** A node as a target makes it: the same object for both, which whoever plays its kubelet completes. Pure. */
import type { coreV1 } from "@berth/kube";
import type { NodeShape } from "../target.ts";

const RESOURCES = { cpu: "8", memory: "32Gi", pods: "110" };

export function nodeObject({ name, labels, taints, allocatable }: NodeShape): coreV1.Node {
  const resources = { ...RESOURCES, ...allocatable };
  return {
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        ...labels,
      },
      annotations: { "kwok.x-k8s.io/node": "fake" },
    },
    ...(taints && { spec: { taints: taints.map((taint) => ({ ...taint })) } }),
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
      ],
      nodeInfo: {
        architecture: "amd64",
        bootID: "",
        containerRuntimeVersion: "kwok",
        kernelVersion: "kwok",
        kubeProxyVersion: "",
        kubeletVersion: "kwok",
        machineID: "",
        operatingSystem: "linux",
        osImage: "kwok",
        systemUUID: "",
      },
    },
  };
}

/** Whether a node takes pods, as far as Kubernetes itself is concerned. */
export function takesPods({ spec, status }: coreV1.Node): boolean {
  return (
    (status?.conditions ?? []).some((condition) => condition.type === "Ready" && condition.status === "True") &&
    !(spec?.taints ?? []).some(({ key }) => key.startsWith("node.kubernetes.io/"))
  );
}
