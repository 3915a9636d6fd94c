/**
 * The simulated cluster: how many executors live and die in a second, what a node more costs, how much memory it takes, how
 * soon it is ready; and the same executors on a real control plane with KWOK nodes.
 *
 * All of our own side runs on one core, in a process of its own, bundled and with Node's compile cache, as a program that is
 * installed has it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Cluster, startCluster, stopwatch } from "@berth/cluster";
import { HttpTransport, loadConnection, WallClock } from "@berth/kube";
import { rolldown } from "rolldown";
import type { Measurement, MeasureOptions } from "./report.ts";
import { benchCache } from "./runtime/peer-build.ts";
import { liveAndDie } from "./sim/life-cycles.ts";

interface Sizes {
  /** Numbers of nodes for the curve. */
  readonly nodes: readonly number[];
  readonly pods: number;
  readonly atOnce: number;
  readonly memory: { readonly nodes: number; readonly pods: number };
  readonly realPods: number;
  /** Of which the best counts: it is the same work each time, and what takes longer is the machine's doing. */
  readonly runs: number;
}

const SIZES: Sizes = {
  nodes: [10, 100, 1000, 5000],
  pods: 10_000,
  atOnce: 256,
  memory: { nodes: 5000, pods: 20_000 },
  realPods: 1000,
  runs: 5,
};
const QUICK: Sizes = {
  ...SIZES,
  nodes: [10, 100],
  pods: 1000,
  memory: { nodes: 100, pods: 500 },
  realPods: 100,
  runs: 1,
};

const REAL_NODES = 100;

interface Run {
  /** Milliseconds from the beginning of the process until the cluster takes requests. */
  readonly ready: number;
  readonly seconds: number;
  readonly rss: number;
}

export async function measure({ quick, log, signal }: MeasureOptions): Promise<Measurement[]> {
  const sizes = quick ? QUICK : SIZES;
  const program = await bundled();
  const run = async (...args: (string | number)[]): Promise<Run> => {
    const command = [process.execPath, "--expose-gc", program, ...args.map(String)];
    const env = { ...process.env, NODE_ENV: "production", NODE_COMPILE_CACHE: join(benchCache(), "compiled") };
    const { stdout } = await promisify(execFile)("taskset", ["-c", "0", ...command], { env, signal });
    return JSON.parse(stdout) as Run;
  };
  const { memory, pods, atOnce } = sizes;
  const starts: Run[] = [];
  const rates = new Map<number, number>();
  // All in turn, so that a slow minute of the machine does not fall on one of them alone.
  for (let number = 1; number <= sizes.runs; number++) {
    const turn = `run ${number} of ${sizes.runs}`;
    log(`start, ${turn}`);
    starts.push(await run("start", 0));
    for (const nodes of sizes.nodes) {
      const rate = pods / (await run("lives", nodes, pods, atOnce)).seconds;
      rates.set(nodes, Math.max(rate, rates.get(nodes) ?? 0));
      log(`${pods} life cycles on ${nodes} nodes, ${turn}: ${Math.round(rate)}/s`);
    }
  }
  // How much memory it takes is no matter of chance.
  log(`${memory.nodes} nodes, ${memory.pods} pods`);
  const full = await run("memory", memory.nodes, memory.pods);
  const real = await onRealCluster(sizes, log, signal);
  return figures({ sizes, starts, rates, full, real });
}

interface Real {
  readonly startSeconds: number;
  readonly rate: number;
}

/** The same life cycles on a control plane of real processes. */
async function onRealCluster(
  { realPods, atOnce, runs }: Sizes,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<Real> {
  log(`starting a real control plane with ${REAL_NODES} KWOK nodes`);
  const started = stopwatch();
  await using cluster: Cluster = await startCluster({ name: `bench-sim-${process.pid}`, nodes: REAL_NODES, signal });
  const startSeconds = started() / 1000;
  const transport = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  const nodes = (await cluster.api.list("/api/v1/nodes")).map(({ metadata }) => metadata.name);
  const rates: number[] = [];
  for (let run = 1; run <= runs; run++) {
    log(`${realPods} life cycles on the real control plane, run ${run} of ${runs}`);
    const lived = stopwatch();
    await liveAndDie({ transport, clock: new WallClock(), nodes, pods: realPods, atOnce });
    rates.push(realPods / (lived() / 1000));
  }
  await transport.close();
  return { startSeconds, rate: Math.max(...rates) };
}

interface Found {
  readonly sizes: Sizes;
  readonly starts: readonly Run[];
  /** By number of nodes. */
  readonly rates: ReadonlyMap<number, number>;
  readonly full: Run;
  readonly real: Real;
}

function figures({ sizes: { nodes, memory }, starts, rates, full, real }: Found): Measurement[] {
  const rate = (count: number) => rates.get(count) as number;
  const fewest = nodes[0] as number;
  const typical = nodes.at(-2) as number;
  return [
    {
      measure: `executor life cycles, ${typical} nodes`,
      unit: "1/s",
      ours: rate(typical),
      peer: real.rate,
      peerName: `real, ${REAL_NODES} KWOK nodes`,
      target: { of: "ours", atLeast: 2000 },
    },
    ...nodes.map((count) => ({
      measure: `a life cycle, ${count} nodes`,
      unit: "µs",
      ours: 1e6 / rate(count),
      peer: 1e6 / rate(fewest),
      peerName: `ours, ${fewest} nodes`,
      target: { of: "ratio", atMost: 1.25 } as const,
    })),
    {
      measure: `memory, ${memory.nodes} nodes and ${memory.pods} pods`,
      unit: "MiB",
      ours: full.rss / 2 ** 20,
      target: { of: "ours", atMost: 1024 },
    },
    {
      measure: "start of the process to ready",
      unit: "ms",
      ours: Math.min(...starts.map(({ ready }) => ready)),
      peer: real.startSeconds * 1000,
      peerName: `real, ${REAL_NODES} KWOK nodes`,
      target: { of: "ours", atMost: 300 },
    },
  ];
}

async function bundled(): Promise<string> {
  const dir = join(benchCache(), "ours-sim");
  const input = join(import.meta.dirname, "sim/program.ts");
  // Files that are read at run time come along.
  const experimental = { resolveNewUrlToAsset: true };
  await using bundle = await rolldown({ input, platform: "node", logLevel: "warn", experimental });
  await bundle.write({ dir, entryFileNames: "program.mjs", format: "esm", minify: true });
  return join(dir, "program.mjs");
}
