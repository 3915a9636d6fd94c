/** A whole cluster in this process, with operator and gateway: what the embedded default is made of. */
import { type Clock, jsonLogger, Manager, silent, VirtualClock } from "@berth/kube";
import { type BatchJob, Testbed } from "@berth/model";
import { addOperator, install, installedAdapters } from "@berth/operator";
import { type Sim, startSim } from "@berth/sim";
import { Gateway, type GatewayOptions } from "../gateway.ts";

export interface Embedded extends AsyncDisposable {
  readonly sim: Sim;
  readonly gateway: Gateway;
  readonly clock: Clock;
  /** Asks the gateway. The answer's body, and its status. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Another one on the same cluster. */
  another(options?: Partial<GatewayOptions>): Promise<Gateway>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all kinds.
  readonly body: any;
}

export interface EmbeddedOptions {
  readonly clock: Clock;
  readonly nodes?: number;
  readonly slotsPerNode?: number;
  readonly gateway?: Partial<GatewayOptions>;
}

export const LABEL = "example.org/slots";

/** With a testbed "main", whose slots are free. A virtual clock runs by itself. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { clock, nodes = 2, slotsPerNode = 2 } = options;
  const shapes = Array.from({ length: nodes }, (_, index) => ({
    name: `n${index}`,
    labels: { [LABEL]: String(index) },
  }));
  const sim = await startSim({ clock, nodes: shapes });
  const over = new AbortController();
  const running = clock instanceof VirtualClock ? clock.run(undefined, over.signal) : undefined;
  await install(sim.client, clock);
  const manager = new Manager({ transport: sim.transport, clock, log: silent, name: "berth-operator" });
  addOperator(manager, { adapters: await installedAdapters(manager.apiReader) });
  const operating = manager.start({ signal: over.signal });
  const gateway = await Gateway.start({
    ...{ transport: sim.transport, clock, namespace: "default", log: jsonLogger({ clock, level: "error" }) },
    ...options.gateway,
  });
  await sim.client.create(Testbed, {
    metadata: { namespace: "default", name: "main" },
    spec: { slotsPerNode, nodeLabel: LABEL, resourcesPerSlot: { cpu: "1", memory: "1Gi" } },
  });
  const ask = asking(gateway);
  const others: Gateway[] = [];
  await eventually(async () => {
    const { ready, slots } = (await ask("GET", "/v1/testbeds/main")).body;
    return ready && slots.free === nodes * slotsPerNode;
  });
  return {
    sim,
    gateway,
    clock,
    ask,
    another: async (more = {}) => {
      const other = await Gateway.start({ transport: sim.transport, clock, namespace: "default", ...more });
      others.push(other);
      return other;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([gateway, ...others].map((each) => each.stop()));
      over.abort();
      await Promise.all([operating, running]);
      await sim.stop();
    },
  };
}

/** Asks a gateway by HTTP. */
export function asking(gateway: Gateway): Embedded["ask"] {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = text !== "" && /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}

/** Looks again and again; each look takes a turn of the event loop at least. */
export async function eventually(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask()));
}

/** A job whose executors run for so long. */
export function jobManifest(name: string, seconds: number, more: Partial<BatchJob["spec"]> = {}) {
  const annotations = { "berth.dev/run-time": `${seconds}s` };
  const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } };
  return { kind: "BatchJob", metadata: { name }, spec: { jobSpec: { template }, ...more } };
}
