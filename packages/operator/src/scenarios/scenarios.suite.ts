/**
 * What the operator does, as stories: each is played on the simulated cluster and on a real one, and comes out the same.
 */
import { coreV1, isNotFound } from "@berth/kube";
import { BatchJob, Scheduling, Testbed } from "@berth/model";
import { expect, it as test } from "vitest";
import type { Target } from "./target.ts";
import { World } from "./world.ts";

/** @param target - Only to be called inside of tests. */
export function scenarios(target: () => Target): void {
  const it = (
    title: string,
    nodes: number,
    story: (world: World) => Promise<void>,
    spec: Partial<Testbed["spec"]> = {},
  ) =>
    test(title, async () => {
      const world = await World.with(target(), nodes, spec);
      try {
        await story(world);
      } finally {
        await world.tidyUp();
      }
    });

  it("O1 a job runs in the slots that a Scheduling names, and gives them back", 2, async (world) => {
    await world.submit("a", 8);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 3] }] });
    await world.phase("a", "Running");
    expect(await world.places("a")).toEqual([`0 on ${world.node(0)}`, `3 on ${world.node(1)}`]);
    await world.states("occupied", "free", "free", "occupied");
    await world.phase("a", "Completed");
    await world.states("free", "free", "free", "free");
    const { status } = await world.eventually("the end", async () => {
      const scheduling = await world.scheduling("s");
      return scheduling.status?.phase === "Completed" && scheduling;
    });
    expect(status?.jobs).toMatchObject([{ name: "a", phase: "Completed", slots: [0, 3], run: 1 }]);
    const { spec, status: of } = await world.job("a");
    expect([spec.activeScheduling, spec.creationRequest]).toEqual([undefined, undefined]);
    expect(of?.runs).toMatchObject([{ number: 1, outcome: "Completed", slots: [0, 3] }]);
  });

  it("O2 a queue is served in order, in whatever slots are free", 2, async (world) => {
    for (const name of ["a", "b", "c"]) await world.submit(name, 6);
    await world.schedule("s", { queueBased: ["a", "b", "b", "a", "c", "c", "c"].map((name) => ({ name })) });
    await world.phase("a", "Running");
    await world.phase("b", "Running");
    const claims = await Promise.all(
      ["a", "b", "c"].map(async (name) => (await world.job(name)).spec.creationRequest?.slots),
    );
    expect(claims).toEqual([[0, 3], [1, 2], undefined]);
    await world.phase("c", "InQueue");
    await world.phase("c", "Completed");
  });

  it("O3 several Schedulings share a testbed", 2, async (world) => {
    for (const name of ["a", "b"]) await world.submit(name, 30);
    await world.schedule("s1", { slotBased: [{ name: "a", slots: [0] }] });
    await world.schedule("s2", { slotBased: [{ name: "b", slots: [1, 2] }] });
    await world.phase("a", "Running");
    await world.phase("b", "Running");
    await world.states("occupied", "occupied", "occupied", "free");
  });

  it("O4 who wants what there is not is told so at once", 1, async (world) => {
    await world.submit("a", 5);
    await world.submit("b", 5);
    await world.schedule("s", {
      slotBased: [
        { name: "a", slots: [9] },
        { name: "nobody", slots: [0] },
        { name: "b", slots: [1] },
      ],
    });
    await world.phase("b", "Completed");
    const { status } = await world.scheduling("s");
    expect(status?.jobs?.slice(0, 2)).toMatchObject([
      { name: "a", phase: "Waiting", message: "the testbed has no slot 9 that could be used" },
      { name: "nobody", phase: "Waiting" },
    ]);
    await world.schedule("q", { queueBased: ["a", "a", "a"].map((name) => ({ name })) });
  });

  it("O5 a Scheduling that is deleted lets its jobs go, with everything they had", 2, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2] }] });
    await world.phase("a", "Running");
    await world.client.delete(Scheduling, { namespace: world.namespace, name: "s" });
    await world.phase("a", "Ready");
    await world.states("free", "free", "free", "free");
    expect(await world.applications()).toEqual([]);
    expect((await world.job("a")).status?.runs).toMatchObject([{ outcome: "Released" }]);
  });

  it("O6 an executor that is lost is replaced in the slot that it had", 2, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2] }] });
    await world.phase("a", "Running");
    const [victim] = (await world.pods("executor")).filter(
      ({ metadata }) => metadata.annotations?.["berth.dev/slot"] === "2",
    );
    const name = victim?.metadata.name ?? "";
    await world.client
      .subresource("eviction")
      .create(coreV1.Pod, { namespace: world.namespace, name }, { metadata: { name } });
    await world.target.lastWord({ namespace: world.namespace, name });
    await world.eventually("its successor", async () => {
      const pods = await world.pods("executor");
      return pods.some(
        ({ metadata, status }) =>
          metadata.uid !== victim?.metadata.uid &&
          metadata.annotations?.["berth.dev/slot"] === "2" &&
          status?.phase === "Running",
      );
    });
    expect(await world.places("a")).toEqual([`1 on ${world.node(0)}`, `2 on ${world.node(1)}`]);
  });

  it("O7 a job that fails is tried again as often as it may be", 1, async (world) => {
    await world.submit("a", 1, { retry: { limit: 1, backoffSeconds: 1 } }, 1);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    const { status } = await world.phase("a", "Failed");
    expect([status?.attempt, status?.runs?.[0]?.outcome]).toEqual([1, "Failed"]);
    await world.states("free", "free");
  });

  it("O8 a job that is held by another Scheduling is waited for", 1, async (world) => {
    await world.submit("a", 6);
    await world.schedule("s1", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.schedule("s2", { slotBased: [{ name: "a", slots: [1] }] });
    await world.eventually(
      "the reason",
      async () => (await world.scheduling("s2")).status?.jobs?.[0]?.message === `${world.namespace}/s1 has the job`,
    );
    const { status } = await world.eventually("the second run", async () => {
      const job = await world.job("a");
      return job.status?.runs?.length === 2 && job;
    });
    expect(status?.runs?.map(({ number, slots }) => [number, slots])).toEqual([
      [2, [1]],
      [1, [0]],
    ]);
  });

  it("O9 a Scheduling that is edited takes the edit", 2, async (world) => {
    for (const name of ["a", "b", "c"]) await world.submit(name, 600);
    await world.schedule("s", {
      slotBased: [
        { name: "a", slots: [0] },
        { name: "b", slots: [0] },
      ],
    });
    await world.phase("a", "Running");
    const slotBased = [
      { name: "a", slots: [0] },
      { name: "c", slots: [3] },
    ];
    await world.client.patch(Scheduling, { namespace: world.namespace, name: "s" }, { merge: { spec: { slotBased } } });
    await world.phase("c", "Running");
    await world.phase("b", "Ready");
    await world.client.patch(
      Scheduling,
      { namespace: world.namespace, name: "s" },
      { merge: { spec: { slotBased: [{ name: "c", slots: [3] }] } } },
    );
    await world.phase("a", "Ready");
    await world.states("free", "free", "free", "occupied");
  });

  it("O10 an exclusive Scheduling has the testbed to itself", 1, async (world) => {
    for (const name of ["a", "b", "c"]) await world.submit(name, 6);
    await world.schedule("s1", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.schedule("s2", { slotBased: [{ name: "b", slots: [1] }], exclusive: true });
    await world.phase("b", "InQueue");
    await world.phase("b", "Running");
    expect((await world.job("a")).status?.phase).toBe("Completed");
    await world.schedule("s3", { slotBased: [{ name: "c", slots: [0] }] });
    await world.phase("c", "InQueue");
    await world.phase("c", "Completed");
    expect((await world.job("b")).status?.phase).toBe("Completed");
  });

  it("O11 a job that is deleted takes its application along, and its slots are free", 1, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 1] }] });
    await world.phase("a", "Running");
    await world.client.delete(BatchJob, { namespace: world.namespace, name: "a" });
    await world.states("free", "free");
    await world.eventually("no application", async () => (await world.applications()).length === 0);
  });

  it("T1 slots follow the label of nodes", 2, async (world) => {
    await world.mark(0, null);
    await world.states("free", "free");
    expect((await world.slots()).map(({ spec }) => spec.position)).toEqual([2, 3]);
    await world.addNode(2);
    await world.states("free", "free", "free", "free");
    expect((await world.slots()).map(({ spec }) => spec.nodeName)).toEqual(
      [2, 2, 1, 1].map((index) => world.node(index)),
    );
  });

  it("T2 slots go with their node", 2, async (world) => {
    await world.target.removeNode(world.node(1));
    await world.states("free", "free");
    await world.eventually("its ghosts are gone", async () => (await world.pods("ghost")).length === 2);
  });

  it("T3 a node that is cordoned has no slots to give", 2, async (world) => {
    await world.client.patch(coreV1.Node, { name: world.node(0) }, { merge: { spec: { unschedulable: true } } });
    await world.states("unavailable", "unavailable", "free", "free");
    await world.client.patch(coreV1.Node, { name: world.node(0) }, { merge: { spec: { unschedulable: null } } });
    await world.states("free", "free", "free", "free");
  });

  it("T4 a slot for which there is no room is unavailable, and evicts nobody", 1, async (world) => {
    await world.client.create(coreV1.Pod, {
      metadata: { name: "other", namespace: world.namespace, annotations: { "berth.dev/run-time": "600s" } },
      spec: { nodeName: world.node(0), containers: [{ name: "c", image: "i", resources: { requests: { cpu: "3" } } }] },
    });
    await world.client.patch(
      Testbed,
      { namespace: world.namespace, name: "main" },
      { merge: { spec: { slotsPerNode: 3 } } },
    );
    await world.states("free", "free", "unavailable");
    const [, , slot] = await world.slots();
    expect(slot?.status?.reason).toMatch(/^there is no room for it on its node: .*Insufficient cpu/);
    await world.client.delete(coreV1.Pod, { namespace: world.namespace, name: "other" }, { gracePeriodSeconds: 0 });
    await world.states("free", "free", "free");
  });

  it("T5 ghosts that are lost come back", 1, async (world) => {
    await world.client.delete(
      coreV1.Pod,
      { namespace: world.namespace, name: "ghost-main-0" },
      { gracePeriodSeconds: 0 },
    );
    await world.eventually(
      "it is back",
      async () => (await world.pods("ghost")).filter(({ spec }) => spec?.nodeName).length === 2,
    );
  });

  it("T6 another size drains: free slots at once, those in use when they are free", 1, async (world) => {
    await world.submit("a", 6);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    const resourcesPerSlot = { cpu: "3", memory: "4Gi" };
    await world.client.patch(
      Testbed,
      { namespace: world.namespace, name: "main" },
      { merge: { spec: { resourcesPerSlot } } },
    );
    await world.eventually("the free one", async () => (await world.slots())[1]?.spec.resources.cpu === "3");
    expect((await world.slots())[0]?.spec.resources.cpu).toBe("2");
    await world.phase("a", "Completed");
    await world.eventually("the other one", async () => (await world.slots())[0]?.spec.resources.cpu === "3");
    await world.states("free", "free");
  });

  it("T7 a testbed that is deleted while it is in use goes when its last executor has gone", 1, async (world) => {
    await world.submit("a", 8);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.client.delete(Testbed, { namespace: world.namespace, name: "main" });
    await world.eventually("only one slot is left", async () => (await world.slots()).length === 1);
    await world.phase("a", "Completed");
    await world.eventually("it is gone", async () => {
      try {
        await world.client.get(Testbed, { namespace: world.namespace, name: "main" });
        return false;
      } catch (error) {
        return isNotFound(error);
      }
    });
  });
}
