/**
 * Controller runtimes: a custom resource is created, the operator creates its Pod. Ours beside controller-runtime, Kopf,
 * the Java Operator SDK, Metacontroller and the floor: a client that creates resource and Pod itself.
 *
 * All operators run at once on one API server, each with a kind of resource of its own, and take turns: whatever else the
 * machine does, it does to all of them. From the client's create to the Pod seen on a watch, by one clock.
 */
import { sleep, startCluster } from "@berth/cluster";
import { SeededRandom } from "@berth/kube";
import { type Measurement, type MeasureOptions, median, type Target } from "./report.ts";
import { buildInformer, type FilledInformer, fillInformer } from "./runtime/client-go-informer.ts";
import { fillOurs } from "./runtime/ours.ts";
import { apply } from "./runtime/peer-readiness.ts";
import { ours, peers, type RunningPeer } from "./runtime/peers.ts";
import { type Usage, usage } from "./runtime/process-usage.ts";
import { Stage } from "./runtime/stage.ts";
import { manifests, type Workplace, workplace } from "./runtime/widget.ts";
import { shuffled } from "./turns.ts";

const FULL = {
  warmUp: 1000,
  latencies: 100,
  rounds: 5,
  batch: 1000,
  objects: 10_000,
  pods: 100_000,
  fills: 5,
  settle: 20_000,
};
const QUICK = { warmUp: 20, latencies: 10, rounds: 1, batch: 100, objects: 300, pods: 1000, fills: 1, settle: 3000 };

/** Between two of one at a time: what a runtime does after its Pod is not the next one's affair. */
const PAUSE_MS = 30;

/** Between two of many at once: the garbage collector and etcd have what was deleted to digest. */
const BREATHER_MS = 5000;

const floor = workplace("floor");

/** What was found out about one runtime. */
interface Found {
  readonly latencies: number[];
  /** Pods per second, round by round. */
  readonly rates: number[];
  /** CPU seconds per 1000 Pods, round by round. */
  readonly costs: number[];
  idleCpu: number;
  idleMemory: number;
  /** CPU seconds for many objects, and bytes with them in the cache. */
  fullCpu: number;
  fullMemory: number;
}

type Operators = ReadonlyMap<string, RunningPeer>;

export async function measure({ quick, log, signal }: MeasureOptions): Promise<Measurement[]> {
  const sizes = quick ? QUICK : FULL;
  for (const peer of [ours, ...peers]) await peer.build({ log, signal });
  await buildInformer({ log, signal });
  await using cluster = await startCluster({ name: "bench-runtime", nodes: 0, signal });
  const { kubeconfig } = cluster;
  const runtimes: readonly Workplace[] = [ours, ...peers, floor];
  await apply(kubeconfig, runtimes.flatMap(manifests), signal);
  const operators = new Map<string, RunningPeer>();
  const found = new Map(runtimes.map(({ name }) => [name, nothingFound()]));
  const stage = await Stage.open(kubeconfig);
  try {
    for (const peer of [ours, ...peers]) {
      log(`starting ${peer.name}`);
      operators.set(peer.name, await peer.start({ kubeconfig, signal }));
    }
    await measureIdle(operators, found, sizes, { log, signal });
    await measureTurns(stage, runtimes, operators, found, sizes, { log, signal });
    await measureMemory(stage, operators, found, sizes, { log, signal });
    const fills = await measureColdStart(stage, kubeconfig, sizes, { log, signal });
    return [...comparisons(found, sizes), ...coldStarts(fills, sizes)];
  } finally {
    await stage.close();
    await Promise.all(Array.from(operators.values(), (operator) => operator.stop()));
  }
}

type Sizes = typeof FULL;
type Telling = Pick<MeasureOptions, "log" | "signal">;

const nothingFound = (): Found => ({
  latencies: [],
  rates: [],
  costs: [],
  idleCpu: 0,
  idleMemory: 0,
  fullCpu: 0,
  fullMemory: 0,
});

async function measureIdle(
  operators: Operators,
  found: ReadonlyMap<string, Found>,
  { settle }: Sizes,
  { log, signal }: Telling,
): Promise<void> {
  log("idle");
  await sleep(settle, signal); // the API server and its controllers get to know the new kinds
  const before = usages(operators);
  await sleep(settle, signal);
  for (const [name, { cpuSeconds, residentBytes }] of usages(operators)) {
    const of = found.get(name) as Found;
    of.idleCpu = ((cpuSeconds - (before.get(name) as Usage).cpuSeconds) * 60_000) / settle;
    of.idleMemory = residentBytes;
  }
}

/** One at a time, then many at once; the runtimes take turns. */
async function measureTurns(
  stage: Stage,
  runtimes: readonly Workplace[],
  operators: Operators,
  found: ReadonlyMap<string, Found>,
  { warmUp, latencies, rounds, batch }: Sizes,
  { log, signal }: Telling,
): Promise<void> {
  const random = new SeededRandom("turns");
  for (const runtime of runtimes) {
    log(`warming up ${runtime.name}`);
    await stage.many(runtime, names("warm", warmUp), signal);
  }
  for (let i = 0; i < latencies; i++) {
    if (i % 50 === 0) log(`one at a time, ${i} of ${latencies}`);
    for (const runtime of shuffled(runtimes, random)) {
      await sleep(PAUSE_MS, signal);
      found.get(runtime.name)?.latencies.push(await stage.one(runtime, `one-${i}`));
    }
  }
  for (const runtime of runtimes) await stage.clear(runtime, signal);
  for (let round = 1; round <= rounds; round++) {
    for (const runtime of shuffled(runtimes, random)) {
      await sleep(BREATHER_MS, signal);
      const pids = operators.get(runtime.name)?.pids ?? [];
      const before = usage(pids).cpuSeconds;
      const rate = (batch / (await stage.many(runtime, names(`round-${round}`, batch), signal))) * 1000;
      log(`${batch} at once, round ${round} of ${rounds}: ${runtime.name} ${rate.toFixed(0)}/s`);
      found.get(runtime.name)?.rates.push(rate);
      found.get(runtime.name)?.costs.push(((usage(pids).cpuSeconds - before) * 1000) / batch);
      await stage.clear(runtime, signal);
    }
  }
}

/** Many objects for one after the other; whoever was measured ends, so as not to watch the others' Pods. */
async function measureMemory(
  stage: Stage,
  operators: Operators,
  found: ReadonlyMap<string, Found>,
  { objects, settle }: Sizes,
  { log, signal }: Telling,
): Promise<void> {
  // The last one watches all namespaces: it goes first, before there are others' Pods to watch.
  for (const [name, operator] of [...operators].reverse()) {
    log(`${objects} objects for ${name}`);
    const before = usage(operator.pids).cpuSeconds;
    await stage.many(workplace(name), names("many", objects), AbortSignal.any([signal, operator.died]));
    await sleep(settle, signal);
    const { cpuSeconds, residentBytes } = usage(operator.pids);
    Object.assign(found.get(name) as Found, { fullCpu: cpuSeconds - before, fullMemory: residentBytes });
    await operator.stop();
  }
}

/** Who fills an informer: us, client-go in its two ways, and somebody who only reads what we read. */
type Filler = "ours" | "client-go" | "client-go, JSON" | "the stream alone";
type Fills = Readonly<Record<Filler, FilledInformer[]>>;

async function measureColdStart(
  stage: Stage,
  kubeconfig: string,
  { pods, objects, fills, settle }: Sizes,
  { log, signal }: Telling,
): Promise<Fills> {
  const missing = Math.max(0, pods - objects * (peers.length + 1));
  log(`${pods} pods: ${missing} are missing`);
  await stage.many(floor, names("fill", missing), signal);
  await sleep(settle, signal);
  const fillers: Record<Filler, () => Promise<FilledInformer>> = {
    ours: () => fillOurs("informer", { kubeconfig, signal }),
    "client-go": () => fillInformer({ kubeconfig, signal }),
    "client-go, JSON": () => fillInformer({ kubeconfig, signal, contentType: "json" }),
    "the stream alone": () => fillOurs("stream", { kubeconfig, signal }),
  };
  const filled: Fills = { ours: [], "client-go": [], "client-go, JSON": [], "the stream alone": [] };
  const random = new SeededRandom("fills");
  await fillers["the stream alone"](); // the first after so many writes has it harder
  for (let fill = 1; fill <= fills; fill++) {
    for (const filler of shuffled(Object.keys(filled) as Filler[], random)) {
      const found = await fillers[filler]();
      log(`informer on all pods, ${fill} of ${fills}: ${filler} ${found.seconds.toFixed(2)} s`);
      filled[filler].push(found);
    }
  }
  return filled;
}

/** One figure for all runtimes: how to get it, and what is wanted of ours beside whom. */
interface Figure {
  readonly measure: string;
  readonly unit: string;
  readonly of: (found: Found) => number;
  readonly targets?: Readonly<Record<string, Target>>;
  /** Whether the floor has it: it has no process of its own. */
  readonly floor?: boolean;
}

const figures = ({ batch, objects }: Sizes): readonly Figure[] => [
  {
    measure: "one at a time, p50",
    unit: "ms",
    of: ({ latencies }) => median(latencies),
    targets: { "controller-runtime": { of: "ratio", atMost: 1 } },
    floor: true,
  },
  {
    measure: `${batch} at once`,
    unit: "Pods/s",
    of: ({ rates }) => median(rates),
    targets: { "controller-runtime": { of: "ratio", atLeast: 1 }, kopf: { of: "ratio", atLeast: 5 } },
    floor: true,
  },
  { measure: `CPU for ${batch} Pods`, unit: "s", of: ({ costs }) => (median(costs) * batch) / 1000 },
  { measure: "CPU when idle", unit: "s/min", of: ({ idleCpu }) => Math.max(idleCpu, 0.02) }, // the clock's own step
  { measure: "memory when idle", unit: "MiB", of: ({ idleMemory }) => idleMemory / 2 ** 20 },
  { measure: `CPU for ${objects} objects`, unit: "s", of: ({ fullCpu }) => fullCpu },
  {
    measure: `memory with ${objects} objects`,
    unit: "MiB",
    of: ({ fullMemory }) => fullMemory / 2 ** 20,
    targets: { "controller-runtime": { of: "ratio", atMost: 1.5 } },
  },
];

function comparisons(found: ReadonlyMap<string, Found>, sizes: Sizes): Measurement[] {
  const mine = found.get("ours") as Found;
  return figures(sizes).flatMap(({ measure, unit, of, targets = {}, floor: withFloor = false }) =>
    [...peers, ...(withFloor ? [floor] : [])].map(({ name }): Measurement => {
      const target = targets[name];
      const figure = { measure, unit, ours: of(mine), peer: of(found.get(name) as Found), peerName: name };
      return target ? { ...figure, target } : figure;
    }),
  );
}

function coldStarts(fills: Fills, { pods }: Sizes): Measurement[] {
  const seconds = (filler: Filler) => median(fills[filler].map((filled) => filled.seconds));
  const memory = (filler: Filler) => median(fills[filler].map(({ residentBytes }) => residentBytes / 2 ** 20));
  const start = { measure: `informer on ${pods} pods, cold start`, unit: "s", ours: seconds("ours") };
  const compared = (peerName: Filler) => ({ ...start, peer: seconds(peerName), peerName });
  return [
    { ...compared("client-go"), target: { of: "ratio", atMost: 1.5 } },
    compared("client-go, JSON"),
    compared("the stream alone"),
    {
      measure: `informer on ${pods} pods, memory`,
      unit: "MiB",
      ours: memory("ours"),
      peer: memory("client-go"),
      peerName: "client-go",
    },
  ];
}

function usages(operators: Operators): Map<string, Usage> {
  return new Map(Array.from(operators, ([name, { pids }]) => [name, usage(pids)]));
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
