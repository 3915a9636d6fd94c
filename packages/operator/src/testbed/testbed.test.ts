import { apiextensionsV1, type Client, coreV1, Manager, schedulingV1, silent, VirtualClock } from "@berth/kube";
import { BatchJob, resources, Slot, Testbed } from "@berth/model";
import { startSim } from "@berth/sim";
import { afterEach, describe, expect, it } from "vitest";
import { Ledger } from "../ledger/ledger.ts";
import { annotation, label } from "../names.ts";
import { testbedController } from "./controller.ts";
import { indexForTestbeds } from "./world.ts";

const NAMESPACE = "default";
const LABEL = "example.org/slots";
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function world(nodes: number, spec: Partial<Testbed["spec"]> = {}) {
  const clock = new VirtualClock();
  const sim = await startSim({ clock, nodes });
  ends.push(() => sim.stop());
  const { client } = sim;
  for (const resource of resources) await client.create(apiextensionsV1.CustomResourceDefinition, resource.crd());
  for (const [name, value, preemptionPolicy] of [
    ["berth-ghost", 1, "Never"],
    ["berth-ghost-return", 1, "PreemptLowerPriority"],
    ["berth-slot", 2, "PreemptLowerPriority"],
  ] as const) {
    await client.create(schedulingV1.PriorityClass, { metadata: { name }, value, preemptionPolicy });
  }
  await clock.advance(1000);
  const manager = new Manager({ transport: sim.transport, clock, log: silent, name: "test" });
  const ledger = new Ledger();
  const { cache } = manager;
  indexForTestbeds(cache);
  cache.informer(BatchJob).addEventHandler({
    onAdd: (job) => ledger.setJob(`${NAMESPACE}/${job.metadata.name}`, job),
    onUpdate: (_, job) => ledger.setJob(`${NAMESPACE}/${job.metadata.name}`, job),
    onDelete: (job) => ledger.setJob(`${NAMESPACE}/${job.metadata.name}`, undefined),
  });
  manager.addController(testbedController({ cache, ledger, ghostImage: "pause" }));
  const over = new AbortController();
  const running = manager.start({ signal: over.signal });
  ends.push(async () => {
    over.abort();
    await running;
  });
  await client.create(Testbed, {
    metadata: { name: "main", namespace: NAMESPACE },
    spec: { slotsPerNode: 2, nodeLabel: LABEL, resourcesPerSlot: { cpu: "2", memory: "4Gi" }, ...spec },
  });
  const mark = (node: number, value: string | null) =>
    client.patch(coreV1.Node, { name: `node-${node}` }, { merge: { metadata: { labels: { [LABEL]: value } } } });
  const settle = () => clock.advance(5000);
  return { sim, client, clock, mark, settle };
}

const states = async (client: Client) => {
  const { items } = await client.list(Slot, { namespace: NAMESPACE });
  const sorted = items.sort((a, b) => a.spec.position - b.spec.position);
  return sorted.map(({ spec, status }) => `${spec.position} ${spec.nodeName} ${status?.state}`);
};
const ghosts = async (client: Client) => {
  const { items } = await client.list(coreV1.Pod, { namespace: NAMESPACE, labelSelector: `${label.role}=ghost` });
  return items.map(({ metadata, spec }) => `${metadata.name} ${spec?.nodeName ?? "nowhere"}`);
};

describe("a testbed", () => {
  it("reserves its slots on the nodes that have the label, and on those that get it", async () => {
    const { client, mark, settle } = await world(3);
    await settle();
    const empty = await client.get(Testbed, { namespace: NAMESPACE, name: "main" });
    expect(empty.status?.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "NoSlots" }]);
    await mark(2, "1");
    await mark(1, "2");
    await settle();
    expect(await states(client)).toEqual(["0 node-2 free", "1 node-2 free", "2 node-1 free", "3 node-1 free"]);
    expect(await ghosts(client)).toEqual([
      "ghost-main-0 node-2",
      "ghost-main-1 node-2",
      "ghost-main-2 node-1",
      "ghost-main-3 node-1",
    ]);
    const { status } = await client.get(Testbed, { namespace: NAMESPACE, name: "main" });
    expect(status).toMatchObject({ nodes: 2, slots: { total: 4, free: 4 }, conditions: [{ status: "True" }] });
  });

  it("gives back what it had on a node that loses the label, or is gone", async () => {
    const { client, mark, settle, sim } = await world(3);
    for (const node of [0, 1, 2]) await mark(node, String(node));
    await settle();
    await mark(0, null);
    sim.removeNode("node-1");
    await settle();
    expect(await states(client)).toEqual(["4 node-2 free", "5 node-2 free"]);
    expect(await ghosts(client)).toEqual(["ghost-main-4 node-2", "ghost-main-5 node-2"]);
  });

  it("says which slots cannot be had, and why, and evicts nobody for them", async () => {
    const { client, mark, settle, clock } = await world(1);
    const other: coreV1.Pod = {
      metadata: { name: "other", namespace: NAMESPACE },
      spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "5" } } }] },
    };
    await client.create(coreV1.Pod, other);
    await clock.advance(1000);
    await mark(0, "1");
    await settle();
    expect(await states(client)).toEqual(["0 node-0 free", "1 node-0 unavailable"]);
    const slot = await client.get(Slot, { namespace: NAMESPACE, name: "main-1" });
    expect(slot.status?.reason).toContain("there is no room for it on its node");
    expect((await client.get(coreV1.Pod, { namespace: NAMESPACE, name: "other" })).status?.phase).toBe("Running");
    await client.delete(coreV1.Pod, { namespace: NAMESPACE, name: "other" }, { gracePeriodSeconds: 0 });
    await clock.advance(60_000);
    expect(await states(client)).toEqual(["0 node-0 free", "1 node-0 free"]);
  });

  it("brings back ghosts that were lost", async () => {
    const { client, mark, settle } = await world(1);
    await mark(0, "1");
    await settle();
    await client.delete(coreV1.Pod, { namespace: NAMESPACE, name: "ghost-main-0" }, { gracePeriodSeconds: 0 });
    await settle();
    expect(await ghosts(client)).toEqual(["ghost-main-0 node-0", "ghost-main-1 node-0"]);
  });

  it("follows its spec: other sizes and numbers, those in use when they are free", async () => {
    const { client, mark, settle } = await world(1);
    await mark(0, "1");
    await settle();
    await client.create(BatchJob, {
      metadata: { name: "j", namespace: NAMESPACE },
      spec: {
        jobSpec: {},
        activeScheduling: { name: "s" },
        creationRequest: { testbed: { name: "main" }, slots: [1] },
      },
    });
    const spec = { slotsPerNode: 1, resourcesPerSlot: { cpu: "3", memory: "4Gi" } };
    await client.patch(Testbed, { namespace: NAMESPACE, name: "main" }, { merge: { spec } });
    await settle();
    expect(await states(client)).toEqual(["0 node-0 free", "1 node-0 reserved"]);
    const first = await client.get(coreV1.Pod, { namespace: NAMESPACE, name: "ghost-main-0" });
    expect(first.spec?.containers[0]?.resources?.requests).toEqual({ cpu: "3", memory: "4Gi" });
    await client.delete(BatchJob, { namespace: NAMESPACE, name: "j" });
    await client.patch(
      coreV1.Node,
      { name: "node-0" },
      { merge: { metadata: { annotations: { touch: "1" }, labels: { touch: "1" } } } },
    );
    await settle();
    expect(await states(client)).toEqual(["0 node-0 free"]);
  });

  it("goes when nobody has its slots any more", async () => {
    const { client, mark, settle } = await world(1);
    await mark(0, "1");
    await settle();
    await client.create(coreV1.Pod, {
      metadata: {
        name: "executor",
        namespace: NAMESPACE,
        labels: { [label.role]: "executor" },
        annotations: { [annotation.testbed]: "default/main", [annotation.job]: "default/j", [annotation.slot]: "0" },
      },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    await settle();
    expect(await states(client)).toEqual(["0 node-0 occupied", "1 node-0 free"]);
    await client.delete(Testbed, { namespace: NAMESPACE, name: "main" });
    await settle();
    expect(await client.find(Testbed, { namespace: NAMESPACE, name: "main" })).toBeUndefined();
    expect([await states(client), await ghosts(client)]).toEqual([[], []]);
  });
});
