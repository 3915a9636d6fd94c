/** What becomes of a decision. */
import { coreV1 } from "@berth/kube";
import { Scheduling, Testbed } from "@berth/model";
import { expect } from "vitest";
import type { Tell } from "./suite.ts";

export function schedulings(it: Tell): void {
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
    for (const name of ["a", "b"]) await world.submit(name, 45);
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

  it("O18 a job that is not there yet is waited for", 1, async (world) => {
    await world.schedule("s", { slotBased: [{ name: "late", slots: [1] }] });
    await world.waits("s", "late", /^there is no such job yet$/);
    await world.submit("late", 600);
    await world.phase("late", "Running");
    expect(await world.places("late")).toEqual([`1 on ${world.node(0)}`]);
  });

  it("O19 a job that never comes is given up, and keeps nobody waiting meanwhile", 1, async (world) => {
    await world.submit("a", 5);
    await world.schedule("s", {
      slotBased: [
        { name: "nobody", slots: [0] },
        { name: "a", slots: [0] },
      ],
    });
    await world.schedule("younger", { queueBased: [{ name: "a" }, { name: "a" }] });
    await world.phase("a", "Completed");
    await world.eventually("the end", async () => (await world.scheduling("s")).status?.phase === "Failed");
    expect((await world.scheduling("s")).status?.jobs?.[0]?.message).toBe("there is no such job");
  });

  it("O20 a queue can be added to, reordered and cut while it is served", 1, async (world) => {
    await world.submit("a", 10);
    for (const name of ["b", "c", "d"]) await world.submit(name, 600);
    const queue = (...names: string[]) => ({ queueBased: names.map((name) => ({ name })) });
    await world.schedule("s", queue("a", "a", "b", "b", "c", "c"));
    await world.phase("a", "Running");
    await world.phase("b", "InQueue");
    await world.edit("s", queue("a", "a", "d", "d", "b", "b"));
    await world.phase("c", "Ready");
    await world.phase("d", "Running");
    expect((await world.job("b")).status?.phase).toBe("InQueue");
    await world.edit("s", queue("a", "a", "b", "b"));
    await world.phase("d", "Ready");
    await world.phase("b", "Running");
  });

  it("O21 jobs, Schedulings and testbeds may be in different namespaces", 1, async (world) => {
    const elsewhere = await world.anotherNamespace();
    await world.submit("a", 600, {}, 0, elsewhere);
    await world.client.create(Scheduling, {
      metadata: { name: "s", namespace: elsewhere },
      spec: {
        testbed: { name: "main", namespace: world.namespace },
        slotBased: [{ name: "a", namespace: elsewhere, slots: [1] }],
      },
    });
    await world.submit("a", 600);
    await world.schedule("t", { slotBased: [{ name: "a", slots: [0] }] });
    await world.states("occupied", "occupied");
    await world.eventually("both are bound", async () => {
      const { items } = await world.client.list(coreV1.Pod, { namespace: elsewhere });
      const there = items.map(({ metadata, spec }) => `${metadata.annotations?.["berth.dev/slot"]} ${spec?.nodeName}`);
      const here = await world.places("a");
      return `${there} ${here}` === `1 ${world.node(0)} 0 on ${world.node(0)}`;
    });
  });

  it("O22 who wants more slots than there are is told so at once", 1, async (world) => {
    await world.submit("a", 5);
    await world.submit("b", 5);
    await world.schedule("s", { queueBased: ["a", "a", "a", "b"].map((name) => ({ name })) });
    await world.waits("s", "a", /^wants 3 slots, and the testbed has 2 that could be used$/);
    await world.phase("b", "Completed");
  });

  it("O23 the older of two Schedulings goes first", 1, async (world) => {
    await world.submit("a", 12);
    for (const name of ["b", "c"]) await world.submit(name, 600);
    await world.schedule("s0", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.schedule("s1", { queueBased: [{ name: "b" }, { name: "b" }] });
    await world.waits("s1", "b", /^wants 2 slots, and 1 are free$/);
    await world.target.pass(1100); // ages are told in seconds
    await world.schedule("s2", { slotBased: [{ name: "c", slots: [1] }] });
    await world.waits("s2", "c", /s1 comes first$/);
    await world.phase("b", "Running");
    expect((await world.job("c")).status?.phase ?? "InQueue").toBe("InQueue");
  });

  it("O24 two Schedulings that want each other's jobs do not wait for ever", 1, async (world) => {
    for (const name of ["a", "b"]) await world.submit(name, 5);
    const both = (first: string, second: string) => ({
      slotBased: [
        { name: first, slots: [0, 1] },
        { name: second, slots: [0, 1] },
      ],
    });
    await world.schedule("s1", both("a", "b"));
    await world.schedule("s2", both("b", "a"));
    for (const name of ["s1", "s2"]) {
      await world.eventually(`${name} ends`, async () => (await world.scheduling(name)).status?.phase === "Completed");
    }
    for (const name of ["a", "b"]) expect((await world.job(name)).status?.runs).toHaveLength(2);
  });

  it("O25 a Scheduling that has ended goes after a while", 1, async (world) => {
    await world.submit("a", 1);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }], ttlSecondsAfterFinished: 2 });
    await world.phase("a", "Completed");
    await world.eventually("it is gone", async () => {
      const { items } = await world.client.list(Scheduling, { namespace: world.namespace });
      return items.length === 0;
    });
    expect((await world.job("a")).status?.runs).toHaveLength(1);
  });

  it("O26 a Scheduling that is deleted while it waits lets its jobs go", 1, async (world) => {
    for (const name of ["a", "b"]) await world.submit(name, 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.schedule("t", { slotBased: [{ name: "b", slots: [0] }] });
    await world.phase("b", "InQueue");
    await world.client.delete(Scheduling, { namespace: world.namespace, name: "t" });
    const { spec } = await world.phase("b", "Ready");
    expect(spec.activeScheduling).toBeUndefined();
    expect((await world.job("a")).status?.phase).toBe("Running");
  });

  it(
    "O27 a Scheduling for a testbed that is not there waits for it",
    0,
    async (world) => {
      await world.submit("a", 600);
      await world.schedule("s", { testbed: { name: "other" }, slotBased: [{ name: "a", slots: [0] }] });
      await world.waits("s", "a", /^there is no testbed /);
      await world.addNode(0);
      await world.client.create(Testbed, {
        metadata: { name: "other", namespace: world.namespace },
        spec: { slotsPerNode: 1, nodeLabel: world.label, resourcesPerSlot: { cpu: "1", memory: "1Gi" } },
      });
      await world.phase("a", "Running");
    },
    { resourcesPerSlot: { cpu: "1", memory: "1Gi" } },
  );

  it("O28 nobody gets in between two jobs of an exclusive Scheduling", 1, async (world) => {
    for (const name of ["a", "b"]) await world.submit(name, 6);
    await world.submit("c", 600);
    await world.schedule("s", {
      slotBased: [
        { name: "a", slots: [0] },
        { name: "b", slots: [0] },
      ],
      exclusive: true,
    });
    await world.phase("a", "Running");
    await world.schedule("t", { slotBased: [{ name: "c", slots: [1] }] });
    await world.waits("t", "c", /s comes first$/);
    await world.phase("b", "Completed");
    await world.phase("c", "Running");
    const { status: last } = await world.job("b");
    const { status: next } = await world.job("c");
    expect(Date.parse(next?.claimTime ?? "")).toBeGreaterThanOrEqual(Date.parse(last?.completionTime ?? ""));
  });

  it("O29 those who come later do not keep an exclusive Scheduling waiting", 1, async (world) => {
    await world.submit("a", 8);
    await world.submit("b", 2);
    await world.submit("c", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.target.pass(1100); // ages are told in seconds
    await world.schedule("alone", { slotBased: [{ name: "b", slots: [0] }], exclusive: true });
    await world.waits("alone", "b", /nobody else has slots/);
    await world.target.pass(1100);
    await world.schedule("later", { slotBased: [{ name: "c", slots: [1] }] });
    await world.waits("later", "c", /alone comes first$/);
    await world.phase("b", "Completed");
    await world.phase("c", "Running");
  });

  it(
    "O31 an exclusive Scheduling does not wait for those that wait for it: for their jobs, or their slots",
    1,
    async (world) => {
      await world.schedule("older", { slotBased: [{ name: "late", slots: [0] }] });
      await world.waits("older", "late", /no such job yet$/);
      await world.target.pass(1100); // ages are told in seconds
      await world.submit("a", 20);
      for (const name of ["b", "c"]) await world.submit(name, 2);
      const alone = (...names: string[]) => ({
        slotBased: names.map((name) => ({ name, slots: [0] })),
        exclusive: true,
      });
      await world.schedule("alone", alone("a", "b"));
      await world.phase("a", "Running");
      await world.submit("late", 600);
      await world.waits("older", "late", /alone comes first$/);
      await world.schedule("younger", { slotBased: [{ name: "c", slots: [1] }] });
      await world.waits("younger", "c", /alone comes first$/);
      await world.edit("alone", alone("a", "b", "c"));
      await world.eventually("it ends", async () => (await world.scheduling("alone")).status?.phase === "Completed");
      await world.phase("late", "Running");
      await world.eventually("c runs again", async () => (await world.job("c")).status?.runs?.length === 2);
    },
  );
}
