/** What becomes of nodes, and of their pods when they are gone. */
import { coreV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import { eventually, WorkloadWorld } from "./workload-world.ts";

const { Node, Pod } = coreV1;
const taintsOf = ({ spec }: coreV1.Node) => spec?.taints?.map(({ key, value, effect }) => [key, value, effect]) ?? [];

export const nodes = suite("nodes", (it, target) => {
  const inWorld = (name: string, test: (world: WorkloadWorld) => Promise<void>) =>
    it(name, () => WorkloadWorld.in(target(), test));
  const untilNode = (world: WorkloadWorld, holds: (node: coreV1.Node) => boolean) =>
    eventually(`node ${world.node}`, async () => {
      const found = await world.client.find(Node, { name: world.node });
      return found && holds(found) ? found : undefined;
    });
  const run = (world: WorkloadWorld, name: string, spec: Partial<coreV1.PodSpec> = {}, metadata: object = {}) =>
    world.client.create(Pod, {
      metadata: { name, namespace: world.namespace, ...metadata },
      spec: { containers: [{ name: "main", image: "busybox" }], nodeName: world.node, ...spec },
    });
  const running = (world: WorkloadWorld, name: string) =>
    world.until(Pod, name, ({ status }) => status?.phase === "Running");

  inWorld("say with a taint that they take no pods", async (world) => {
    await world.target.kubectl(["cordon", world.node]);
    const cordoned = await untilNode(world, ({ spec }) => Boolean(spec?.taints?.length));
    expect(cordoned.spec?.taints).toEqual([
      { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded: expect.any(String) },
    ]);
    await world.target.kubectl(["uncordon", world.node]);
    await untilNode(world, ({ spec }) => !spec?.taints?.length);
  });

  inWorld("with a taint that makes pods leave lose them when these tolerate it no longer", async (world) => {
    const tolerations = (tolerationSeconds?: number) => ({
      tolerations: [
        {
          ...{ key: "conformance.berth.dev/leave", operator: "Exists" as const, effect: "NoExecute" as const },
          ...(tolerationSeconds !== undefined && { tolerationSeconds }),
        },
      ],
    });
    const finalizers = ["conformance.berth.dev/held"];
    await run(world, "none", {}, { finalizers });
    await run(world, "some", tolerations(2));
    await run(world, "all", tolerations());
    await Promise.all(["none", "some", "all"].map((name) => running(world, name)));
    await world.target.kubectl(["taint", "node", world.node, "conformance.berth.dev/leave=now:NoExecute"]);
    const none = await world.until(Pod, "none", ({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(none.status?.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    });
    expect(await world.client.find(Pod, { namespace: world.namespace, name: "some" })).toBeDefined();
    await world.gone(Pod, "some");
    expect(
      (await world.client.get(Pod, { namespace: world.namespace, name: "all" })).metadata.deletionTimestamp,
    ).toBeUndefined();
    const told = await world.told("Pod", "none", "TaintManagerEviction");
    expect(told).toContain(`Normal TaintManagerEviction: Marking for deletion Pod ${world.namespace}/none`);
    const key = { namespace: world.namespace, name: "none" };
    await world.client.patch(Pod, key, { merge: { metadata: { finalizers: null } } });
  });

  inWorld("that are gone leave pods behind, which somebody clears away", async (world) => {
    const finalizers = ["conformance.berth.dev/held"];
    await run(world, "held", {}, { finalizers });
    await run(world, "free");
    await Promise.all(["held", "free"].map((name) => running(world, name)));
    await world.target.removeNode(world.node);
    const waited = Promise.all([
      world.gone(Pod, "free"),
      world.until(Pod, "held", ({ metadata }) => metadata.deletionTimestamp !== undefined),
    ]);
    const [, held] = await waited.catch(async () =>
      // The real one looks every 20 seconds, and waits for 40 more.
      Promise.all([
        world.gone(Pod, "free"),
        world.until(Pod, "held", ({ metadata }) => metadata.deletionTimestamp !== undefined),
      ]),
    );
    expect(held.status?.phase).toBe("Failed");
    expect(held.metadata.deletionGracePeriodSeconds).toBe(0);
    expect(held.status?.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
    });
    const key = { namespace: world.namespace, name: "held" };
    await world.client.patch(Pod, key, { merge: { metadata: { finalizers: null } } });
  });

  it("that fall silent are unknown and tainted, until they speak again", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    const name = `silent-${namespace}`;
    const ready = (time: string) => ({
      ...{ type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
      ...{ lastHeartbeatTime: time, lastTransitionTime: time },
    });
    const find = (holds: (node: coreV1.Node) => boolean) =>
      eventually(`node ${name}`, async () => {
        const found = await client.get(Node, { name });
        return holds(found) ? found : undefined;
      });
    // Nobody plays its kubelet: it has said once that it is well, and says nothing more.
    const created = await client.create(Node, {
      metadata: { name, annotations: { "sim.berth.dev/kubelet": "false" } },
      status: { conditions: [ready("2020-01-01T00:00:00Z")] },
    });
    await find(({ spec }) => !spec?.taints?.length);
    const key = { namespace, name: "p" };
    const spec = { containers: [{ name: "main", image: "busybox" }], nodeName: name };
    await client.create(Pod, { metadata: key, spec });
    const conditions = [{ type: "Ready", status: "True" }];
    await client.subresource("status").patch(Pod, key, { merge: { status: { phase: "Running", conditions } } });
    const isUnknown = ({ status }: coreV1.Node) =>
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "Unknown") === true;
    const node = await find(isUnknown).catch(() => find(isUnknown));
    expect(node.metadata.uid).toBe(created.metadata.uid);
    expect(
      node.status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]),
    ).toEqual([
      ["Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."],
      ["MemoryPressure", "Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status."],
      ["DiskPressure", "Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status."],
      ["PIDPressure", "Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status."],
    ]);
    // Two parts of the real cluster taint it, one for new pods and one for those that are there: in either order.
    const tainted = await find((found) => taintsOf(found).some(([, , effect]) => effect === "NoSchedule"));
    expect(taintsOf(tainted)).toContainEqual(["node.kubernetes.io/unreachable", undefined, "NoSchedule"]);
    const pod = await eventually("a pod that is not ready", async () => {
      const found = await client.get(Pod, key);
      return found.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "False")
        ? found
        : undefined;
    });
    expect([pod.status?.phase, pod.metadata.deletionTimestamp]).toEqual(["Running", undefined]);
    const { items } = await client.list(coreV1.Event, { namespace });
    expect(items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toContain(
      "Warning NodeNotReady: Node is not ready",
    );
    const again = { status: { conditions: [ready("2020-01-01T00:01:00Z")] } };
    await client.subresource("status").patch(Node, { name }, { merge: again });
    await find((found) => taintsOf(found).length === 0);
    await client.delete(Pod, key, { gracePeriodSeconds: 0 });
    await client.delete(Node, { name });
  });
});
