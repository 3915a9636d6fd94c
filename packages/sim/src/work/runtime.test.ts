import { type batchV1, type coreV1, type KubernetesObject, SeededRandom, VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { Describe } from "./membership.ts";
import { parseWorkModel, type WorkModel } from "./model.ts";
import type { Objects } from "./plain.ts";
import { WorkModelRuntime } from "./runtime.ts";
import { FakeRun } from "./testing/fake-run.ts";

const plain = "kinds: [{ name: a, work: 120 }, { name: b, work: 60 }]";
const rivals = `${plain}
interference: { kinds: { a: { b: 1.5 }, b: { a: 1.25 } } }`;

/** Pods say what they are in labels. */
const byLabels: Describe = ({ metadata: { labels = {}, namespace } }, container, model) => {
  const { app, role, kind: name, manners = "spark", minimum = "1" } = labels;
  const kind = model.kindNamed(name ?? "");
  if (!app || !kind) return undefined;
  return {
    application: app,
    name: `${namespace}/${app.replace(/-run\d+$/, "")}`,
    role: container.name === "main" ? (role as "leader" | "worker") : "companion",
    kind,
    work: kind.work,
    minimum: Number(minimum),
    manners:
      manners === "spark"
        ? { led: true, whenDone: "exit", whenLeaderless: "exit" }
        : { led: true, whenDone: "stay", whenLeaderless: "wait" },
  };
};

interface Shape {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly node?: string;
  readonly containers?: string[];
  readonly owner?: string;
  readonly init?: string[];
}

class Bench {
  readonly clock = new VirtualClock({ start: 0 });
  readonly objects = new Map<string, KubernetesObject>();
  readonly runtime: WorkModelRuntime;
  readonly heard: string[] = [];
  #pods = 0;

  constructor(model: WorkModel | string = plain, seed = "seed") {
    const objects: Objects = { get: ({ kind }, { name }) => this.objects.get(`${kind}/${name}`) as never };
    this.runtime = new WorkModelRuntime({
      clock: this.clock,
      random: new SeededRandom(seed),
      objects,
      model: typeof model === "string" ? parseWorkModel(model) : model,
      describe: [byLabels],
    });
    this.runtime.onChange((key) => this.heard.push(`${key} ${this.runtime.find(key)?.phase}`));
  }

  run(
    { labels, annotations, node = "n1", containers = ["main"], owner, init = [] }: Shape,
    name = containers[0],
  ): FakeRun {
    const uid = `pod-${this.#pods++}`;
    const owners = owner ? [{ apiVersion: "batch/v1", kind: "Job", name: owner, uid: owner, controller: true }] : [];
    const pod: coreV1.Pod = {
      metadata: {
        name: uid,
        uid,
        namespace: "default",
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ownerReferences: owners,
      },
      spec: {
        nodeName: node,
        restartPolicy: "Never",
        containers: containers.map((each) => ({ name: each })),
        initContainers: init.map((each) => ({ name: each })),
      },
    };
    const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
    return new FakeRun(
      this.clock,
      this.runtime,
      pod,
      all.find((each) => each.name === name),
    );
  }

  leader(app: string, more: Record<string, string> = {}): FakeRun {
    return this.run({ labels: { app, role: "leader", kind: "a", ...more } });
  }

  worker(app: string, node: string, more: Record<string, string> = {}): FakeRun {
    return this.run({ labels: { app, role: "worker", kind: "a", ...more }, node });
  }

  async at(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000 - this.clock.now());
  }
}

const ends = (...runs: FakeRun[]) => runs.map(({ end }) => end && [end.at / 1000, end.exitCode]);

describe("an application", () => {
  it("ends when its work is done: n workers take a nth of the time", async () => {
    const bench = new Bench();
    const leader = bench.leader("x");
    const workers = ["n1", "n2", "n3"].map((node) => bench.worker("x", node));
    await bench.at(39);
    expect(bench.runtime.find("x")).toMatchObject({ phase: "working", done: 117, total: 120, workers: 3, since: 0 });
    await bench.clock.runUntilIdle();
    expect(ends(leader, ...workers)).toEqual([
      [40, 0],
      [40, 0],
      [40, 0],
      [40, 0],
    ]);
    expect(bench.heard).toEqual(["x waiting", "x done"]);
    expect(bench.runtime.find("x")).toBeUndefined();
    expect(bench.clock.pending).toBe(0);
  });

  it("begins when its leader is ready, and each worker when it is itself", async () => {
    const bench = new Bench("kinds: [{ name: a, work: 30, overhead: { application: 10, executor: 4, shutdown: 2 } }]");
    const leader = bench.leader("x");
    await bench.at(1);
    const first = bench.worker("x", "n1"); // works from 10 on
    await bench.at(16);
    const second = bench.worker("x", "n2"); // works from 20 on
    await bench.clock.runUntilIdle();
    // 10 are done at 20; the other 20 take 10 for two.
    expect(ends(leader, first, second)).toEqual([
      [32, 0],
      [30, 0],
      [30, 0],
    ]);
  });

  it("is slowed down by its neighbours while they work: the example of docs/reference/work-model.md", async () => {
    const bench = new Bench(rivals);
    const leader = bench.leader("a");
    for (const node of ["n1", "n2"]) bench.worker("a", node);
    await bench.at(10);
    const other = bench.leader("b", { kind: "b" });
    bench.worker("b", "n1", { kind: "b" });
    await bench.clock.runUntilIdle();
    expect(ends(leader, other)).toEqual([
      [70, 0],
      [82, 0],
    ]);
  });

  it("goes on with the workers that are left, and with those that come", async () => {
    const bench = new Bench();
    const leader = bench.leader("x");
    const [first] = ["n1", "n2"].map((node) => bench.worker("x", node));
    await bench.at(30);
    first?.kill(); // 60 are done
    await bench.at(40);
    bench.worker("x", "n3"); // 70 are done
    await bench.clock.runUntilIdle();
    expect(ends(leader)).toEqual([[65, 0]]);
  });

  it("waits while nobody works for it", async () => {
    const bench = new Bench();
    const leader = bench.leader("x");
    const worker = bench.worker("x", "n1");
    await bench.at(60);
    worker.kill();
    await bench.at(1000);
    expect(bench.runtime.find("x")).toMatchObject({ phase: "waiting", done: 60 });
    bench.worker("x", "n1");
    await bench.clock.runUntilIdle();
    expect(ends(leader)).toEqual([[1060, 0]]);
  });

  it("falls with its leader", async () => {
    const bench = new Bench();
    const leader = bench.leader("x");
    const worker = bench.worker("x", "n1");
    await bench.at(5);
    leader.kill();
    await bench.clock.runUntilIdle();
    expect(ends(leader, worker)).toEqual([
      [5, 137],
      [5, 1],
    ]);
    expect(bench.clock.now()).toBe(5000);
  });

  it("fails when it is told to", async () => {
    const bench = new Bench();
    const leader = bench.leader("x");
    const worker = bench.worker("x", "n1");
    await bench.at(5);
    expect(bench.runtime.fail("x", { exitCode: 11 })).toBe(true);
    expect(bench.runtime.fail("x")).toBe(false);
    expect(bench.runtime.fail("y")).toBe(false);
    await bench.clock.runUntilIdle();
    expect(ends(leader, worker)).toEqual([
      [5, 11],
      [5, 1],
    ]);
  });

  it("has nothing left to do for a worker that comes too late", async () => {
    const bench = new Bench("kinds: [{ name: a, work: 10, overhead: { shutdown: 5 } }]");
    bench.leader("x");
    bench.worker("x", "n1");
    await bench.at(12);
    const late = bench.worker("x", "n1");
    await bench.clock.runUntilIdle();
    expect(ends(late)).toEqual([[12, 0]]);
  });

  it("whose leader is nowhere loses its worker after a while", async () => {
    const bench = new Bench();
    const worker = bench.worker("x", "n1");
    await bench.clock.runUntilIdle();
    expect(ends(worker)).toEqual([[120, 1]]);
  });

  it("that never ends runs until somebody ends it", async () => {
    const bench = new Bench("kinds: [{ name: a, work: unbounded }]");
    const leader = bench.leader("x");
    bench.worker("x", "n1");
    await bench.at(1e6);
    expect(bench.runtime.find("x")).toMatchObject({ phase: "working", done: 1e6 });
    leader.kill(143);
    await bench.clock.runUntilIdle();
    expect(bench.clock.pending).toBe(0);
  });

  it("takes other containers of its pods with it", async () => {
    const bench = new Bench("kinds: [{ name: a, work: 10 }]");
    const shape = { labels: { app: "x", role: "worker", kind: "a" }, containers: ["main", "proxy"], init: ["setup"] };
    bench.leader("x");
    const setup = bench.run(shape, "setup");
    const proxy = bench.run(shape, "proxy");
    // The same pod: what is in one pod is known by its uid.
    const main = new FakeRun(bench.clock, bench.runtime, proxy.pod, { name: "main" });
    await bench.clock.runUntilIdle();
    expect(ends(main, proxy, setup)).toEqual([
      [10, 0],
      [10, 0],
      [1, 0],
    ]);
  });
});

describe("an application whose processes stay", () => {
  const flink = { manners: "flink", minimum: "2" };

  it("needs all of its workers, and leaves it to others to remove them", async () => {
    const bench = new Bench();
    const leader = bench.leader("x", flink);
    const first = bench.worker("x", "n1", flink);
    await bench.at(100);
    expect(bench.runtime.find("x")).toMatchObject({ phase: "waiting", done: 0 });
    const second = bench.worker("x", "n2", flink);
    await bench.clock.runUntilIdle();
    expect(bench.clock.now()).toBe(160_000);
    expect(bench.runtime.find("x")).toMatchObject({ phase: "done", done: 120 });
    expect(ends(leader, first, second)).toEqual([undefined, undefined, undefined]);
  });

  it("begins anew with a new leader", async () => {
    const bench = new Bench();
    const leader = bench.leader("x", flink);
    for (const node of ["n1", "n2"]) bench.worker("x", node, flink);
    await bench.at(50);
    leader.kill();
    await bench.at(60);
    expect(bench.runtime.find("x")).toMatchObject({ phase: "starting", done: 0 });
    bench.leader("x", flink);
    await bench.clock.runUntilIdle();
    expect(bench.clock.now()).toBe(120_000);
    expect(bench.heard.at(-1)).toBe("x done");
  });

  it("can fail and stay", async () => {
    const bench = new Bench();
    const leader = bench.leader("x", flink);
    expect(bench.runtime.fail("x")).toBe(true);
    await bench.clock.runUntilIdle();
    expect(bench.runtime.find("x")?.phase).toBe("failed");
    expect(ends(leader)).toEqual([undefined]);
  });
});

describe("chance", () => {
  const varied = "kinds: [{ name: a, work: 100, variation: { cv: 0.5 }, failures: { executor: 0.5 } }]";

  /** When applications end, each on a node of its own, started in some order. */
  async function endsOf(names: readonly string[], seed: string): Promise<Record<string, unknown>> {
    const bench = new Bench(varied, seed);
    const leaders = names.map((name) => {
      const leader = bench.leader(name);
      for (const index of [1, 2, 3]) bench.worker(name, `${name}-${index}`);
      return [name, leader] as const;
    });
    await bench.clock.runUntilIdle();
    return Object.fromEntries(leaders.map(([name, leader]) => [name, leader.end]));
  }

  it("W4 gives the same application the same luck, whatever else runs and in whatever order", async () => {
    const alone = await endsOf(["x"], "s");
    const among = await endsOf(["v", "w", "x", "y"], "s");
    const reversed = await endsOf(["y", "x", "w", "v"], "s");
    expect(among).toEqual(reversed);
    expect(among).toMatchObject(alone);
    expect(await endsOf(["x"], "other")).not.toEqual(alone);
  });

  it("gives the next run of the same application other luck", async () => {
    const bench = new Bench(varied);
    const times: number[] = [];
    for (const run of ["x-run1", "x-run2"]) {
      const from = bench.clock.now();
      bench.leader(run);
      bench.worker(run, "n1");
      await bench.at(0.001 + from / 1000);
      times.push(bench.runtime.find(run)?.total ?? 0);
      await bench.clock.runUntilIdle();
    }
    expect(times[0]).not.toBe(times[1]);
  });

  it("lets workers fail, now and then", async () => {
    const bench = new Bench("kinds: [{ name: a, work: 1000, failures: { executor: 0.5 } }]");
    const workers: FakeRun[] = [];
    for (let index = 0; index < 40; index++) {
      bench.leader(`x${index}`);
      workers.push(bench.worker(`x${index}`, `n${index}`));
    }
    await bench.at(1001);
    const codes = workers.map(({ end }) => end?.exitCode);
    expect(new Set(codes)).toEqual(new Set([0, 1]));
  });

  it("lets workers fail by the hour, also of work that never ends", async () => {
    const bench = new Bench("kinds: [{ name: a, work: unbounded, failures: { executorPerHour: 0.9 } }]");
    bench.leader("x");
    const workers = Array.from({ length: 20 }, (_, index) => bench.worker("x", `n${index}`));
    await bench.at(3600);
    const failed = workers.filter(({ end }) => end?.exitCode === 1).length;
    expect(failed).toBeGreaterThan(10);
    expect(bench.runtime.find("x")?.workers).toBe(20 - failed);
  });

  it("lets applications fail", async () => {
    const bench = new Bench("kinds: [{ name: a, work: 100, failures: { application: 1 } }]");
    const leader = bench.leader("x");
    bench.worker("x", "n1");
    await bench.clock.runUntilIdle();
    expect(leader.end?.exitCode).toBe(1);
    expect(leader.end?.at).toBeLessThan(100_000);
  });
});

describe("pods that are applications by themselves", () => {
  it("do the work that an annotation names, on a node of its speed", async () => {
    const bench = new Bench(`${plain}\nnodes: [{ labels: { disk: slow }, speed: 0.5 }]`);
    bench.objects.set("Node/n2", { metadata: { name: "n2", labels: { disk: "slow" } } });
    const named = bench.run({ annotations: { "sim.berth.dev/work": "b" } });
    const slow = bench.run({ annotations: { "sim.berth.dev/work": "b" }, node: "n2" });
    const given = bench.run({ annotations: { "sim.berth.dev/work-seconds": "7.5" }, node: "n3" });
    await bench.clock.runUntilIdle();
    expect(ends(named, slow, given)).toEqual([
      [60, 0],
      [120, 0],
      [7.5, 0],
    ]);
  });

  it("divide the work of their Job by its completions", async () => {
    const bench = new Bench();
    const job: batchV1.Job = {
      metadata: { name: "j", annotations: { "sim.berth.dev/work": "a" } },
      spec: { completions: 4, template: { spec: { containers: [] } } },
    };
    bench.objects.set("Job/j", job);
    const pods = [1, 2, 3, 4].map((index) => bench.run({ owner: "j", node: `n${index}` }));
    await bench.clock.runUntilIdle();
    expect(ends(...pods)).toEqual([
      [30, 0],
      [30, 0],
      [30, 0],
      [30, 0],
    ]);
  });

  it("are left to others if nothing is said of them, or of how long they run", async () => {
    const bench = new Bench();
    const unknown = bench.run({});
    const timed = bench.run({
      annotations: { "sim.berth.dev/work": "a", "berth.dev/run-time": "5s", "berth.dev/exit-code": "3" },
    });
    const nonsense = bench.run({
      annotations: { "sim.berth.dev/work": "b", "sim.berth.dev/work-seconds": "-1" },
      node: "n9",
    });
    expect(nonsense.lines).toEqual(['sim.berth.dev/work-seconds: "-1" is not a number of seconds above 0']);
    const typo = bench.run({ annotations: { "sim.berth.dev/work": "c" }, node: "n8" });
    expect(typo.lines).toEqual(['sim.berth.dev/work: there is no kind "c"; there are a, b']);
    await bench.clock.runUntilIdle();
    expect(ends(unknown, timed, nonsense)).toEqual([
      [1, 0],
      [5, 3],
      [60, 0],
    ]);
  });
});
