/** KWOK's nodes: objects without a machine behind them, kept alive by the kwok process. */
import { type Api, inParallel, type KubeObject } from "../api.ts";
import { poll } from "../clock.ts";
import { ClusterError } from "../errors.ts";

/** A group of equal nodes. */
export interface NodeShape {
  /** How many. Default: 1. */
  readonly count?: number;
  /** Nodes are called `<name>-0`, `<name>-1` …, going on after those that exist. Default: "node". */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly { key: string; value?: string; effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute" }[];
  /** What pods may use, over the default of 8 CPUs, 32Gi of memory and 110 pods. */
  readonly allocatable?: Readonly<Record<string, string>>;
}

/** On every node that a cluster of ours has: what kind it is, `kwok` or `real`. */
export const NODE_KIND_LABEL = "berth.dev/node-kind";

/** Real nodes are called "real-0", "real-1" … */
export const REAL_NODE_PREFIX = "real";

const DEFAULT_ALLOCATABLE = { cpu: "8", memory: "32Gi", pods: "110" };

/** Pure: a bare number means so many nodes of the default shape. */
export function shapesOf(nodes: number | readonly NodeShape[]): readonly NodeShape[] {
  return typeof nodes === "number" ? [{ count: nodes }] : nodes;
}

/** Pure: checks shapes and gives each the names of its nodes, going on after the names that exist. */
export function nodeObjects(shapes: readonly NodeShape[], existing: readonly string[]): KubeObject[] {
  const next = new Map<string, number>();
  return shapes.flatMap((shape) => {
    const { name: prefix = "node", count = 1 } = shape;
    if (!/^[a-z0-9]([a-z0-9.-]{0,48}[a-z0-9])?$/.test(prefix)) {
      throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `"${prefix}" cannot be the beginning of a node's name`);
    }
    if (prefix === REAL_NODE_PREFIX) {
      throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `nodes called "${prefix}-…" are real ones`);
    }
    if (!Number.isInteger(count) || count < 0 || count > 50_000) {
      throw new ClusterError(
        "BERTH_CLUSTER_OPTION_INVALID",
        `the number of nodes must be a whole number from 0 to 50000, not ${count}`,
      );
    }
    const first = next.get(prefix) ?? 1 + Math.max(-1, ...existing.map((name) => indexOf(name, prefix)));
    next.set(prefix, first + count);
    return Array.from({ length: count }, (_, index) => nodeObject(`${prefix}-${first + index}`, shape));
  });
}

function indexOf(name: string, prefix: string): number {
  const digits = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : "";
  return /^\d+$/.test(digits) ? Number(digits) : -1;
}

function nodeObject(name: string, { labels, annotations, taints, allocatable }: NodeShape): KubeObject {
  const resources = { ...DEFAULT_ALLOCATABLE, ...allocatable };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        // Deprecated, but a kubelet sets them too, and the controller manager would otherwise add them one by one.
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        [NODE_KIND_LABEL]: "kwok",
        ...labels,
      },
      annotations: { "kwok.x-k8s.io/node": "fake", ...annotations },
    },
    ...(taints && { spec: { taints } }),
    status: {
      capacity: resources,
      allocatable: resources,
      // Ready from the beginning: a thousand nodes are then a thousand writes and not two thousand.
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "kwok keeps this node alive" }],
      nodeInfo: { operatingSystem: "linux", architecture: "amd64", ...unknownNodeInfo },
    },
  };
}

/** The API wants all of these. */
const unknownNodeInfo = Object.fromEntries([
  ["kubeletVersion", "kwok"],
  ["containerRuntimeVersion", "kwok"],
  ["kernelVersion", "kwok"],
  ["osImage", "kwok"],
  ["bootID", ""],
  ["kubeProxyVersion", ""],
  ["machineID", ""],
  ["systemUUID", ""],
] as const);

/** Creates nodes; returns their names. */
export async function createNodes(api: Api, nodes: readonly KubeObject[], signal?: AbortSignal): Promise<string[]> {
  await inParallel(nodes, 16, async (node) => {
    await api.create("/api/v1/nodes", node, signal);
  });
  return nodes.map((node) => node.metadata.name);
}

/** Waits until all of the named nodes take pods: Ready, and freed of the taints that new nodes carry. */
export async function waitForNodes(
  api: Api,
  names: readonly string[],
  onProgress: (ready: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const waiting = new Set(names);
  const done = await poll(
    async () => {
      for (const node of await api.list("/api/v1/nodes?resourceVersion=0", signal)) {
        if (takesPods(node)) waiting.delete(node.metadata.name);
      }
      onProgress(names.length - waiting.size);
      return waiting.size === 0 || undefined;
    },
    { timeoutMs: 180_000 + names.length * 100, intervalMs: names.length > 100 ? 500 : 100, signal },
  );
  if (!done) {
    const some = [...waiting].slice(0, 5).join(", ");
    throw new ClusterError("BERTH_CLUSTER_COMPONENT_NOT_READY", `${waiting.size} nodes are not ready, such as ${some}`);
  }
}

/** Pure: whether a node is ready for pods, as far as Kubernetes itself is concerned. */
export function takesPods({ spec, status }: KubeObject): boolean {
  const conditions = (status?.conditions ?? []) as { type: string; status: string }[];
  const taints = (spec?.taints ?? []) as { key: string }[];
  return (
    conditions.some(({ type, status }) => type === "Ready" && status === "True") &&
    !taints.some(({ key }) => key.startsWith("node.kubernetes.io/"))
  );
}

/**
 * Takes its nodes away from a kwok that has ended. Each kwok process calls itself by a new name, and would otherwise
 * wait until the leases that the last one took have run out.
 */
export async function releaseLeases(api: Api): Promise<void> {
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  // A kubelet holds its lease under the node's own name.
  const held = (await api.list(leases)).filter(({ metadata, spec }) => spec?.holderIdentity !== metadata.name);
  await inParallel(held, 16, ({ metadata }) => api.delete(`${leases}/${metadata.name}`));
}
