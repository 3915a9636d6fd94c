/** A node as its kubelet registers it. Pure. */
import { coreV1, kubernetesTime } from "@berth/kube";
import { nodeAddress, podRange } from "./addresses.ts";

/** What a simulated node is like. */
export interface NodeShape {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly { key: string; value?: string; effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute" }[];
  /** What pods may use, over the default of 8 CPUs, 32Gi of memory and 110 pods. */
  readonly allocatable?: Readonly<Record<string, string>>;
}

export const DEFAULT_RESOURCES: Readonly<Record<string, string>> = { cpu: "8", memory: "32Gi", pods: "110" };

/** The version that simulated kubelets say they are. */
export const KUBELET_VERSION = "v1.36.3";

/**
 * @param index - The node's number, from which its addresses follow.
 * @param now - Milliseconds of the clock.
 */
export function nodeObject(shape: NodeShape, index: number, now: number): coreV1.Node {
  const { name, labels, annotations, taints, allocatable } = shape;
  const resources = { ...DEFAULT_RESOURCES, ...allocatable };
  return {
    ...{ apiVersion: coreV1.Node.apiVersion, kind: coreV1.Node.kind },
    metadata: {
      name,
      labels: { ...nodeLabels(name), ...labels },
      ...(annotations && { annotations: { ...annotations } }),
    },
    spec: {
      podCIDR: podRange(index),
      podCIDRs: [podRange(index)],
      ...(taints && { taints: taints.map((taint) => ({ ...taint })) }),
    },
    status: nodeStatus(name, resources, nodeAddress(index), now),
  };
}

function nodeLabels(name: string): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
  };
}

/** The status of a node that is well. */
export function nodeStatus(
  name: string,
  resources: Readonly<Record<string, string>>,
  address: string,
  now: number,
): coreV1.NodeStatus {
  return {
    capacity: { ...resources },
    allocatable: { ...resources },
    conditions: nodeConditions(kubernetesTime(now)),
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: "",
      systemUUID: "",
      bootID: "",
      kernelVersion: "6.12.0-sim",
      osImage: "Berth simulated Linux",
      containerRuntimeVersion: "sim://1.0.0",
      kubeletVersion: KUBELET_VERSION,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  };
}

/** What a kubelet says of its node while all is well. */
export function nodeConditions(time: string): coreV1.NodeCondition[] {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    ...{ type, status, reason, message },
    ...{ lastHeartbeatTime: time, lastTransitionTime: time },
  });
  return [
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
  ];
}
