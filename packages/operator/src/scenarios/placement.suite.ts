/** Who gets into a slot, and who does not. */
import { coreV1 } from "@berth/kube";
import { expect } from "vitest";
import { SLOT_GATE } from "../names.ts";
import type { Tell } from "./suite.ts";

export function placement(it: Tell): void {
  it("P1 every slot of full nodes gets its executor, and no other ghost has to go", 2, async (world) => {
    const before = await world.pods("ghost");
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2] }] });
    await world.phase("a", "Running");
    expect(await world.places("a")).toEqual([`1 on ${world.node(0)}`, `2 on ${world.node(1)}`]);
    await world.states("free", "occupied", "occupied", "free");
    const uids = (pods: readonly coreV1.Pod[], ...names: string[]) =>
      pods.filter(({ metadata }) => names.includes(metadata.name ?? "")).map(({ metadata }) => metadata.uid);
    const left = await world.pods("ghost");
    expect(uids(left, "ghost-main-0", "ghost-main-3")).toEqual(uids(before, "ghost-main-0", "ghost-main-3"));
    expect(left).toHaveLength(2);
  });

  it("P2 an executor too many waits at the gate, and is told why", 1, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    const [executor] = await world.pods("executor");
    const { labels = {}, annotations = {} } = executor?.metadata ?? {};
    // Not those of its Job, which would count it.
    const ours = Object.fromEntries(Object.entries(labels).filter(([key]) => key.startsWith("berth.dev/")));
    const { "berth.dev/slot": _, ...unplaced } = annotations;
    const surplus = await world.client.create(coreV1.Pod, {
      metadata: { name: "surplus", namespace: world.namespace, labels: ours, annotations: unplaced },
      spec: {
        schedulingGates: [{ name: SLOT_GATE }],
        priorityClassName: "berth-slot",
        containers: [{ name: "main", image: "busybox", resources: { requests: { cpu: "4", memory: "16Gi" } } }],
      },
    });
    await world.told(surplus, "NoSlot", /^job a was given 1 slot, and there is an executor in each/);
    const { spec } = await world.client.get(coreV1.Pod, { namespace: world.namespace, name: "surplus" });
    expect([spec?.nodeName, spec?.schedulingGates]).toEqual([undefined, [{ name: SLOT_GATE }]]);
    await world.states("occupied", "free");
  });

  it("P3 pods of other people are never touched", 1, async (world) => {
    const gated = (name: string, labels: Record<string, string>, annotations: Record<string, string>) =>
      world.client.create(coreV1.Pod, {
        metadata: { name, namespace: world.namespace, labels, annotations },
        spec: { schedulingGates: [{ name: SLOT_GATE }], containers: [{ name: "c", image: "i" }] },
      });
    await gated("stranger", {}, {});
    await gated(
      "impostor",
      { "berth.dev/role": "executor", "berth.dev/run": "1" },
      { "berth.dev/job": `${world.namespace}/a`, "berth.dev/testbed": `${world.namespace}/main` },
    );
    await world.submit("b", 600);
    await world.schedule("s", { slotBased: [{ name: "b", slots: [0, 1] }] });
    await world.phase("b", "Running");
    for (const name of ["stranger", "impostor"]) {
      const pod = await world.client.get(coreV1.Pod, { namespace: world.namespace, name });
      expect([pod.spec?.schedulingGates, pod.spec?.nodeName]).toEqual([[{ name: SLOT_GATE }], undefined]);
      expect(pod.metadata.annotations?.["berth.dev/slot"]).toBeUndefined();
    }
    expect(await world.places("b")).toEqual([`0 on ${world.node(0)}`, `1 on ${world.node(0)}`]);
  });

  it("P4 the next job has the slots as soon as the one before has left them", 1, async (world) => {
    for (const name of ["a", "b", "c"]) await world.submit(name, 4);
    await world.schedule("s", { slotBased: ["a", "b", "c"].map((name) => ({ name, slots: [0, 1] })) });
    for (const name of ["a", "b", "c"]) {
      const { status } = await world.phase(name, "Completed");
      expect(status?.runs).toMatchObject([{ slots: [0, 1], outcome: "Completed" }]);
    }
    await world.states("free", "free");
  });
}
