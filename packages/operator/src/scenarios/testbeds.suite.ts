/** Slots and the ghosts that keep them. */
import { coreV1, isNotFound } from "@berth/kube";
import { Slot, Testbed } from "@berth/model";
import { expect } from "vitest";
import type { Tell } from "./suite.ts";
import type { World } from "./world.ts";

/** Slots that leave room on their nodes. */
const SMALL = { resourcesPerSlot: { cpu: "2", memory: "4Gi" } };

/** A pod of somebody who has never heard of Berth. */
function ordinary(world: World, name: string, cpu: string, spec: Partial<coreV1.PodSpec> = {}): Promise<coreV1.Pod> {
  return world.client.create(coreV1.Pod, {
    metadata: { name, namespace: world.namespace, annotations: { "berth.dev/run-time": "600s" } },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": world.node(0) },
      containers: [{ name: "c", image: "i", resources: { requests: { cpu } } }],
      ...spec,
    },
  });
}

async function remove(world: World, name: string): Promise<void> {
  await world.client.delete(coreV1.Pod, { namespace: world.namespace, name }, { gracePeriodSeconds: 0 });
}

export function testbeds(it: Tell): void {
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

  it(
    "T4 a slot for which there is no room is unavailable, and evicts nobody",
    1,
    async (world) => {
      await world.client.create(coreV1.Pod, {
        metadata: { name: "other", namespace: world.namespace, annotations: { "berth.dev/run-time": "600s" } },
        spec: {
          nodeName: world.node(0),
          containers: [{ name: "c", image: "i", resources: { requests: { cpu: "3" } } }],
        },
      });
      await world.client.patch(
        Testbed,
        { namespace: world.namespace, name: "main" },
        { merge: { spec: { slotsPerNode: 3 } } },
      );
      await world.states("free", "free", "unavailable");
      await world.eventually("the reason", async () => {
        const [, , slot] = await world.slots();
        return /^there is no room for it on its node: .*Insufficient cpu/.test(slot?.status?.reason ?? "");
      });
      await world.client.delete(coreV1.Pod, { namespace: world.namespace, name: "other" }, { gracePeriodSeconds: 0 });
      await world.states("free", "free", "free");
    },
    SMALL,
  );

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

  it(
    "T6 another size drains: free slots at once, those in use when they are free",
    1,
    async (world) => {
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
    },
    SMALL,
  );

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

  it("T8 slots keep their positions when the value of the label changes", 2, async (world) => {
    await world.mark(0, "77");
    await world.eventually("the new value", async () => (await world.slots())[0]?.spec.nodeId === "77");
    expect((await world.slots()).map(({ spec }) => [spec.position, spec.nodeName, spec.nodeId])).toEqual([
      [0, world.node(0), "77"],
      [1, world.node(0), "77"],
      [2, world.node(1), "1"],
      [3, world.node(1), "1"],
    ]);
    await world.states("free", "free", "free", "free");
  });

  it("T9 a node that is not ready has no slots to give, until it is", 2, async (world) => {
    await world.target.breakNode(world.node(1));
    await world.states("free", "free", "unavailable", "unavailable");
    const [, , slot] = await world.slots();
    expect(slot?.status?.reason).toMatch(/^its node is not ready/);
    await world.target.mendNode(world.node(1));
    await world.states("free", "free", "free", "free");
  });

  it(
    "T10 slots become more and fewer; one in use goes when it is free",
    1,
    async (world) => {
      await world.change({ slotsPerNode: 3 });
      await world.states("free", "free", "free");
      await world.submit("a", 20);
      await world.schedule("s", { slotBased: [{ name: "a", slots: [2] }] });
      await world.phase("a", "Running");
      await world.change({ slotsPerNode: 1 });
      await world.states("free", "occupied");
      expect((await world.slots()).map(({ spec }) => spec.position)).toEqual([0, 2]);
      await world.phase("a", "Completed");
      await world.states("free");
    },
    SMALL,
  );

  it(
    "T11 two testbeds on one node are both honest about what they could reserve",
    1,
    async (world) => {
      await world.client.create(Testbed, {
        metadata: { name: "second", namespace: world.namespace },
        spec: { slotsPerNode: 2, nodeLabel: world.label, resourcesPerSlot: { cpu: "3", memory: "1Gi" } },
      });
      // Two of the first testbed's slots leave 4 of the 8 CPUs: there is room for one of the second's.
      const states = (testbed: string, ...wanted: string[]) =>
        world.eventually(`${testbed}: ${wanted}`, async () => {
          const slots = (await world.slots()).filter(({ spec }) => spec.testbed === testbed);
          return (
            slots
              .map(({ status }) => status?.state)
              .sort()
              .join() === wanted.join()
          );
        });
      await states("main", "free", "free");
      await states("second", "free", "unavailable");
      await world.client.delete(Testbed, { namespace: world.namespace, name: "main" });
      await states("second", "free", "free");
    },
    SMALL,
  );

  it(
    "T19 a pod of somebody else that has a ghost's name stays, and its slot is unavailable until it goes",
    1,
    async (world) => {
      const { metadata } = await ordinary(world, "ghost-second-0", "100m");
      await world.client.create(Testbed, {
        metadata: { name: "second", namespace: world.namespace },
        spec: { slotsPerNode: 1, nodeLabel: world.label, resourcesPerSlot: { cpu: "1", memory: "1Gi" } },
      });
      const key = { namespace: world.namespace, name: "second-0" };
      const becomes = (wanted: string) =>
        world.eventually(wanted, async () => (await world.client.find(Slot, key))?.status?.state === wanted);
      await becomes("unavailable");
      const { reason } = (await world.client.get(Slot, key)).status ?? {};
      expect(reason).toBe("a pod that is not its ghost is called ghost-second-0");
      const { uid, deletionTimestamp } = (
        await world.client.get(coreV1.Pod, { namespace: world.namespace, name: "ghost-second-0" })
      ).metadata;
      expect([uid, deletionTimestamp]).toEqual([metadata.uid, undefined]);
      await remove(world, "ghost-second-0");
      await becomes("free");
    },
    SMALL,
  );

  it("T12 a ghost that gives way to somebody more important comes back", 1, async (world) => {
    await ordinary(world, "important", "3", {
      priorityClassName: "system-node-critical",
      nodeSelector: {},
      ...world.on(0),
    });
    await world.eventually("one slot is lost", async () =>
      (await world.slots()).some(({ status }) => status?.state === "unavailable"),
    );
    await remove(world, "important");
    await world.states("free", "free");
  });

  it("T13 a ghost that has ended is replaced", 1, async (world) => {
    const [before] = await world.pods("ghost");
    const key = { namespace: world.namespace, name: before?.metadata.name ?? "" };
    await world.client.status.patch(coreV1.Pod, key, { merge: { status: { phase: "Failed" } } });
    await world.eventually("another one", async () => {
      const pods = await world.pods("ghost");
      return (
        pods.length === 2 &&
        pods.every(({ metadata, spec }) => metadata.uid !== before?.metadata.uid && spec?.nodeName !== undefined)
      );
    });
    await world.states("free", "free");
  });

  it("T14 a slot that is set unschedulable is given to nobody; who is in it stays", 1, async (world) => {
    for (const name of ["a", "b"]) await world.submit(name, 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    for (const slot of ["main-0", "main-1"]) {
      const key = { namespace: world.namespace, name: slot };
      await world.client.patch(Slot, key, { merge: { spec: { unschedulable: true } } });
    }
    await world.states("occupied", "unavailable");
    await world.schedule("q", { queueBased: [{ name: "b" }] });
    await world.waits("q", "b", /slot/);
    expect((await world.job("a")).status?.phase).toBe("Running");
    await world.client.patch(
      Slot,
      { namespace: world.namespace, name: "main-1" },
      { merge: { spec: { unschedulable: false } } },
    );
    await world.phase("b", "Running");
    expect(await world.places("b")).toEqual([`1 on ${world.node(0)}`]);
  });

  it("T15 a node that comes back has its slots back", 2, async (world) => {
    await world.target.removeNode(world.node(0));
    await world.states("free", "free");
    await world.addNode(0);
    await world.states("free", "free", "free", "free");
    expect((await world.slots()).map(({ spec }) => spec.position)).toEqual([0, 1, 2, 3]);
  });

  it("T16 a testbed without nodes says so", 0, async (world) => {
    await world.eventually("the reason", async () => {
      const { status } = await world.client.get(Testbed, { namespace: world.namespace, name: "main" });
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.reason === "NoSlots" && ready.message === `no node has the label ${world.label}`;
    });
  });

  it(
    "T17 ghosts and executors tolerate what the testbed tolerates",
    1,
    async (world) => {
      const taints = [{ key: "example.org/pool", value: "batch", effect: "NoExecute" as const }];
      await world.client.patch(coreV1.Node, { name: world.node(0) }, { merge: { spec: { taints } } });
      await world.submit("a", 600);
      await world.schedule("s", { slotBased: [{ name: "a", slots: [1] }] });
      await world.phase("a", "Running");
      expect(await world.places("a")).toEqual([`1 on ${world.node(0)}`]);
      await world.states("free", "occupied");
    },
    { tolerations: [{ key: "example.org/pool", operator: "Exists" }] },
  );

  it(
    "T18 ordinary pods take what is left, and no slots",
    1,
    async (world) => {
      await ordinary(world, "small", "3");
      await ordinary(world, "large", "3");
      await world.eventually("one finds room", async () => {
        const pods = await Promise.all(
          ["small", "large"].map((name) => world.client.get(coreV1.Pod, { namespace: world.namespace, name })),
        );
        return pods.filter(({ spec }) => spec?.nodeName).length === 1;
      });
      await world.target.pass(3000);
      await world.states("free", "free");
      expect(await world.pods("ghost")).toHaveLength(2);
      await remove(world, "small");
      await remove(world, "large");
    },
    SMALL,
  );
}
