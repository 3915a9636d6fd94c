/** The scheduler as a whole, on an API server in memory and a virtual clock. */
import { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { Extender } from "./extenders/extender.ts";
import { TestCluster } from "./testing/test-cluster.ts";

const one = { cpu: "1" };

describe("a scheduler", () => {
  it("binds a pod to a node, and says so", async () => {
    const cluster = new TestCluster();
    cluster.node("n1");
    cluster.pod("a", one);
    await cluster.settle();
    expect(cluster.placeOf("a")).toBe("n1");
    expect(cluster.condition("a")).toMatchObject({ status: "True" });
    expect(cluster.events()).toMatchObject([
      { type: "Normal", reason: "Scheduled", action: "Binding", note: "Successfully assigned default/a to n1" },
    ]);
  });

  it("tells nobody if nobody is to be told", async () => {
    const cluster = new TestCluster({ events: false });
    cluster.node("n1");
    cluster.pod("a");
    cluster.pod("b", { cpu: "99" });
    await cluster.settle();
    expect(cluster.placeOf("a")).toBe("n1");
    expect(cluster.events()).toEqual([]);
  });

  it("schedules what was there before it", async () => {
    const cluster = new TestCluster({ configuration: { profiles: [{ schedulerName: "nobody" }] } });
    cluster.node("n1", { cpu: "1" });
    cluster.running("there", "n1", one);
    cluster.pod("waits", one);
    await cluster.settle();
    expect(cluster.placeOf("waits")).toBeUndefined();
    const { Scheduler } = await import("./scheduler.ts");
    const { SeededRandom } = await import("@berth/kube");
    const { server, clock } = cluster;
    const late = new Scheduler({
      server,
      clock,
      random: new SeededRandom("x"),
      onFailure: (error) => cluster.failures.push(error),
    });
    late.start();
    await cluster.settle();
    expect(cluster.condition("waits")?.message).toMatch(/Insufficient cpu/);
    cluster.delete("there");
    await cluster.settle();
    expect(cluster.placeOf("waits")).toBe("n1");
  });

  it("says the same only once, and then counts", async () => {
    const cluster = new TestCluster();
    cluster.node("n1", { cpu: "1" });
    cluster.pod("big", { cpu: "2" });
    await cluster.settle();
    const failures = () => cluster.events().filter(({ reason }) => reason === "FailedScheduling");
    expect(failures()).toHaveLength(1);
    for (let round = 0; round < 4; round++) {
      cluster.running(`p${round}`, "n1");
      cluster.delete(`p${round}`);
      await cluster.settle();
    }
    // The first was about the pod as it was before anything was noted on it.
    expect(failures().map(({ series }) => series?.count)).toEqual([undefined, 2]);
    cluster.delete("big");
    await cluster.pass(400);
    expect(failures().map(({ series }) => series?.count)).toEqual([undefined, 4]);
  });

  it("waits with a pod as long as there are no nodes, in longer and longer turns", async () => {
    const cluster = new TestCluster();
    cluster.pod("a");
    await cluster.settle();
    expect(cluster.condition("a")).toMatchObject({
      reason: "Unschedulable",
      message: "no nodes available to schedule pods",
    });
    cluster.node("n1");
    await cluster.settle();
    expect(cluster.placeOf("a")).toBeUndefined();
    await cluster.pass(2);
    expect(cluster.placeOf("a")).toBe("n1");
  });

  it("does not schedule pods that are about to go", async () => {
    const cluster = new TestCluster();
    const pod = cluster.pod("a", one);
    cluster.api.update(coreV1.Pod, { ...pod, metadata: { ...pod.metadata, finalizers: ["example.org/stay"] } });
    cluster.delete("a");
    cluster.node("n1");
    await cluster.pass(10);
    expect(cluster.get("a")?.metadata.deletionTimestamp).toBeDefined();
    expect(cluster.placeOf("a")).toBeUndefined();
    expect(cluster.events().map(({ note }) => note)).toContain("skip schedule deleting pod: default/a");
  });

  it("tries again in a while if a pod cannot be bound", async () => {
    const cluster = new TestCluster();
    let refused = 0;
    const bind = cluster.server.request.bind(cluster.server);
    cluster.server.request = (request, caller) => {
      if (request.subresource === "binding" && refused++ === 0) throw new Error("not today");
      return bind(request, caller);
    };
    cluster.node("n1", { cpu: "1" });
    cluster.pod("a", one);
    await cluster.settle();
    expect(cluster.condition("a")).toMatchObject({ reason: "SchedulerError", message: "not today" });
    cluster.pod("b", one);
    await cluster.settle();
    // What did not come about takes no place.
    expect(cluster.placeOf("b")).toBe("n1");
    cluster.delete("b");
    await cluster.pass(2);
    expect(cluster.placeOf("a")).toBe("n1");
  });

  it("stops", async () => {
    const cluster = new TestCluster();
    cluster.node("n1");
    cluster.pod("waits", { cpu: "99" });
    await cluster.settle();
    cluster.stop();
    cluster.pod("a");
    await cluster.settle();
    expect(cluster.placeOf("a")).toBeUndefined();
    expect(cluster.clock.pending).toBe(0);
  });
});

describe("several schedulers", () => {
  it("see each other's pods and schedule their own", async () => {
    const cluster = new TestCluster({ more: [{ configuration: { profiles: [{ schedulerName: "other" }] } }] });
    cluster.node("n1", { cpu: "1" });
    cluster.node("n2", { cpu: "1" });
    cluster.pod("a", one);
    cluster.pod("b", one, { schedulerName: "other" });
    cluster.pod("c", one, { schedulerName: "nobody" });
    await cluster.settle();
    expect([cluster.placeOf("a"), cluster.placeOf("b")].sort()).toEqual(["n1", "n2"]);
    expect(cluster.placeOf("c")).toBeUndefined();
    const told = cluster.events().map(({ reportingController }) => reportingController);
    expect(told.sort()).toEqual(["default-scheduler", "other"]);
  });

  it("can be one with several profiles", async () => {
    const packing = { name: "NodeResourcesFit", args: { scoringStrategy: { type: "MostAllocated" } } };
    const profiles = [{}, { schedulerName: "packer", pluginConfig: [packing] }];
    const cluster = new TestCluster({ configuration: { profiles } });
    cluster.node("n1");
    cluster.node("n2");
    cluster.running("there", "n2", { cpu: "1", memory: "2Gi" });
    cluster.pod("spread", { cpu: "1", memory: "2Gi" });
    await cluster.settle();
    expect(cluster.placeOf("spread")).toBe("n1");
    cluster.running("more", "n2", { cpu: "1", memory: "2Gi" });
    cluster.pod("packed", { cpu: "1", memory: "2Gi" }, { schedulerName: "packer" });
    await cluster.settle();
    expect(cluster.placeOf("packed")).toBe("n2");
  });
});

describe("preemption", () => {
  it("makes place at once where victims go at once", async () => {
    const cluster = new TestCluster();
    cluster.node("n1", { cpu: "2" });
    for (const name of ["a", "b"]) cluster.running(name, "n1", one, { priority: 1, terminationGracePeriodSeconds: 0 });
    cluster.pod("big", { cpu: "2" }, { priority: 2 });
    await cluster.settle();
    expect(cluster.placeOf("big")).toBe("n1");
    expect([cluster.get("a"), cluster.get("b")]).toEqual([undefined, undefined]);
    expect(cluster.get("big")?.status?.nominatedNodeName).toBeUndefined();
    const reasons = cluster.events().map(({ reason }) => reason);
    // One attempt in vain, and one that is not.
    expect(reasons.sort()).toEqual(["FailedScheduling", "Preempted", "Preempted", "Scheduled"]);
  });

  it("keeps the place while victims take their time", async () => {
    const cluster = new TestCluster();
    cluster.node("n1", { cpu: "1" });
    cluster.running("victim", "n1", one, { priority: 1 });
    cluster.pod("high", one, { priority: 5 });
    await cluster.settle();
    expect(cluster.get("high")?.status?.nominatedNodeName).toBe("n1");
    expect(cluster.get("victim")?.metadata.deletionTimestamp).toBeDefined();
    cluster.pod("equal", { cpu: "500m" }, { priority: 5 });
    await cluster.settle();
    cluster.delete("victim");
    await cluster.settle();
    expect([cluster.placeOf("high"), cluster.placeOf("equal")]).toEqual(["n1", undefined]);
  });

  it("frees the place again if the pod that it was made for goes", async () => {
    const cluster = new TestCluster();
    cluster.node("n1", { cpu: "1" });
    cluster.running("victim", "n1", one, { priority: 1 });
    cluster.pod("high", one, { priority: 5 });
    await cluster.settle();
    cluster.pod("low", one, { priority: 2 });
    await cluster.settle();
    cluster.delete("victim");
    cluster.delete("high");
    await cluster.settle();
    expect(cluster.placeOf("low")).toBe("n1");
  });
});

describe("extenders in this process", () => {
  const withExtender = (extender: Extender, more: object = {}) =>
    new TestCluster({ configuration: { extenders: [{ extender, nodeCacheCapable: true, ...more }] } });

  it("B3 are asked one pod at a time, while the clock stands still", async () => {
    let held = 0;
    const times: number[] = [];
    const asked: string[] = [];
    const cluster: TestCluster = new TestCluster({
      hold: () => {
        held++;
        const release = cluster.clock.hold();
        return () => {
          held--;
          release();
        };
      },
      configuration: {
        extenders: [
          {
            nodeCacheCapable: true,
            extender: {
              filter: async ({ Pod, NodeNames }) => {
                asked.push(Pod.metadata.name ?? "");
                expect(held).toBe(1);
                for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => process.nextTick(resolve));
                times.push(cluster.clock.now());
                return { NodeNames };
              },
            },
          },
        ],
      },
    });
    cluster.node("n1");
    cluster.node("n2");
    for (const name of ["a", "b", "c"]) cluster.pod(name);
    const begin = cluster.clock.now();
    cluster.clock.setTimer(1, () => {});
    await cluster.pass(1);
    expect(asked).toEqual(["a", "b", "c"]);
    expect(new Set(times)).toEqual(new Set([begin]));
    expect(held).toBe(0);
    for (const name of ["a", "b", "c"]) expect(cluster.placeOf(name)).toBeDefined();
  });

  it("decide on what was there when they were asked; what happens meanwhile counts afterwards", async () => {
    const cluster = withExtender({
      preempt: async ({ NodeNameToMetaVictims }) => {
        // Whom it names it deletes itself.
        cluster.delete("ghost-a");
        const uid = ghosts[0]?.metadata.uid ?? "";
        expect(NodeNameToMetaVictims).toEqual({
          n1: { Pods: [{ UID: ghosts[1]?.metadata.uid }], NumPDBViolations: 0 },
        });
        return { NodeNameToMetaVictims: { n1: { Pods: [{ UID: uid }], NumPDBViolations: 0 } } };
      },
      filter: async ({ NodeNames }) => ({ NodeNames }),
    });
    cluster.node("n1", { cpu: "2" });
    const ghost = { priority: 1, terminationGracePeriodSeconds: 0 };
    const ghosts = [
      cluster.running("ghost-a", "n1", one, ghost, { age: 100 }),
      cluster.running("ghost-b", "n1", one, ghost, { age: 50 }),
    ];
    cluster.pod("executor", one, { priority: 2 });
    await cluster.settle();
    expect(cluster.placeOf("executor")).toBe("n1");
    expect(cluster.get("ghost-b")).toBeDefined();
  });

  it("may bind, or leave it to the scheduler if they fail and may", async () => {
    const bound: string[] = [];
    const binder: Extender = {
      bind: async ({ PodName }) => {
        bound.push(PodName);
        return { Error: "broken" };
      },
    };
    const cluster = withExtender(binder, { ignorable: true });
    cluster.node("n1");
    cluster.pod("a");
    await cluster.settle();
    expect([bound, cluster.placeOf("a")]).toEqual([["a"], "n1"]);
    const strict = withExtender(binder);
    strict.node("n1");
    strict.pod("b");
    await strict.settle();
    expect(strict.condition("b")).toMatchObject({ reason: "SchedulerError", message: "broken" });
  });

  it("cannot both bind", () => {
    const extender: Extender = { bind: async () => ({}) };
    expect(() => new TestCluster({ configuration: { extenders: [{ extender }, { extender }] } })).toThrow(RangeError);
  });

  it("do no harm if the pod goes while they think", async () => {
    const cluster = withExtender({
      filter: async ({ NodeNames, Pod }) => {
        if (Pod.metadata.name === "a") cluster.delete("a");
        return { NodeNames };
      },
    });
    cluster.node("n1", { cpu: "1" });
    cluster.pod("a", one);
    cluster.pod("b", one);
    await cluster.pass(5);
    expect(cluster.placeOf("b")).toBe("n1");
  });
});
