/** A cluster with Berth on it, and one testbed whose slots fill its nodes exactly: whoever comes needs a ghost to go. */
import { type AuditOption, type Cluster, poll, startCluster } from "@berth/cluster";
import { Client, coreV1, HttpTransport, loadConnection, WallClock } from "@berth/kube";
import { Testbed } from "@berth/model";
import { install } from "@berth/operator";
import { operatorKubeconfig } from "./operator-process.ts";

export const NAMESPACE = "bench";
export const SLOTS_PER_NODE = 4;
/** A quarter of what KWOK nodes have. */
export const slotSize = { cpu: "2", memory: "8Gi" };

const TESTBED_LABEL = "example.org/testbed";

/** How much may be under way at once: as much as the operator's own client allows itself. */
const CONCURRENCY = 64;

/** How long anything may take that is waited for. */
const PATIENCE_MS = 900_000;

export interface SiteOptions {
  readonly name: string;
  /** Of the testbed. */
  readonly nodes: number;
  /** Others, called "plain-0", "plain-1" … Default: none. */
  readonly plainNodes?: number;
  readonly audit?: AuditOption;
  readonly signal: AbortSignal;
}

export class Site implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly slots: number;
  /** With the operator's rights, and no others. */
  readonly operatorKubeconfig: string;
  readonly #signal: AbortSignal;

  private constructor(
    cluster: Cluster,
    client: Client,
    slots: number,
    operatorKubeconfig: string,
    signal: AbortSignal,
  ) {
    this.cluster = cluster;
    this.client = client;
    this.slots = slots;
    this.operatorKubeconfig = operatorKubeconfig;
    this.#signal = signal;
  }

  static async open({ name, nodes, plainNodes = 0, audit = false, signal }: SiteOptions): Promise<Site> {
    const shapes = [
      { count: nodes, labels: { [TESTBED_LABEL]: "" } },
      { count: plainNodes, name: "plain" },
    ];
    const cluster = await startCluster({ name, nodes: shapes, audit, signal });
    const connection = loadConnection({ kubeconfig: cluster.kubeconfig });
    const client = new Client(new HttpTransport(connection, { connections: CONCURRENCY }));
    try {
      await install(client, new WallClock());
      await client.create(coreV1.Namespace, { metadata: { name: NAMESPACE } });
      const site = new Site(cluster, client, nodes * SLOTS_PER_NODE, await operatorKubeconfig(cluster), signal);
      const account = { namespace: NAMESPACE, name: "default" };
      await site.until("an account", async () => (await client.find(coreV1.ServiceAccount, account)) !== undefined);
      return site;
    } catch (error) {
      await client.transport.close();
      await cluster.stop();
      throw error;
    }
  }

  async createTestbed(): Promise<void> {
    await this.client.create(Testbed, {
      metadata: { namespace: NAMESPACE, name: "main" },
      spec: { nodeLabel: TESTBED_LABEL, slotsPerNode: SLOTS_PER_NODE, resourcesPerSlot: slotSize },
    });
  }

  /** Waits until every slot of the testbed is free, and the operator says so. */
  allFree(died?: AbortSignal): Promise<void> {
    return this.allAre("free", this.slots, died);
  }

  /** Waits until so many slots are in a state. @param died - Of the operator, who says so. */
  allAre(state: "free" | "reserved", count: number, died?: AbortSignal): Promise<void> {
    const key = { namespace: NAMESPACE, name: "main" };
    const ask = async () => (await this.client.get(Testbed, key)).status?.slots?.[state] === count;
    return this.until(`slots that are ${state}`, ask, died);
  }

  /** Does something with each of many, so many at once. */
  async each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
    const left = items.values();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const item of left) {
          this.#signal.throwIfAborted();
          await work(item);
        }
      }),
    );
  }

  /** Asks until the answer is yes. @param died - Of a process without which there is nothing to wait for. */
  async until(what: string, ask: () => Promise<boolean> | boolean, died?: AbortSignal): Promise<void> {
    const signal = died ? AbortSignal.any([this.#signal, died]) : this.#signal;
    const attempt = async () => (await ask()) || undefined;
    if (!(await poll(attempt, { timeoutMs: PATIENCE_MS, intervalMs: 50, signal }))) {
      throw new Error(`waited ${PATIENCE_MS / 60_000} minutes in vain for ${what}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.transport.close();
    await this.cluster.stop();
  }
}
