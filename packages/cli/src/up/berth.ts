/** A cluster with operator and gateway, in one process: what `berth up` starts, and what examples and tests run on. */

import { Gateway, type GatewayOptions } from "@berth/gateway";
import {
  Client,
  type Clock,
  HttpTransport,
  type Logger,
  Manager,
  silent,
  sleep,
  type Transport,
  VirtualClock,
  WallClock,
} from "@berth/kube";
import { Testbed } from "@berth/model";
import { addOperator, install, installedAdapters, OPERATOR } from "@berth/operator";
import { connectionOf } from "../connection.ts";

const REST_MS = 5000;

/** Nodes with this label have slots; its value says in which order. */
export const SLOT_LABEL = "berth.dev/slots";

export interface BerthOptions {
  /**
   * "embedded": Kubernetes in this process. "local": a real control plane as processes of this machine, with KWOK nodes.
   * A kubeconfig: a cluster that is there already. Default: "embedded".
   */
  readonly cluster?: "embedded" | "local" | { readonly kubeconfig: string | undefined; readonly context?: string };
  /** How many nodes the first two have. Default: 8. */
  readonly nodes?: number;
  /** Of the testbed that is made for them. Default: 2. */
  readonly slotsPerNode?: number;
  /** Its name; none: no testbed is made. Default: "main". */
  readonly testbed?: string | undefined;
  /**
   * Of an embedded cluster. A virtual one runs by itself as soon as the gateway is there and for as long as somebody waits for it: a
   * scheduler for its next turn, or what was decided for being carried out. Default: the world's time.
   */
  readonly clock?: Clock;
  /** Whether kubectl can reach an embedded cluster. Default: no. */
  readonly kubectl?: boolean;
  readonly namespace?: string;
  readonly gateway?: Omit<Partial<GatewayOptions>, "transport" | "clock" | "namespace">;
  /** Whether to run the operator here, and the gateway. Default: both. */
  readonly parts?: readonly ("operator" | "gateway")[];
  /** Told what is being done, for people who wait. */
  readonly onProgress?: (what: string) => void;
  readonly log?: Logger;
  readonly signal?: AbortSignal;
}

/** It runs until it is disposed of. */
export interface Berth extends AsyncDisposable {
  /** Where the gateway is; empty if there is none here. */
  readonly url: string;
  /** For the API server itself. */
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  /** For kubectl: the text of an embedded cluster's, the path of any other one's. */
  readonly kubeconfig: { readonly text: string } | { readonly path: string | undefined };
  /** Which kinds of applications the cluster can run: "spark", "flink", "job". */
  readonly kinds: readonly string[];
  /** Rejects if the operator ends by itself. */
  readonly ended: Promise<void>;
}

interface Ground {
  readonly transport: Transport;
  readonly kubeconfig: Berth["kubeconfig"];
  close(): Promise<void>;
}

/** Starts everything that is asked for; resolves when it can be used. */
export async function startBerth(options: BerthOptions = {}): Promise<Berth> {
  const { clock = new WallClock(), namespace = "default", parts = ["operator", "gateway"] } = options;
  const { onProgress = () => {}, log = silent, signal } = options;
  const ground = await groundFor(options, clock);
  const over = new AbortController();
  const running = clock instanceof VirtualClock ? clock.run(undefined, over.signal) : undefined;
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const each of closing.splice(0).reverse()) await each();
    over.abort();
    await running;
    await ground.close();
  };
  try {
    const client = new Client(ground.transport, { clock, fieldManager: "berth" });
    let kinds: string[] = [];
    let manager: Manager | undefined;
    let ended: Promise<void> = new Promise(() => {});
    if (parts.includes("operator")) {
      onProgress("installing Berth's resources");
      await install(client, clock);
      onProgress("starting the operator");
      manager = new Manager({ transport: ground.transport, clock, log, name: OPERATOR });
      const adapters = await installedAdapters(manager.apiReader);
      kinds = adapters.map(({ kind }) => kind);
      addOperator(manager, { adapters });
      const stop = new AbortController();
      ended = manager.start({ signal: stop.signal });
      ended.catch(() => {}); // whoever wants to know looks at `ended`
      closing.push(async () => {
        stop.abort();
        await ended.catch(() => {});
      });
      await createTestbed(client, options, clock);
    }
    let url = "";
    if (parts.includes("gateway")) {
      onProgress("starting the gateway");
      const gateway = await Gateway.start(
        {
          ...{ transport: ground.transport, clock, standsStill: true, namespace, log, ...options.gateway },
          onWritten: (written) => manager?.cache.wrote(written),
        },
        signal,
      );
      closing.push(() => gateway.stop());
      url = gateway.url;
    }
    signal?.throwIfAborted();
    return { url, client, clock, namespace, kubeconfig: ground.kubeconfig, kinds, ended, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function groundFor(options: BerthOptions, clock: Clock): Promise<Ground> {
  const { cluster = "embedded", nodes = 8, onProgress = () => {}, signal, kubectl = false } = options;
  if (cluster === "embedded") {
    onProgress("starting a cluster in this process");
    const { startSim } = await import("@berth/sim");
    const shapes = Array.from({ length: nodes }, (_, i) => ({
      name: `node-${i}`,
      labels: { [SLOT_LABEL]: String(i) },
    }));
    const sim = await startSim({ clock, nodes: shapes, http: kubectl });
    return {
      transport: sim.transport,
      kubeconfig: { text: kubectl ? sim.kubeconfig() : "" },
      close: () => sim.stop(),
    };
  }
  if (cluster === "local") {
    const { startCluster } = await import("@berth/cluster");
    onProgress("starting a control plane on this machine (the first time, its programs are built: some minutes)");
    const local = await startCluster({
      name: `berth-${process.pid}`,
      nodes: Array.from({ length: nodes }, (_, i) => ({ labels: { [SLOT_LABEL]: String(i) } })),
      ...(signal && { signal }),
    });
    const transport = new HttpTransport(connectionOf({ kubeconfig: local.kubeconfig }), { clock });
    return {
      transport,
      kubeconfig: { path: local.kubeconfig },
      close: async () => {
        await transport.close();
        await local.stop();
      },
    };
  }
  const transport = new HttpTransport(connectionOf(cluster), { clock });
  return { transport, kubeconfig: { path: cluster.kubeconfig }, close: () => transport.close() };
}

/** Only on clusters that were made for it: on others somebody decides which nodes have slots. */
async function createTestbed(client: Client, options: BerthOptions, clock: Clock): Promise<void> {
  const { cluster = "embedded", nodes = 8, slotsPerNode = 2, namespace = "default", onProgress = () => {} } = options;
  const name = "testbed" in options ? options.testbed : "main";
  if (name === undefined || typeof cluster === "object") return;
  onProgress(`reserving ${nodes * slotsPerNode} slots on ${nodes} nodes`);
  const key = { namespace, name };
  await client.create(Testbed, {
    metadata: key,
    spec: { slotsPerNode, nodeLabel: SLOT_LABEL, resourcesPerSlot: { cpu: "1", memory: "2Gi" } },
  });
  await untilReady(client, key, nodes * slotsPerNode, clock);
  // The gateway will stop a virtual clock: whoever comes then finds a cluster at rest, whose ghosts have started as well.
  if (clock instanceof VirtualClock) await sleep(clock, REST_MS);
}

async function untilReady(client: Client, key: { namespace: string; name: string }, slots: number, clock: Clock) {
  const isReady = (testbed: Testbed) => testbed.status?.slots?.free === slots;
  while (!isReady(await client.get(Testbed, key))) await sleep(clock, 50);
}
