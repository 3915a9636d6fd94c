/** What can be asked of `startCluster`, and the checks that come before anything is changed. */

import type { BuildProgress } from "./binaries/build.ts";
import { folderOf } from "./cluster-record.ts";
import type { AuditOption } from "./control-plane/audit.ts";
import type { SchedulerConfiguration } from "./control-plane/components.ts";
import { ClusterError } from "./errors.ts";
import { type NodeShape, nodeObjects, shapesOf } from "./nodes/kwok-nodes.ts";
import { requireFreePort } from "./process/ports.ts";
import { checkImage, type ImageSource } from "./real-node/image.ts";
import { MOST_REAL_NODES } from "./real-node/network.ts";
import { requireRealNodeSupport } from "./real-node/real-node.ts";

export interface RealNodes {
  readonly count: number;
  /** On each of them, besides the kubelet's own. */
  readonly labels?: Readonly<Record<string, string>>;
}

export type StartProgress =
  | { readonly phase: "binaries"; readonly build: BuildProgress }
  | { readonly phase: "component"; readonly name: string }
  | { readonly phase: "nodes"; readonly ready: number; readonly of: number };

export interface ClusterOptions {
  /** Several clusters run side by side under different names. Default: "default". */
  readonly name?: string;
  /** KWOK nodes: how many of the default shape, or several shapes. Default: none. */
  readonly nodes?: number | readonly NodeShape[];
  /** Real nodes (Linux, root): kubelets that run containers. Default: none. */
  readonly realNodes?: number | RealNodes;
  /** Images for the real nodes, besides `berth.dev/busybox`. Default: none. */
  readonly images?: readonly ImageSource[];
  /** Further kube-schedulers beside the first: name → configuration. Default: none. */
  readonly schedulers?: Readonly<Record<string, SchedulerConfiguration>>;
  /** Keep an audit log: yes, or with this policy. Default: no. */
  readonly audit?: AuditOption;
  /** A folder with all binaries. Default: KUBEBUILDER_ASSETS, else the cache, else they are built. */
  readonly assets?: string | undefined;
  /** The API server's port. Default: a free one. */
  readonly port?: number | undefined;
  /** Stay when this process ends, until taken down by name. Default: no, the cluster ends with this process. */
  readonly detached?: boolean;
  readonly onProgress?: ((progress: StartProgress) => void) | undefined;
  /** Aborting it ends the start and removes what was started. */
  readonly signal?: AbortSignal | undefined;
}

/** The options in the one form that the rest of the package knows. */
export interface Plan {
  readonly name: string;
  readonly shapes: readonly NodeShape[];
  readonly kwokNodes: number;
  readonly realNodes: RealNodes;
}

/** Pure: completes the options with their defaults. */
export function plan({ name = "default", nodes = 0, realNodes = 0, images = [] }: ClusterOptions): Plan {
  const shapes = shapesOf(nodes);
  const real = typeof realNodes === "number" ? { count: realNodes } : realNodes;
  requireRealNodeCount(real.count);
  if (images.length > 0 && real.count === 0) {
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", "images are for real nodes, and there are none");
  }
  return { name, shapes, kwokNodes: nodeObjects(shapes, []).length, realNodes: real };
}

/** Rejects what cannot work, before a process is started or a file written. */
export async function preflight(options: ClusterOptions): Promise<Plan> {
  if (process.platform !== "linux") {
    throw new ClusterError("BERTH_CLUSTER_NOT_LINUX", `a cluster runs on Linux; this is ${process.platform}`);
  }
  const planned = plan(options);
  folderOf(planned.name);
  for (const image of options.images ?? []) checkImage(image);
  for (const name of Object.keys(options.schedulers ?? {})) requireSchedulerName(name);
  if (options.port !== undefined) await requireFreePort(options.port);
  if (planned.realNodes.count > 0) requireRealNodeSupport();
  requireMemory(memoryNeed(planned.kwokNodes, planned.realNodes.count), process.availableMemory());
  return planned;
}

/** Pure: refuses what cannot be a number of real nodes. */
export function requireRealNodeCount(count: number): void {
  if (!Number.isInteger(count) || count < 0 || count > MOST_REAL_NODES) {
    const message = `the number of real nodes must be a whole one from 0 to ${MOST_REAL_NODES}, not ${count}`;
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", message);
  }
}

export function requireSchedulerName(name: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/.test(name)) {
    throw new ClusterError(
      "BERTH_CLUSTER_OPTION_INVALID",
      `"${name}" is not a scheduler name: at most 50 lower-case letters, digits and inner hyphens`,
    );
  }
}

const MiB = 1024 * 1024;

/** Pure: about how many bytes a cluster takes, after `npm run bench -- cluster`. */
export function memoryNeed(kwokNodes: number, realNodes: number): number {
  return (600 + 0.5 * kwokNodes + 200 * realNodes) * MiB;
}

/** Pure: a machine that starts to swap, or to kill processes, fails later and less clearly. */
export function requireMemory(need: number, available: number): void {
  if (need > available) {
    const [needed, left] = [need, available].map((bytes) => Math.round(bytes / MiB));
    throw new ClusterError(
      "BERTH_CLUSTER_TOO_LITTLE_MEMORY",
      `this cluster takes about ${needed} MiB of memory, and ${left} MiB are available`,
    );
  }
}
