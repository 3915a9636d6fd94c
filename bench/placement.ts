/**
 * Executors from the gate to their nodes: those of Berth, by Gate and by Extender, for whom ghosts have to make room, beside
 * ordinary pods that are pinned to empty nodes. All of them come from a Job, behind a gate, and are let in as they come.
 *
 * "Bare" is the least that Gate can take: somebody who has nothing else to do deletes a ghost for each pod, and lets it in.
 *
 * On one control plane with KWOK nodes, in turn. What happens is told by a watch, and not by those who did it.
 */
import { dirname, join } from "node:path";
import { freePort, sleep, stopwatch } from "@berth/cluster";
import { batchV1, Client, coreV1, HttpTransport, keyOf, loadConnection, type Random, SeededRandom } from "@berth/kube";
import { BatchJob, Scheduling, Slot } from "@berth/model";
import { schedulerConfiguration } from "@berth/operator";
import { buildOperator, startOperator } from "./operator/operator-process.ts";
import { PodWatch, type SeenPod } from "./operator/pod-watch.ts";
import { NAMESPACE, Site, SLOTS_PER_NODE, slotSize } from "./operator/site.ts";
import { type Measurement, type MeasureOptions, percentile } from "./report.ts";
import type { PeerProcess } from "./runtime/peer-process.ts";
import { ownCpuSeconds } from "./runtime/process-usage.ts";
import { shuffled } from "./turns.ts";

/** How many executors. */
const SIZES = [80, 1000];
const QUICK_SIZES = [20];

/**
 * How often each side has its turn, and how many rounds it has then. Each round has a partner, ordinary pods right before or after it: a
 * machine may be a third slower a few minutes later, but hardly so in between. The pair in the middle, by its ratio, counts.
 */
const TURNS = 3;
/** Those that have no target. */
const TURNS_OF_OTHERS = 1;
const roundsOf = (executors: number) => (executors > 500 ? 1 : 3);

/** So many are placed before anything is measured: connections are open then, and code is compiled, as it is when somebody has run for a day. */
const WARM_UP = 300;

/**
 * Garbage is collected, nodes have tidied up, statuses are written: what was before is over when everybody together has used so
 * little of one processor for so long. Whoever comes next would otherwise be measured with the work of the one before.
 */
const AT_REST = { share: 0.2, forMs: 3000, withinMs: 120_000 };

const SCHEDULER = "berth";
const SCHEDULER_COMPONENT = `kube-scheduler-${SCHEDULER}`;
const GATE = "example.org/gate";

const SIDES = ["gate", "extender", "bare"] as const;
type Side = (typeof SIDES)[number];

/** How it went with all pods of one round. */
interface Round {
  readonly milliseconds: number;
  /** From its coming to its node, pod by pod. */
  readonly latencies: readonly number[];
  readonly misplaced: number;
  /** Pods that a scheduler could not place when it first tried. */
  readonly failed: number;
  /** What everybody has worked meanwhile, by name: the control plane, the operator, and we. */
  readonly cpuSeconds: Readonly<Record<string, number>>;
}

/** A round of ours, and one of ordinary pods beside it. */
interface Pair {
  readonly ours: Round;
  readonly ordinary: Round;
}

type Found = Readonly<Record<Side, Pair[]>>;

export async function measure({ quick, sizes, log, signal }: MeasureOptions): Promise<Measurement[]> {
  await buildOperator();
  const measurements: Measurement[] = [];
  for (const executors of sizes ?? (quick ? QUICK_SIZES : SIZES)) {
    const [turns, rounds] = quick ? [1, 1] : [TURNS, roundsOf(executors)];
    const found: Found = { gate: [], extender: [], bare: [] };
    await using hall = await Hall.open(executors, { log, signal });
    const random = new SeededRandom("turns");
    for (let turn = 1; turn <= turns; turn++) {
      for (const side of shuffled(SIDES, random)) {
        if (side !== "gate" && turn > TURNS_OF_OTHERS) continue;
        const pairs = await hall.place(side, rounds, random);
        for (const { ours, ordinary } of pairs) {
          log(`${executors} at once, turn ${turn} of ${turns}`);
          for (const [who, round] of Object.entries({ [side]: ours, ordinary })) log(`  ${who} ${inWords(round)}`);
        }
        found[side].push(...pairs);
      }
    }
    measurements.push(...figures(executors, found));
  }
  return measurements;
}

/** A cluster with a testbed, as many nodes without one, and a second kube-scheduler that asks the operator. */
class Hall implements AsyncDisposable {
  readonly #site: Site;
  /** Where the extender listens. */
  readonly #port: number;
  /** With the operator's rights and connections: whoever places ordinary pods has it no easier. */
  readonly #placer: Client;
  /** Where the slots are. */
  readonly #nodeOf = new Map<number, string>();
  readonly #signal: AbortSignal;
  #jobs = 0;

  private constructor(site: Site, port: number, signal: AbortSignal) {
    this.#site = site;
    this.#port = port;
    this.#signal = signal;
    this.#placer = new Client(new HttpTransport(loadConnection({ kubeconfig: site.operatorKubeconfig })));
  }

  static async open(executors: number, { log, signal }: Pick<MeasureOptions, "log" | "signal">): Promise<Hall> {
    const nodes = Math.ceil(executors / SLOTS_PER_NODE);
    log(`a control plane with ${nodes} nodes that are full of ghosts, and ${nodes} that are empty`);
    const site = await Site.open({ name: `bench-placement-${process.pid}`, nodes, plainNodes: nodes, signal });
    const hall = new Hall(site, await freePort(), signal);
    try {
      await hall.#prepare();
      return hall;
    } catch (error) {
      await hall[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    const { client, cluster } = this.#site;
    const url = `https://127.0.0.1:${this.#port}`;
    const tls = { caFile: this.#file("ca.crt"), certFile: this.#file("admin.crt"), keyFile: this.#file("admin.key") };
    const configuration = schedulerConfiguration({ schedulerName: SCHEDULER, url, tls });
    await cluster.startScheduler(SCHEDULER, configuration as Record<string, unknown>, this.#signal);
    await cluster.kill(SCHEDULER_COMPONENT); // nobody has a second one who does not need it
    await this.#site.createTestbed();
    await this.#withOperator("gate", (operator) => this.#site.allFree(operator.died));
    const { items } = await client.list(Slot, { namespace: NAMESPACE });
    for (const { spec } of items) this.#nodeOf.set(spec.position, spec.nodeName);
  }

  /** Some to warm up, then all of them, so many times. */
  async place(side: Side, rounds: number, random: Random): Promise<Pair[]> {
    if (side === "bare") return this.#pairs(rounds, random, (count) => this.#bare(count), undefined);
    // The operator runs beside ordinary pods as well, as in any cluster that has it, and is not concerned.
    const work = () =>
      this.#withOperator(side, (operator) =>
        this.#pairs(rounds, random, (count) => this.#executors(count, operator), operator),
      );
    if (side === "gate") return work();
    await this.#site.cluster.restart(SCHEDULER_COMPONENT);
    try {
      return await work();
    } finally {
      await this.#site.cluster.kill(SCHEDULER_COMPONENT);
    }
  }

  async #pairs(
    rounds: number,
    random: Random,
    ours: (count: number) => Promise<Round>,
    operator: PeerProcess | undefined,
  ): Promise<Pair[]> {
    const ordinary = (count: number) => this.#ordinary(count, operator, []);
    const { slots } = this.#site;
    for (let left = WARM_UP; left > 0; left -= slots) {
      await ours(Math.min(left, slots));
      await ordinary(Math.min(left, slots));
    }
    const pairs: Pair[] = [];
    while (pairs.length < rounds) {
      const pair = new Map<unknown, Round>();
      for (const side of shuffled([ours, ordinary], random)) {
        await this.#atRest(operator);
        pair.set(side, await side(slots));
      }
      pairs.push({ ours: pair.get(ours) as Round, ordinary: pair.get(ordinary) as Round });
    }
    return pairs;
  }

  /** The operator makes the ghosts, before and after, and is gone meanwhile. */
  async #bare(count: number): Promise<Round> {
    const selected = { namespace: NAMESPACE, labelSelector: "berth.dev/role=ghost" };
    const ghosts = await this.#site.client.list(coreV1.Pod, selected);
    const round = await this.#ordinary(count, undefined, ghosts.items);
    await this.#withOperator("gate", (operator) => this.#site.allFree(operator.died));
    return round;
  }

  /** Waits until nobody has anything to do any more. */
  async #atRest(operator: PeerProcess | undefined): Promise<void> {
    const elapsed = stopwatch();
    for (let share = 1; share > AT_REST.share && elapsed() < AT_REST.withinMs; ) {
      const used = this.#cpuSince(operator);
      await sleep(AT_REST.forMs, this.#signal);
      share = (total(used()) * 1000) / AT_REST.forMs;
    }
  }

  async #executors(count: number, operator: PeerProcess): Promise<Round> {
    const { client } = this.#site;
    const name = `executors-${++this.#jobs}`;
    const key = { namespace: NAMESPACE, name };
    await using watch = await PodWatch.open(client, ofJob(`${name}-1`));
    const cpuSeconds = this.#cpuSince(operator);
    await client.create(BatchJob, { metadata: key, spec: { jobSpec: { template: template({}) } } });
    const slots = [...this.#nodeOf.keys()].slice(0, count);
    await client.create(Scheduling, {
      metadata: key,
      spec: { testbed: { name: "main" }, slotBased: [{ name, slots }] },
    });
    const nodeOf = ({ slot }: SeenPod) => (slot === undefined ? undefined : this.#nodeOf.get(slot));
    const round = { ...(await this.#allPlaced(watch, count, nodeOf, operator)), cpuSeconds: cpuSeconds() };
    await client.delete(Scheduling, key);
    await client.delete(BatchJob, key);
    await this.#site.until("an end", () => watch.present === 0, operator.died);
    await this.#site.allFree(operator.died);
    return round;
  }

  /** @param ghosts - Who have to make room; none: the pods go to empty nodes. */
  async #ordinary(count: number, operator: PeerProcess | undefined, ghosts: readonly coreV1.Pod[]): Promise<Round> {
    const { client } = this.#site;
    const name = `ordinary-${++this.#jobs}`;
    const targets = new Map<string, string>();
    const letIn = async ({ name }: SeenPod) => {
      const ghost = ghosts[targets.size];
      const node = ghost?.spec?.nodeName ?? `plain-${Math.floor(targets.size / SLOTS_PER_NODE)}`;
      targets.set(name, node);
      if (ghost) await this.#placer.delete(coreV1.Pod, keyOf(ghost), { gracePeriodSeconds: 0 });
      await this.#placer.patch(coreV1.Pod, { namespace: NAMESPACE, name }, { merge: pinned(node) });
    };
    const failed = new AbortController();
    const onSeen = (pod: SeenPod) => void letIn(pod).catch((error) => failed.abort(error));
    await using watch = await PodWatch.open(client, { ...ofJob(name), onSeen });
    const cpuSeconds = this.#cpuSince(operator);
    await client.create(batchV1.Job, {
      metadata: { namespace: NAMESPACE, name },
      spec: {
        ...{ completions: count, parallelism: count, completionMode: "Indexed", backoffLimit: 0 },
        template: template({ schedulingGates: [{ name: GATE }], restartPolicy: "Never" }),
      },
    });
    const placed = await this.#allPlaced(watch, count, ({ name }) => targets.get(name), { died: failed.signal });
    const round = { ...placed, cpuSeconds: cpuSeconds() };
    await client.delete(batchV1.Job, { namespace: NAMESPACE, name }, { propagationPolicy: "Background" });
    await this.#site.until("an end", () => watch.present === 0);
    return round;
  }

  async #allPlaced(
    watch: PodWatch,
    count: number,
    nodeOf: (pod: SeenPod) => string | undefined,
    { died }: Pick<PeerProcess, "died">,
  ): Promise<Omit<Round, "cpuSeconds">> {
    await this.#site.until("pods on nodes", () => watch.bound >= count, died);
    const { pods, milliseconds } = watch;
    return {
      milliseconds,
      latencies: pods.map(({ came, bound = Number.NaN }) => bound - came),
      misplaced: pods.filter((pod) => pod.node !== nodeOf(pod)).length,
      failed: pods.filter(({ failed }) => failed).length,
    };
  }

  async #withOperator<T>(side: "gate" | "extender", work: (operator: PeerProcess) => Promise<T>): Promise<T> {
    const extender = [
      ...["--placement", "extender", "--scheduler-name", SCHEDULER, "--extender-port", String(this.#port)],
      ...["--tls-cert", this.#file("server.crt"), "--tls-key", this.#file("server.key")],
      ...["--tls-ca", this.#file("ca.crt")],
    ];
    const operator = startOperator({
      kubeconfig: this.#site.operatorKubeconfig,
      flags: side === "gate" ? [] : extender,
      signal: this.#signal,
    });
    try {
      return await work(operator);
    } finally {
      await operator.stop();
    }
  }

  /** How much the control plane, the operator and we ourselves will have worked since now. */
  #cpuSince(operator: PeerProcess | undefined): () => Round["cpuSeconds"] {
    const { components } = this.#site.cluster;
    const pids = new Map(
      components.flatMap(({ name, pid, alive }) => (alive && pid !== null ? [[name, pid] as const] : [])),
    );
    if (operator) pids.set("operator", operator.pid);
    pids.set("bench", process.pid);
    const before = new Map([...pids].map(([name, pid]) => [name, ownCpuSeconds(pid)]));
    return () =>
      Object.fromEntries([...pids].map(([name, pid]) => [name, ownCpuSeconds(pid) - (before.get(name) ?? 0)]));
  }

  #file(name: string): string {
    return join(dirname(this.#site.cluster.kubeconfig), "pki", name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#placer.transport.close();
    await this.#site[Symbol.asyncDispose]();
  }
}

const names = { gate: "Gate", extender: "Extender", bare: "bare" } as const;

function figures(executors: number, found: Found): Measurement[] {
  const most = (side: Side, of: "misplaced" | "failed") => Math.max(...found[side].map(({ ours }) => ours[of]));
  const none = { of: "ours", atMost: 0 } as const;
  return SIDES.flatMap((side): Measurement[] => {
    const what = side === "bare" ? `${executors}, bare` : `${executors} by ${names[side]}`;
    const { ours, ordinary: peer } = inTheMiddle(found[side]);
    const peerName = "ordinary";
    return [
      {
        measure: `${what}, until all are bound`,
        ...{ unit: "s", ours: ours.milliseconds / 1000, peer: peer.milliseconds / 1000, peerName },
        ...(side === "gate" && { target: { of: "ratio", atMost: 1.5 } }),
      },
      ...[50, 99].map((share) => ({
        measure: `${what}, each, p${share}`,
        ...{ unit: "ms", ours: percentile(ours.latencies, share), peer: percentile(peer.latencies, share), peerName },
      })),
      {
        measure: `${what}, CPU of all for each`,
        unit: "ms",
        ours: (total(ours.cpuSeconds) * 1000) / executors,
        ...{ peer: (total(peer.cpuSeconds) * 1000) / executors, peerName },
      },
      { measure: `${what}, misplaced`, unit: "pods", ours: most(side, "misplaced"), target: none },
      {
        measure: `${what}, failed first attempts`,
        ...{ unit: "pods", ours: most(side, "failed") },
        // By Extender all of them do: kube-scheduler asks whom it may evict when it has tried in vain.
        ...(side !== "extender" && { target: none }),
      },
    ];
  });
}

function inTheMiddle(pairs: readonly Pair[]): Pair {
  const ratio = ({ ours, ordinary }: Pair) => ours.milliseconds / ordinary.milliseconds;
  const sorted = pairs.toSorted((one, other) => ratio(one) - ratio(other));
  return sorted[Math.floor(sorted.length / 2)] as Pair;
}

function inWords({ milliseconds, cpuSeconds }: Round): string {
  const work = Object.entries(cpuSeconds).map(([name, seconds]) => `${name} ${seconds.toFixed(2)}`);
  return `${(milliseconds / 1000).toFixed(2)} s; s of CPU: ${work.join(", ")}`;
}

function total(cpuSeconds: Round["cpuSeconds"]): number {
  return Object.values(cpuSeconds).reduce((sum, seconds) => sum + seconds, 0);
}

/** Pods of a Job. */
function ofJob(name: string) {
  return { namespace: NAMESPACE, labelSelector: `batch.kubernetes.io/job-name=${name}` };
}

/**
 * A pod of a slot's size that runs until it is removed. It takes longer to start than all of them to be placed: nodes are simulated on the same
 * machine, and would start the more of them meanwhile the longer that takes.
 */
function template(spec: Partial<coreV1.PodSpec>): coreV1.PodTemplateSpec {
  const resources = { requests: slotSize };
  return {
    metadata: { annotations: { "berth.dev/run-time": "1h", "berth.dev/start-delay": "1m" } },
    spec: { containers: [{ name: "main", image: "example.org/work:1", resources }], ...spec },
  };
}

/** What the operator writes on an executor as well: lets it go to a node, and nowhere else. */
function pinned(node: string): object {
  const pin = { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] };
  return {
    metadata: { annotations: { "example.org/node": node } },
    spec: {
      schedulingGates: null,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pin] } } },
    },
  };
}
