/**
 * The operator with much to do: as many executors as there are slots, in jobs of four, on testbeds of growing size. What it
 * costs in processor time, memory and writes, and how that grows.
 *
 * On a real control plane with KWOK nodes; the operator is a process of its own, with its own rights. Writes are counted in
 * the API server's audit log.
 */
import { stopwatch } from "@berth/cluster";
import { coreV1, Informer } from "@berth/kube";
import { BatchJob, Scheduling } from "@berth/model";
import { buildOperator, OPERATOR_ACCOUNT, peakBytes, startOperator } from "./operator/operator-process.ts";
import { NAMESPACE, Site, SLOTS_PER_NODE } from "./operator/site.ts";
import { leastWrites, total, type Writes, writesIn } from "./operator/writes.ts";
import type { Measurement, MeasureOptions } from "./report.ts";
import type { PeerProcess } from "./runtime/peer-process.ts";
import { usage } from "./runtime/process-usage.ts";

/** So many nodes, and so many jobs. */
const SIZES = [100, 300, 1000];
const QUICK_SIZES = [10, 30];

/** Of a job: as many as a node has slots, so that all jobs together fill all nodes. */
const EXECUTORS = SLOTS_PER_NODE;
const SCHEDULINGS = 4;
const RUN_TIME = "5s";

/** What was found out about one size. */
interface Found {
  readonly size: number;
  /** Until all slots are free for the first time. */
  readonly setup: { readonly seconds: number; readonly cpuSeconds: number };
  /** From the Schedulings until the last executor is bound, the last job has completed, and all slots are free again. */
  readonly bound: number;
  readonly completed: number;
  readonly settled: number;
  /** From the Schedulings until all slots are free again. */
  readonly cpuSeconds: number;
  readonly writes: Writes;
  readonly refused: number;
  readonly peakBytes: number;
}

export async function measure({ quick, sizes, log, signal }: MeasureOptions): Promise<Measurement[]> {
  await buildOperator();
  const found: Found[] = [];
  for (const size of sizes ?? (quick ? QUICK_SIZES : SIZES)) found.push(await run(size, { log, signal }));
  return figures(found);
}

/** @param start - Default: the operator as it would be in a cluster. */
export async function run(
  size: number,
  { log, signal }: Pick<MeasureOptions, "log" | "signal">,
  start = startOperator,
): Promise<Found> {
  log(`${size} nodes, ${size} jobs: starting`);
  const own = { level: "Metadata", users: [OPERATOR_ACCOUNT], verbs: ["create", "update", "patch", "delete"] };
  const audit = { rules: [own, { level: "None" }] };
  await using site = await Site.open({ name: `bench-scale-${process.pid}`, nodes: size, audit, signal });
  const elapsed = stopwatch();
  const operator = start({ kubeconfig: site.operatorKubeconfig, signal });
  try {
    await site.createTestbed();
    await site.allFree(operator.died);
    const setup = { seconds: elapsed() / 1000, cpuSeconds: usage([operator.pid]).cpuSeconds };
    log(`${site.slots} slots after ${setup.seconds.toFixed(1)} s, of which ${setup.cpuSeconds} s CPU`);
    return { size, setup, ...(await runJobs(site, size, operator, log)) };
  } finally {
    await operator.stop();
  }
}

async function runJobs(
  site: Site,
  count: number,
  { pid, died }: PeerProcess,
  log: (line: string) => void,
): Promise<Omit<Found, "size" | "setup">> {
  const { client, cluster } = site;
  await using progress = await Progress.open(site);
  const names = Array.from({ length: count }, (_, index) => `job-${index}`);
  await site.each(names, (name) => client.create(BatchJob, batchJob(name)));
  await site.until("jobs that are ready", () => progress.jobs("Ready") === count, died);

  const written = cluster.readAudit().length;
  const { cpuSeconds } = usage([pid]);
  const elapsed = stopwatch();
  const seconds = () => elapsed() / 1000;
  for (let index = 0; index < SCHEDULINGS; index++) {
    const share = names.filter((_, job) => job % SCHEDULINGS === index);
    await client.create(Scheduling, scheduling(`scheduling-${index}`, share));
  }
  await site.until("executors that are bound", () => progress.bound === count * EXECUTORS, died);
  const bound = seconds();
  log(`all are bound after ${bound.toFixed(1)} s`);
  await site.until("jobs that have completed", () => progress.jobs("Completed") === count, died);
  const completed = seconds();
  log(`all have completed after ${completed.toFixed(1)} s`);
  await site.until("Schedulings that are over", () => areOver(site), died);
  await site.allFree(died);
  const { done: writes, refused } = writesIn(cluster.readAudit().slice(written));
  return {
    ...{ bound, completed, settled: seconds(), writes, refused },
    cpuSeconds: usage([pid]).cpuSeconds - cpuSeconds,
    peakBytes: peakBytes(pid),
  };
}

/** How far executors and jobs have come, by watches. */
class Progress implements AsyncDisposable {
  readonly #pods: Informer<coreV1.Pod>;
  readonly #jobs: Informer<BatchJob>;
  readonly #bound = new Set<string>();

  private constructor({ client }: Site) {
    // They are thousands: only what is asked for is kept.
    this.#pods = new Informer(client, coreV1.Pod, {
      namespace: NAMESPACE,
      labelSelector: "berth.dev/role=executor",
      freeze: false,
      project: ({ metadata: { namespace = "", name = "", uid = "", resourceVersion = "" }, spec }) => ({
        metadata: { namespace, name, uid, resourceVersion },
        spec: { containers: [], nodeName: spec?.nodeName ?? "" },
      }),
    });
    const see = ({ metadata, spec }: coreV1.Pod) => {
      if (spec?.nodeName) this.#bound.add(metadata.uid ?? "");
    };
    this.#pods.addEventHandler({ onAdd: see, onUpdate: (_, pod) => see(pod) });
    this.#jobs = new Informer(client, BatchJob, { namespace: NAMESPACE, freeze: false });
  }

  static async open(site: Site): Promise<Progress> {
    const progress = new Progress(site);
    await Promise.all([progress.#pods.start().waitForSync(), progress.#jobs.start().waitForSync()]);
    return progress;
  }

  /** How many executors have ever got a node. */
  get bound(): number {
    return this.#bound.size;
  }

  /** How many jobs are in a phase. */
  jobs(phase: string): number {
    return this.#jobs.list().filter(({ status }) => status?.phase === phase).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#pods.stop(), this.#jobs.stop()]);
  }
}

async function areOver({ client }: Site): Promise<boolean> {
  const { items } = await client.list(Scheduling, { namespace: NAMESPACE });
  return items.every(({ status }) => status?.phase === "Completed");
}

function figures(found: readonly Found[]): Measurement[] {
  const [first, last] = [found[0] as Found, found.at(-1) as Found];
  const executors = ({ size }: Found) => size * EXECUTORS;
  const each: Figure[] = [
    { measure: "CPU for an executor", unit: "ms", of: (one) => (one.cpuSeconds * 1000) / executors(one) },
    { measure: "CPU to set up a slot", unit: "ms", of: (one) => (one.setup.cpuSeconds * 1000) / executors(one) },
    { measure: "peak memory", unit: "MiB", of: (one) => one.peakBytes / 2 ** 20 },
    { measure: "writes for a job of 4", unit: "writes", of: (one) => total(one.writes) / one.size },
    { measure: "until all are bound", unit: "s", of: ({ bound }) => bound },
    { measure: "until all have completed", unit: "s", of: ({ completed }) => completed },
  ];
  const rows = each.flatMap(({ measure, unit, of }) =>
    found.map((one): Measurement => {
      const figure = { measure: `${measure}, ${one.size} nodes`, unit, ours: of(one) };
      return one === first ? figure : { ...figure, peer: of(first), peerName: `ours, ${first.size} nodes` };
    }),
  );
  return [...rows, ...(first === last ? [] : growth(first, last)), ...kinds(last)];
}

interface Figure {
  readonly measure: string;
  readonly unit: string;
  readonly of: (found: Found) => number;
}

/** The power of the size that something grows with: 1 is in proportion to it, 2 its square. */
function growth(first: Found, last: Found): Measurement[] {
  const power = (of: (found: Found) => number) => Math.log(of(last) / of(first)) / Math.log(last.size / first.size);
  const all: (readonly [string, (found: Found) => number])[] = [
    ["CPU", ({ cpuSeconds }) => cpuSeconds],
    ["writes", ({ writes }) => total(writes)],
    ["the time until all are bound", ({ bound }) => bound],
    ["the time until all have completed", ({ completed }) => completed],
  ];
  return all.map(([what, of]) => ({
    measure: `growth of ${what}, ${first.size} to ${last.size} nodes`,
    unit: "exponent",
    ours: power(of),
    target: { of: "ours", atMost: 1.2 },
  }));
}

/** What was written for a job, beside the least that there is to write. */
function kinds({ size, writes, refused }: Found): Measurement[] {
  const least = leastWrites(EXECUTORS);
  const kinds = [...new Set([...least.keys(), ...writes.keys()])];
  return [
    ...kinds.map((kind): Measurement => {
      const figure = {
        measure: `${kind}, for a job of 4, ${size} nodes`,
        unit: "writes",
        ours: (writes.get(kind) ?? 0) / size,
      };
      const peer = least.get(kind);
      return peer === undefined ? figure : { ...figure, peer, peerName: "the least" };
    }),
    {
      measure: `all writes, for a job of 4, ${size} nodes`,
      ...{ unit: "writes", ours: total(writes) / size, peer: total(least), peerName: "the least" },
      target: { of: "ratio", atMost: 1.25 },
    },
    { measure: `refused writes, for a job of 4, ${size} nodes`, unit: "writes", ours: refused / size },
  ];
}

function batchJob(name: string): BatchJob {
  const annotations = { "berth.dev/run-time": RUN_TIME };
  const containers = [{ name: "main", image: "example.org/work:1" }];
  return {
    metadata: { namespace: NAMESPACE, name },
    spec: { jobSpec: { template: { metadata: { annotations }, spec: { containers } } } },
  };
}

/** Each of the jobs with all of its executors, one after the other. */
function scheduling(name: string, jobs: readonly string[]) {
  const queueBased = jobs.flatMap((job) => Array.from({ length: EXECUTORS }, () => ({ name: job })));
  return { metadata: { namespace: NAMESPACE, name }, spec: { testbed: { name: "main" }, queueBased } };
}
