/** A running cluster, as the process that started it, or another one, holds it in its hands. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Api } from "./api.ts";
import { type ClusterRecord, folderOf, readRecord, writeRecord } from "./cluster-record.ts";
import { type AuditEvent, readAudit } from "./control-plane/audit.ts";
import type { SchedulerConfiguration } from "./control-plane/components.ts";
import { prepareScheduler, secondScheduler } from "./control-plane/schedulers.ts";
import { ClusterError } from "./errors.ts";
import { drain } from "./nodes/drain.ts";
import {
  createNodes,
  NODE_KIND_LABEL,
  type NodeShape,
  nodeObjects,
  REAL_NODE_PREFIX,
  releaseLeases,
  shapesOf,
  waitForNodes,
} from "./nodes/kwok-nodes.ts";
import { type RealNodes, requireRealNodeCount, requireSchedulerName } from "./options.ts";
import { type ClusterPlaces, clusterPlaces } from "./places.ts";
import {
  type Home,
  killComponent,
  listNamedComponents,
  readComponent,
  startComponent,
  waitUntilReady,
} from "./process/component.ts";
import { onFreePorts } from "./process/ports.ts";
import { isAlive, residentBytes } from "./process/processes.ts";
import { checkImage, type ImageSource } from "./real-node/image.ts";
import { busyboxImage, sandboxImage, withImages } from "./real-node/node-images.ts";
import { importImage, nodeFolder, type RealNodeContext, startRealNode, stopRealNode } from "./real-node/real-node.ts";
import { hasRemains, tearDown, tearDownOwn, withClusterLock } from "./teardown.ts";

export interface ComponentStatus {
  readonly name: string;
  readonly alive: boolean;
  readonly pid: number | null;
  readonly residentBytes: number;
  readonly log: string;
}

/** Opens a cluster that runs, whoever started it. */
export function openCluster(name = "default"): Cluster {
  const record = readRecord(folderOf(name));
  if (!record) throw new ClusterError("BERTH_CLUSTER_NOT_FOUND", `there is no cluster "${name}"`);
  if (!record.ready) {
    const message = `cluster "${name}" is being started, or was left so by a starter that was killed`;
    throw new ClusterError("BERTH_CLUSTER_NOT_READY", message);
  }
  const { pki } = clusterPlaces(record.folder);
  const admin = { certificate: join(pki, "admin.crt"), key: join(pki, "admin.key") };
  return new Cluster(record, new Api(record.server, join(pki, "ca.crt"), admin), () => {});
}

/** Takes a cluster down by name, whoever started it and whatever state it is in. */
export async function removeCluster(name = "default"): Promise<void> {
  const folder = folderOf(name);
  await withClusterLock(folder, async () => {
    if (!hasRemains(folder)) throw new ClusterError("BERTH_CLUSTER_NOT_FOUND", `there is no cluster "${name}"`);
    await tearDown(folder);
  });
}

export class Cluster {
  readonly name: string;
  /** The path of a kubeconfig with an administrator's rights. */
  readonly kubeconfig: string;
  /** Where the API server is: "https://127.0.0.1:20123". */
  readonly server: string;
  readonly api: Api;
  #record: ClusterRecord;
  readonly #places: ClusterPlaces;
  readonly #callOffReaper: () => void;

  /** @internal */
  constructor(record: ClusterRecord, api: Api, callOffReaper: () => void) {
    this.name = record.name;
    this.server = record.server;
    this.api = api;
    this.#record = record;
    this.#places = clusterPlaces(record.folder);
    this.kubeconfig = this.#places.kubeconfig;
    this.#callOffReaper = callOffReaper;
  }

  /** @internal Called once, when the start is complete. */
  becomeReady(detached: boolean): this {
    this.#record = writeRecord({ ...this.#record, ready: true, ...(detached && { owner: null }) });
    if (detached) this.#callOffReaper();
    return this;
  }

  // --- Looking -----------------------------------------------------------------------------------------------------

  get started(): Date {
    return new Date(this.#record.started);
  }

  /** Whether the cluster stays when the process that started it ends. */
  get detached(): boolean {
    return this.#record.owner === null;
  }

  /** Whether it is still there: nobody has taken it down, or taken its name since. */
  get exists(): boolean {
    return readRecord(this.#record.folder)?.id === this.#record.id;
  }

  get components(): ComponentStatus[] {
    return listNamedComponents(this.#places).map(({ name, process }) => {
      const alive = isAlive(process);
      const pid = process?.pid ?? null;
      return { name, alive, pid, residentBytes: alive && pid ? residentBytes(pid) : 0, log: this.#places.log(name) };
    });
  }

  /** Component → path of its log. */
  get logs(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.components.map(({ name, log }) => [name, log]));
  }

  /** Component → where it answers HTTP, for its health and metrics: { "kube-scheduler": "https://127.0.0.1:20456" }. */
  get addresses(): Readonly<Record<string, string>> {
    const components = listNamedComponents(this.#places);
    return Object.fromEntries(components.map(({ name, health }) => [name, new URL(health).origin]));
  }

  /** The path of one component's log; an unknown component is an error that lists the known ones. */
  logOf(component: string): string {
    return this.#places.log(readComponent(this.#places, component).name);
  }

  /** Every request that the API server has answered so far, oldest first. */
  readAudit(): AuditEvent[] {
    if (!this.#record.audit) {
      throw new ClusterError("BERTH_CLUSTER_AUDIT_OFF", `cluster "${this.name}" keeps no audit log`);
    }
    return readAudit(this.#places.audit);
  }

  /** The path of a kubectl of the cluster's own version. */
  get kubectlBinary(): string {
    return this.#record.binaries.kubectl;
  }

  /** Runs kubectl as administrator and returns what it printed. Rejects if it fails, with its message. */
  async kubectl(...args: string[]): Promise<string> {
    const env = { ...process.env, KUBECONFIG: this.kubeconfig };
    const options = { env, maxBuffer: 256 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(this.kubectlBinary, args, options);
    return stdout;
  }

  // --- Nodes -------------------------------------------------------------------------------------------------------

  /** Adds KWOK nodes and returns their names once they take pods. */
  async addNodes(
    nodes: number | readonly NodeShape[],
    { onReady, signal }: { onReady?: (ready: number, of: number) => void; signal?: AbortSignal | undefined } = {},
  ): Promise<string[]> {
    const existing = (await this.api.list("/api/v1/nodes?resourceVersion=0")).map((node) => node.metadata.name);
    const objects = nodeObjects(shapesOf(nodes), existing);
    const names = await createNodes(this.api, objects, signal);
    await waitForNodes(this.api, names, (ready) => onReady?.(ready, names.length), signal);
    return names;
  }

  /** Adds real nodes and returns their names once they take pods. The cluster must have been started with some. */
  async addRealNodes(
    { count, labels = {} }: RealNodes,
    { images = [], signal }: { images?: readonly ImageSource[]; signal?: AbortSignal | undefined } = {},
  ): Promise<string[]> {
    requireRealNodeCount(count);
    for (const image of images) checkImage(image);
    if (count === 0) return [];
    const context = this.#realNodeContext(signal);
    const names: string[] = [];
    await withImages(context, [sandboxImage, busyboxImage(), ...images], async (archives) => {
      for (let added = 0; added < count; added++) {
        const index = this.#claimRealNode();
        const name = realNodeName(index);
        try {
          await startRealNode(context, { name, index, labels: { [NODE_KIND_LABEL]: "real", ...labels }, archives });
        } catch (error) {
          if (this.exists) await stopRealNode(context, name, index); // if not, somebody else is removing it all
          throw error;
        }
        names.push(name);
      }
    });
    await waitForNodes(this.api, names, () => {}, signal);
    return names;
  }

  /**
   * Removes a node, KWOK or real. By default its pods are evicted first, as a planned removal would; with
   * `drain: false` the node is gone at once, and Kubernetes finds its pods orphaned a while later.
   */
  async removeNode(name: string, { drain: drainFirst = true, signal }: RemoveNodeOptions = {}): Promise<void> {
    await this.#requireNode(name);
    if (drainFirst) await drain(this.api, name, signal);
    const index = this.#realNodeIndexes().find((index) => realNodeName(index) === name);
    if (index !== undefined) await stopRealNode(this.#realNodeContext(), name, index);
    await this.api.delete(`/api/v1/nodes/${name}`);
  }

  /** Makes an image known to every real node. */
  async loadImage(image: ImageSource): Promise<void> {
    checkImage(image);
    const context = this.#realNodeContext();
    await withImages(context, [image], async ([archive]) => {
      for (const index of this.#realNodeIndexes()) await importImage(context, realNodeName(index), archive as string);
    });
  }

  // --- Components --------------------------------------------------------------------------------------------------

  /** Ends a component as a crash would, and waits until it is gone. */
  async kill(component: string): Promise<void> {
    await killComponent(readComponent(this.#places, component));
  }

  /** Starts a component again, ending it first if it still runs, and waits until it is healthy. */
  async restart(component: string): Promise<void> {
    const record = readComponent(this.#places, component);
    if (component === "kwok") {
      await killComponent(record);
      await releaseLeases(this.api).catch(() => {}); // without an API server it has to wait for them to run out
    }
    await waitUntilReady(this.#places, await startComponent(this.#home, record));
  }

  /**
   * Starts another kube-scheduler beside the first, as component `kube-scheduler-<name>`. Pods choose it with
   * `schedulerName: <name>`, unless the configuration has profiles of its own.
   */
  async startScheduler(name: string, config: SchedulerConfiguration = {}, signal?: AbortSignal): Promise<void> {
    requireSchedulerName(name);
    const component = `kube-scheduler-${name}`;
    if (this.components.some((present) => present.name === component)) {
      throw new ClusterError("BERTH_CLUSTER_NAME_IN_USE", `there is a scheduler "${name}" already`);
    }
    const given = secondScheduler(name, config);
    await onFreePorts(async () => {
      const spec = await prepareScheduler(this.#places, this.#record.binaries, component, given);
      await waitUntilReady(this.#places, await startComponent(this.#home, spec), signal);
    });
  }

  // --- The end -----------------------------------------------------------------------------------------------------

  /** Ends the cluster and removes everything of it. May be called twice; another cluster of its name is left alone. */
  async stop(): Promise<void> {
    this.api.close();
    await tearDownOwn(this.#record);
    this.#callOffReaper();
  }

  /** `await using cluster = await startCluster()` stops it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get #home(): Home {
    return { places: this.#places, id: this.#record.id };
  }

  /** A real node is there as long as its folder is. */
  #realNodeIndexes(): number[] {
    try {
      return readdirSync(this.#places.nodes).map((name) => Number(name.slice(REAL_NODE_PREFIX.length + 1)) + 1);
    } catch {
      return [];
    }
  }

  /** Takes the next number by making its folder, which only one of those who try at once can do. */
  #claimRealNode(): number {
    mkdirSync(this.#places.nodes, { recursive: true });
    for (let index = 1; ; index++) {
      requireRealNodeCount(index);
      try {
        mkdirSync(nodeFolder(this.#places, realNodeName(index)));
        return index;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  }

  #realNodeContext(signal?: AbortSignal): RealNodeContext {
    const { network, binaries } = this.#record;
    if (!network) {
      const message = `cluster "${this.name}" was started without real nodes, so it has no network for them`;
      throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", message);
    }
    return { ...this.#home, cluster: this.name, binaries, server: this.server, network, signal };
  }

  async #requireNode(name: string): Promise<void> {
    const found = await this.api.list(`/api/v1/nodes?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`);
    if (found.length === 0) {
      throw new ClusterError("BERTH_CLUSTER_NODE_UNKNOWN", `cluster "${this.name}" has no node "${name}"`);
    }
  }
}

export interface RemoveNodeOptions {
  /** Evict its pods first. Default: yes. */
  readonly drain?: boolean;
  readonly signal?: AbortSignal;
}

/** Real nodes are numbered from 1 in their addresses and, as all things of Kubernetes, from 0 in their names. */
function realNodeName(index: number): string {
  return `${REAL_NODE_PREFIX}-${index - 1}`;
}
