/** Pods and nodes for tests of rules: no more than what a rule looks at. */
import type { coreV1 } from "@berth/kube";
import { ClusterCache } from "../cluster-cache.ts";
import { type Profile, type ProfileConfiguration, profilesOf } from "../configuration.ts";
import { NodeInfo } from "../node-info.ts";
import { PodInfo } from "../pod-info.ts";

type Resources = Readonly<Record<string, string>>;

let uids = 0;

export interface PodSample {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Resources;
  readonly requests?: Resources;
  readonly spec?: Partial<coreV1.PodSpec>;
  readonly status?: coreV1.PodStatus;
  readonly deletionTimestamp?: string;
}

export function podObject(sample: PodSample = {}): coreV1.Pod {
  const { namespace = "default", labels, requests = {}, spec, status, deletionTimestamp } = sample;
  const uid = `uid-${++uids}`;
  return {
    metadata: {
      name: sample.name ?? `pod-${uid}`,
      namespace,
      uid,
      ...(labels && { labels }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: {
      schedulerName: "default-scheduler",
      containers: [{ name: "main", resources: { requests } }],
      ...spec,
    },
    ...(status && { status }),
  };
}

export function podInfo(sample: PodSample = {}): PodInfo {
  return new PodInfo(podObject(sample));
}

export interface NodeSample {
  readonly name?: string;
  readonly labels?: Resources;
  readonly taints?: readonly coreV1.Taint[];
  readonly unschedulable?: boolean;
  /** Over 4 CPUs, 8Gi of memory and 110 pods. */
  readonly allocatable?: Resources;
}

export function nodeObject({
  name = "node",
  labels,
  taints,
  unschedulable,
  allocatable,
}: NodeSample = {}): coreV1.Node {
  return {
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    spec: { ...(taints && { taints: [...taints] }), ...(unschedulable !== undefined && { unschedulable }) },
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110", ...allocatable } },
  };
}

/** A node with pods on it. */
export function nodeInfo(sample: NodeSample = {}, pods: readonly PodInfo[] = []): NodeInfo {
  const node = nodeObject(sample);
  const info = new NodeInfo(node.metadata.name ?? "");
  info.setNode(node);
  for (const pod of pods) info.addPod(pod);
  return info;
}

/** A cluster: nodes, and the pods on them. */
export function clusterOf(nodes: readonly (readonly [NodeSample, ...PodSample[]])[]): ClusterCache {
  const cache = new ClusterCache();
  for (const [node, ...pods] of nodes) {
    cache.setNode(nodeObject(node));
    for (const pod of pods) cache.putPod(podObject({ ...pod, spec: { ...pod.spec, nodeName: node.name ?? "node" } }));
  }
  return cache;
}

export function profile(given: ProfileConfiguration = {}): Profile {
  return profilesOf({ profiles: [given] })[0] as Profile;
}
