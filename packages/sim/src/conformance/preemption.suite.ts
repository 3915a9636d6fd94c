/** Who has to go when a more important pod finds no place: whom, where, and what everybody is told. */
import { coreV1, findCondition, integer, policyV1, SeededRandom } from "@berth/kube";
import { expect } from "vitest";
import { predict } from "./scheduling-prediction.ts";
import { CLAIMS, eventually, SchedulingWorld } from "./scheduling-world.ts";
import { suite } from "./suite.ts";

/** Moments in the past, in order. */
const at = (second: number) => new Date(Date.UTC(2024, 0, 1, 0, 0, second)).toISOString().replace(".000", "");

export const preemption = suite("preemption", (it, target) => {
  const inWorld = (name: string, test: (world: SchedulingWorld) => Promise<void>) =>
    it(name, () => SchedulingWorld.in(target(), test));
  const one = { cpu: "1" };
  const small = { allocatable: { cpu: "1" } };
  const two = { allocatable: { cpu: "2" } };

  inWorld("evicts a less important pod, and says so everywhere", async (world) => {
    const node = await world.node("n", small);
    const victim = await world.running("victim", node, {
      requests: one,
      priority: 10,
      spec: { terminationGracePeriodSeconds: 30 },
      annotations: { "berth.dev/termination-delay": "3s" },
    });
    const preemptor = await world.pod("preemptor", { requests: one, priority: 20 });
    const ending = await world.until("victim", ({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(ending.metadata.deletionGracePeriodSeconds).toBe(30);
    expect(findCondition(ending.status?.conditions, "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "PreemptionByScheduler",
      message: "default-scheduler: preempting to accommodate a higher priority pod",
      observedGeneration: victim.metadata.generation,
    });
    const waiting = await world.until("preemptor", ({ status }) => Boolean(status?.nominatedNodeName));
    expect(waiting.status?.nominatedNodeName).toBe(node);
    const message = await world.message({ "Insufficient cpu": 1 });
    expect(findCondition(waiting.status?.conditions, "PodScheduled")).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message,
    });
    const [event] = await world.events("victim", "Preempted");
    expect(event).toMatchObject({
      type: "Normal",
      action: "Preempting",
      note: `Preempted by pod ${preemptor.metadata.uid} on node ${node}`,
      reportingController: "default-scheduler",
      regarding: { kind: "Pod", name: "victim", uid: victim.metadata.uid },
    });
    expect(event?.related).toBeUndefined();
    expect(await world.placeOf("preemptor")).toBe(node);
    // Bound, it waits for nothing any more.
    expect((await world.get("preemptor")).status?.nominatedNodeName).toBeUndefined();
    await world.gone("victim");
  });

  inWorld("evicts nobody who is as important, or more", async (world) => {
    const node = await world.node("n", two);
    await world.running("equal", node, { requests: one, priority: 20 });
    await world.running("higher", node, { requests: one, priority: 30 });
    await world.pod("waits", { requests: one, priority: 20 });
    const none = await world.noPreemption({ "No preemption victims found for incoming pod": 1 });
    await world.unscheduled("waits", await world.message({ "Insufficient cpu": 1 }, none));
    expect((await world.get("equal")).metadata.deletionTimestamp).toBeUndefined();
  });

  inWorld("evicts nobody for a pod that never preempts", async (world) => {
    const node = await world.node("n", small);
    await world.running("low", node, { requests: one, priority: 10 });
    await world.pod("polite", { requests: one, priority: 20, preempts: false });
    const message = await world.message({ "Insufficient cpu": 1 }, "not eligible due to preemptionPolicy=Never.");
    await world.unscheduled("polite", message);
    expect((await world.get("low")).metadata.deletionTimestamp).toBeUndefined();
    await world.delete("low");
    await world.placeOf("polite");
  });

  inWorld("says why it would not help", async (world) => {
    const node = await world.node("n", two);
    await world.running("low", node, { requests: one, priority: 10 });
    await world.running("high", node, { requests: one, priority: 30 });
    await world.pod("big", { requests: { cpu: "2" }, priority: 20 });
    const none = await world.noPreemption({ "Insufficient cpu": 1 });
    await world.unscheduled("big", await world.message({ "Insufficient cpu": 1 }, none));
  });

  inWorld("spares whom it can, the more important and the older first", async (world) => {
    const node = await world.node("n", { allocatable: { cpu: "5" } });
    await world.running("young", node, { requests: one, priority: 10, since: at(30) });
    await world.running("old", node, { requests: one, priority: 10, since: at(10) });
    await world.running("higher", node, { requests: one, priority: 15, since: at(40) });
    await world.running("middle", node, { requests: one, priority: 10, since: at(20) });
    await world.running("vip", node, { requests: one, priority: 30, since: at(40) });
    await world.pod("first", { requests: one, priority: 20 });
    expect(await world.placeOf("first")).toBe(node);
    await world.gone("young");
    await world.pod("second", { requests: { cpu: "2" }, priority: 20 });
    expect(await world.placeOf("second")).toBe(node);
    for (const name of ["old", "middle"]) await world.gone(name);
    for (const name of ["higher", "vip", "first"])
      expect((await world.get(name)).metadata.deletionTimestamp).toBeUndefined();
  });

  /** Two nodes, the second of which is better for one reason only. */
  const chooses = (
    reason: string,
    victims: readonly (readonly [worse: readonly Victim[], better: readonly Victim[]])[],
    prepare: (world: SchedulingWorld) => Promise<void> = async () => {},
  ) => {
    inWorld(`takes the node ${reason}`, async (world) => {
      for (const [index, [worse, better]] of victims.entries()) {
        const nodes = [await world.node(`worse-${index}`, two), await world.node(`better-${index}`, two)] as const;
        for (const [side, pods] of [worse, better].entries()) {
          for (const [number, { cpu = "1", priority, since, labels }] of pods.entries()) {
            await world.running(`${["w", "b"][side]}-${index}-${number}`, nodes[side] as string, {
              requests: { cpu },
              priority,
              since: at(since ?? 0),
              ...(labels && { labels }),
            });
          }
        }
        await prepare(world);
        await world.pod(`preemptor-${index}`, {
          requests: { cpu: "2" },
          priority: 100,
          spec: {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [
                    { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [...nodes] }] },
                  ],
                },
              },
            },
          },
        });
        expect(await world.placeOf(`preemptor-${index}`)).toBe(nodes[1]);
      }
    });
  };
  interface Victim {
    readonly cpu?: string;
    readonly priority: number;
    readonly since?: number;
    readonly labels?: Readonly<Record<string, string>>;
  }
  chooses("whose most important victim is less important", [
    [
      [{ priority: 10 }, { priority: 30 }],
      [{ priority: 20 }, { priority: 20 }],
    ],
  ]);
  chooses("where the victims are less important in all", [
    [
      [{ priority: 30 }, { priority: 20 }],
      [{ priority: 30 }, { priority: 10 }],
    ],
  ]);
  chooses("with fewer victims", [[[{ priority: 10 }, { priority: 10 }], [{ priority: 10, cpu: "2" }]]]);
  chooses("where the most important victim has run for the shortest time", [
    [
      [
        { priority: 20, since: 10 },
        { priority: 10, since: 50 },
      ],
      [
        { priority: 20, since: 20 },
        { priority: 10, since: 5 },
      ],
    ],
  ]);
  chooses(
    "where no disruption budget is broken",
    [[[{ priority: 5, cpu: "2", labels: { app: "precious" } }], [{ priority: 50 }, { priority: 50 }]]],
    async ({ target: { client }, namespace }) => {
      await client.create(policyV1.PodDisruptionBudget, {
        metadata: { namespace, name: "precious" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "precious" } } },
      });
      if (target().name === "sim") return; // nobody counts there, and nothing is allowed until somebody has
      await eventually("the budget to be counted", async () => {
        const { status } = await client.get(policyV1.PodDisruptionBudget, { namespace, name: "precious" });
        return status?.currentHealthy === 1 ? true : undefined;
      });
    },
  );

  inWorld("evicts on the pinned node only", async (world) => {
    const [pinned, other] = [await world.node("pinned", small), await world.node("other", small)];
    await world.running("on-pinned", pinned, { requests: one, priority: 15 });
    await world.running("on-other", other, { requests: one, priority: 10 });
    await world.pod("executor", {
      requests: one,
      priority: 20,
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [pinned] }] }],
            },
          },
        },
      },
    });
    expect(await world.placeOf("executor")).toBe(pinned);
    await world.gone("on-pinned");
    expect((await world.get("on-other")).metadata.deletionTimestamp).toBeUndefined();
  });

  inWorld("keeps the place for whom it was made", async (world) => {
    const node = await world.node("n", small);
    await world.running("victim", node, {
      requests: one,
      priority: 10,
      spec: { terminationGracePeriodSeconds: 30 },
      annotations: { "berth.dev/termination-delay": "2s" },
    });
    await world.pod("preemptor", { requests: one, priority: 20 });
    await world.until("preemptor", ({ status }) => status?.nominatedNodeName === node);
    // As important as the one that waits, and not in need of so much.
    await world.pod("thief", { requests: { cpu: "500m" }, priority: 20 });
    await world.unscheduled("thief");
    expect(await world.placeOf("preemptor")).toBe(node);
    expect((await world.get("thief")).spec?.nodeName).toBeUndefined();
  });

  inWorld("waits for its victims and evicts nobody else meanwhile", async (world) => {
    const node = await world.node("n", two);
    const lingering = {
      spec: { terminationGracePeriodSeconds: 30 },
      annotations: { "berth.dev/termination-delay": "4s" },
    };
    await world.running("victim", node, { requests: one, priority: 10, since: at(20), ...lingering });
    await world.running("spared", node, { requests: one, priority: 10, since: at(10), ...lingering });
    await world.pod("preemptor", { requests: one, priority: 20 });
    await world.until("victim", ({ metadata }) => metadata.deletionTimestamp !== undefined);
    // Something happens that makes the scheduler try again.
    const elsewhere = await world.node("elsewhere", { allocatable: { cpu: "500m" } });
    await world.running("tiny", elsewhere, { requests: { cpu: "100m" } });
    await world.delete("tiny");
    const reasons = { "Insufficient cpu": 2 };
    const why = "not eligible due to a terminating pod on the nominated node.";
    await world.unscheduled("preemptor", await world.message(reasons, why));
    expect(await world.placeOf("preemptor")).toBe(node);
    expect((await world.get("spared")).metadata.deletionTimestamp).toBeUndefined();
  });

  inWorld("gives the place to somebody more important still", async (world) => {
    const node = await world.node("n", small);
    await world.running("victim", node, {
      requests: one,
      priority: 10,
      spec: { terminationGracePeriodSeconds: 30 },
      annotations: { "berth.dev/termination-delay": "2s" },
    });
    await world.pod("preemptor", { requests: one, priority: 20 });
    await world.until("preemptor", ({ status }) => status?.nominatedNodeName === node);
    await world.pod("vip", { requests: one, priority: 30 });
    expect(await world.placeOf("vip")).toBe(node);
    const message = await world.message(
      { "Insufficient cpu": 1 },
      await world.noPreemption({ "No preemption victims found for incoming pod": 1 }),
    );
    await world.unscheduled("preemptor", message);
    expect((await world.get("preemptor")).status?.nominatedNodeName).toBeUndefined();
  });

  for (const seed of ["a", "b", "c", "d"]) {
    inWorld(`takes whom our rules say in a random cluster (${seed})`, async (world) => {
      const random = new SeededRandom(`preemption ${seed}`);
      const names: string[] = [];
      const nodes = integer(random, 2, 6);
      for (let index = 0; index < nodes; index++) {
        const cpus = integer(random, 3, 6);
        const node = await world.node(`n${index}`, { allocatable: { cpu: String(cpus) } });
        for (let taken = 0, number = 0; taken < cpus; number++) {
          const cpu = Math.min(cpus - taken, integer(random, 1, 3));
          taken += cpu;
          const name = `p-${index}-${number}`;
          names.push(name);
          await world.running(name, node, {
            requests: { cpu: String(cpu) },
            priority: 10 * integer(random, 1, 6),
            since: at(integer(random, 0, 59)),
          });
        }
      }
      const { client } = world.target;
      const gates = [{ name: "example.org/wait" }];
      const options = {
        requests: { cpu: String(integer(random, 1, 4)) },
        priority: 45,
        spec: { schedulingGates: gates },
      };
      const expected = await predict(client, await world.pod("preemptor", options));
      const key = { namespace: world.namespace, name: "preemptor" };
      await client.patch(coreV1.Pod, key, { merge: { spec: { schedulingGates: null } } });
      if (expected.preemption.size === 0) {
        expect((await world.unscheduled("preemptor")).message).toContain(`${expected.message} ${CLAIMS}`);
        return;
      }
      const place = await world.placeOf("preemptor");
      expect([...expected.preemption.keys()]).toContain(place);
      const left = await client.list(coreV1.Pod, { namespace: world.namespace });
      const gone = names.filter((name) => !left.items.some(({ metadata }) => metadata.name === name));
      expect(gone.sort()).toEqual([...(expected.preemption.get(place) ?? [])].sort());
    });
  }
});
