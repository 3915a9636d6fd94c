/**
 * The interface: how long a turn takes with 1000 slots and 1000 jobs in the queue, how long from a decision to the claim on a real
 * API server, how many jobs go through in a second, and how soon 1000 subscribers hear of a change.
 *
 * Berth runs in a process of its own, as `berth up` starts it; this one is the scheduler, and those who listen.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { sleep, stopwatch } from "@berth/cluster";
import { Client, HttpTransport, Informer, loadConnection } from "@berth/kube";
import { BatchJob } from "@berth/model";
import { fifo } from "@berth/schedulers";
import { BerthClient, runScheduler } from "@berth/sdk";
import { WebSocket } from "ws";
import { type Measurement, type MeasureOptions, percentile } from "./report.ts";

interface Sizes {
  readonly slots: number;
  readonly jobs: number;
  readonly turns: number;
  readonly claims: number;
  readonly throughput: number;
  readonly subscribers: number;
  readonly changes: number;
}

const SIZES: Sizes = {
  ...{ slots: 1000, jobs: 1000, turns: 300, claims: 100, throughput: 2000, subscribers: 1000, changes: 50 },
};
const QUICK: Sizes = { slots: 40, jobs: 40, turns: 30, claims: 10, throughput: 100, subscribers: 50, changes: 10 };
const SLOTS_PER_NODE = 4;

export async function measure({ quick, log, signal }: MeasureOptions): Promise<Measurement[]> {
  const sizes = quick ? QUICK : SIZES;
  return [
    ...(await turns(sizes, log, signal)),
    ...(await throughput(sizes, log, signal)),
    ...(await subscribers(sizes, log, signal)),
    ...(await claims(sizes, log, signal)),
  ];
}

/** A Berth in a process of its own. */
interface Running extends AsyncDisposable {
  readonly client: BerthClient;
  readonly kubeconfig: string;
}

async function start(cluster: "embedded" | "local", slots: number, signal: AbortSignal): Promise<Running> {
  const program = fileURLToPath(new URL("../packages/cli/src/main.ts", import.meta.url));
  const nodes = String(Math.ceil(slots / SLOTS_PER_NODE));
  const flags = ["--cluster", cluster, "--nodes", nodes, "--slots", String(SLOTS_PER_NODE), "--port", "0", "--no-view"];
  const child = spawn(process.execPath, [program, "up", ...flags], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
    signal,
  });
  const ended = once(child, "exit");
  child.on("error", () => {}); // it was told to end
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (/kubectl --kubeconfig \S+ get/.test(text)) break;
  }
  const url = /Berth is at ([^\s,]+)/.exec(text)?.[1];
  const kubeconfig = /--kubeconfig (\S+)/.exec(text)?.[1];
  if (url === undefined || kubeconfig === undefined) throw new Error(`Berth did not start: ${text}`);
  return {
    client: new BerthClient({ url }),
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGINT");
      await ended;
    },
  };
}

/** A job with one executor. */
function job(name: string, seconds: number) {
  const annotations = { "berth.dev/run-time": `${seconds}s` };
  const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } };
  return { kind: "BatchJob", metadata: { name }, spec: { jobSpec: { template } } };
}

/** Some at a time. */
async function submitAll(client: BerthClient, count: number, prefix: string, seconds: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await client.submit(job(`${prefix}-${next++}`, seconds));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** There is news each time, so that nobody waits for anything but the answer. */
async function turns(sizes: Sizes, log: MeasureOptions["log"], signal: AbortSignal): Promise<Measurement[]> {
  await using berth = await start("embedded", sizes.slots, signal);
  const { client } = berth;
  log(`${sizes.jobs} jobs into the queue`);
  await submitAll(client, sizes.jobs, "queued", 3600);
  const elapsed = stopwatch();
  const found = { empty: [] as number[], deciding: [] as number[], full: [] as number[] };
  let { turn } = await client.turn("bench", { testbed: "main" });
  for (let index = 0; index < sizes.turns; index++) {
    const kind = (["empty", "deciding", "full"] as const)[index % 3] ?? "empty";
    await client.submit(job(`news-${index}`, 3600));
    const decisions = kind === "deciding" ? [{ job: `queued-${index}`, executors: 1 }] : [];
    const begun = elapsed();
    const reply = await client.turn("bench", {
      ...{ testbed: "main", after: turn, decisions },
      view: kind === "full" ? "full" : "delta",
    });
    found[kind].push(elapsed() - begun);
    turn = reply.turn;
  }
  const what = `turn, ${sizes.slots} slots, ${sizes.jobs} jobs`;
  const figure = (measure: string, values: number[], share: number) => ({
    ...{ measure: `${what}, ${measure}, p${share}`, unit: "ms", ours: percentile(values, share) },
  });
  return [
    { ...figure("delta", found.empty, 50), target: { of: "ours", atMost: 2 } },
    figure("delta", found.empty, 99),
    figure("delta, with a decision", found.deciding, 50),
    figure("full", found.full, 50),
  ];
}

async function throughput(sizes: Sizes, log: MeasureOptions["log"], signal: AbortSignal): Promise<Measurement[]> {
  await using berth = await start("embedded", Math.min(sizes.slots, 500), signal);
  const { client } = berth;
  const stop = new AbortController();
  const all = Promise.withResolvers<void>();
  let ended = 0;
  const scheduling = runScheduler({
    ...{ url: client.url, testbed: "main", signal: stop.signal },
    decide: (state) => {
      ended += state.events.filter(({ type }) => type === "job.completed").length;
      if (ended >= sizes.throughput) all.resolve();
      return fifo(state);
    },
    onError: (error) => log(String(error)),
  });
  log(`${sizes.throughput} jobs of a second each, through turns`);
  const elapsed = stopwatch();
  await submitAll(client, sizes.throughput, "short", 1);
  await all.promise;
  const seconds = elapsed() / 1000;
  stop.abort();
  await scheduling;
  const measure = `jobs through turns, of a second each, ${sizes.throughput} in all`;
  return [{ measure, unit: "1/s", ours: sizes.throughput / seconds, target: { of: "ours", atLeast: 200 } }];
}

async function subscribers(sizes: Sizes, log: MeasureOptions["log"], signal: AbortSignal): Promise<Measurement[]> {
  await using berth = await start("embedded", 4, signal);
  const { client } = berth;
  log(`${sizes.subscribers} subscribers of STOMP`);
  const elapsed = stopwatch();
  const latencies: number[] = [];
  let [begun, heard] = [0, 0];
  let everybody = Promise.withResolvers<void>();
  const listeners = await Promise.all(
    Array.from({ length: sizes.subscribers }, async () => {
      const socket = new WebSocket(`${client.url.replace("http", "ws")}/v1/stomp`, ["v12.stomp"]);
      await once(socket, "open");
      const connected = once(socket, "message");
      socket.send("CONNECT\naccept-version:1.2\nhost:berth\nheart-beat:0,0\n\n\0");
      await connected;
      const subscribed = once(socket, "message");
      socket.send("SUBSCRIBE\nid:0\ndestination:/topic/jobs\nreceipt:r\n\n\0");
      await subscribed;
      socket.on("message", (data) => {
        if (!String(data).includes('"type":"added"')) return;
        latencies.push(elapsed() - begun);
        if (++heard === sizes.subscribers) everybody.resolve();
      });
      return socket;
    }),
  );
  for (let index = 0; index < sizes.changes; index++) {
    [heard, everybody] = [0, Promise.withResolvers<void>()];
    begun = elapsed();
    await client.submit(job(`change-${index}`, 10));
    await everybody.promise;
    await sleep(20, signal);
  }
  for (const socket of listeners) socket.terminate();
  const measure = `${sizes.subscribers} subscribers hear of a change`;
  return [
    { measure: `${measure}, p50`, unit: "ms", ours: percentile(latencies, 50) },
    { measure: `${measure}, p99`, unit: "ms", ours: percentile(latencies, 99), target: { of: "ours", atMost: 100 } },
  ];
}

const TOUCHED = "example.org/touched";
/** Everybody has heard by then of what was before, and has nothing else to do. */
const SETTLED_MS = 100;

/**
 * From the moment when a decision is on its way to the gateway, on a connection that is open, to that when a watch shows the job with its
 * slots; beside a write until it is shown as well.
 */
async function claims(sizes: Sizes, log: MeasureOptions["log"], signal: AbortSignal): Promise<Measurement[]> {
  await using berth = await start("local", 40, signal);
  const { client } = berth;
  const transport = new HttpTransport(loadConnection({ kubeconfig: berth.kubeconfig }));
  const api = new Client(transport);
  const elapsed = stopwatch();
  const [touched, claimed] = [new Map<string, () => void>(), new Map<string, () => void>()];
  const informer = new Informer(api, BatchJob, { namespace: "default" });
  informer.addEventHandler({
    onUpdate: (_, { metadata: { name = "", annotations }, spec }) => {
      if (annotations?.[TOUCHED]) touched.get(name)?.();
      if (spec.creationRequest) claimed.get(name)?.();
    },
  });
  await informer.start().waitForSync();
  log(`${sizes.claims} decisions on a real API server`);
  const agent = new Agent({ keepAlive: true });
  const [spans, trips]: [number[], number[]] = [[], []];
  let turn = 0;
  for (let index = 0; index < sizes.claims; index++) {
    const name = `claim-${index}`;
    await client.submit(job(name, 1));
    for (let room = 0; room === 0; ) {
      const seen = await client.turn("bench", { testbed: "main" });
      turn = seen.turn;
      room = seen.view === "full" ? seen.slots.filter(({ state }) => state === "free").length : 0;
      if (room === 0) await sleep(100, signal);
    }
    await sleep(SETTLED_MS, signal);
    const seen = new Promise<void>((resolve) => touched.set(name, resolve));
    const writing = elapsed();
    const merge = { metadata: { annotations: { [TOUCHED]: String(index) } } };
    const written = api.patch(BatchJob, { namespace: "default", name }, { merge });
    await seen;
    trips.push(elapsed() - writing);
    await written;
    await sleep(SETTLED_MS, signal);
    const done = new Promise<void>((resolve) => claimed.set(name, resolve));
    const call = request(`${client.url}/v1/schedulers/bench/turn`, {
      ...{ agent, method: "POST", headers: { "content-type": "application/json" } },
    });
    const answered = once(call, "response");
    await once(call, "socket");
    const body = JSON.stringify({ testbed: "main", after: turn, decisions: [{ job: name, executors: 1 }] });
    const begun = elapsed();
    call.end(body);
    await done;
    spans.push(elapsed() - begun);
    const [answer] = (await answered) as [IncomingMessage];
    ({ turn } = (await json(answer)) as { turn: number });
  }
  agent.destroy();
  await informer.stop();
  await transport.close();
  return [
    {
      ...{ measure: "from a decision received to the claim, p50", unit: "ms", ours: percentile(spans, 50) },
      ...{ peer: percentile(trips, 50), peerName: "one write", target: { of: "ratio", atMost: 2 } },
    },
  ];
}
