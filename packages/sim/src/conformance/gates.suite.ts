/** Pods behind gates, and the ghosts that keep their places: how an executor comes to its slot. */
import { coreV1, schedulingV1 } from "@berth/kube";
import { expect } from "vitest";
import type { JsonObject } from "../api/json.ts";
import { container } from "./examples/example.ts";
import { Talk, talks } from "./examples/talk.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";
import { eventually } from "./workload-world.ts";

const GATE = "berth.dev/slot";
const whole = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
const gated = (more: JsonObject = {}) => ({
  automountServiceAccountToken: false,
  containers: [{ ...container, resources: whole }],
  schedulingGates: [{ name: GATE }],
  ...more,
});

/** Opens the gate and says where to go, in one go. */
const placed = (node: string) => ({
  metadata: { annotations: { [GATE]: "0" }, labels: { [GATE]: "0" } },
  spec: {
    schedulingGates: null,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }],
        },
      },
    },
  },
});

async function withNodes(target: Target, names: readonly string[], body: () => Promise<void>): Promise<void> {
  for (const name of names) {
    const taints = [{ key: "berth.dev/conformance", effect: "NoSchedule" as const }];
    await target.addNode({ name, taints, allocatable: { cpu: "1", memory: "1Gi", pods: "10" } });
  }
  await body();
  for (const name of names) await target.removeNode(name);
}

const tolerations = [{ key: "berth.dev/conformance", operator: "Exists" }];

/** Where a pod went, once it has. */
function nodeOf(talk: Talk, name: string): Promise<string> {
  return eventually(`${name} is somewhere`, async () => (await talk.send("GET", `pods/${name}`)).body.spec.nodeName);
}

export const gates = suite("Gates", (it, target) => {
  const talk = talks("gates", it, target);

  talk("a gate is opened in any of the ways to change a pod", async (each) => {
    const ways = [
      ["merge", "merge", { spec: { schedulingGates: null } }],
      ["merge-empty", "merge", { spec: { schedulingGates: [] } }],
      ["strategic", "strategic", { spec: { schedulingGates: [{ $patch: "delete", name: GATE }] } }],
      ["strategic-all", "strategic", { spec: { schedulingGates: null } }],
      ["json", "json", [{ op: "remove", path: "/spec/schedulingGates" }]],
      ["json-one", "json", [{ op: "remove", path: "/spec/schedulingGates/0" }]],
    ] as const;
    for (const [name, type, patch] of ways) {
      const pod = await each.made(coreV1.Pod, name, { spec: gated({ schedulerName: "nobody" }) });
      each.shows(`${name}: behind it`, (await pod.get()).body.status);
      await each.hears(name, pod.patch(type, patch));
      const { spec, status, metadata } = (await pod.get()).body;
      each.shows(`${name}: open`, { gates: spec.schedulingGates ?? "none", status, generation: metadata.generation });
      await each.hears(`${name}: put up again`, pod.patch("merge", { spec: { schedulingGates: [{ name: GATE }] } }));
    }
  });

  talk("one patch opens the gate and says where to go, and no other follows", async (each) => {
    const pod = await each.made(coreV1.Pod, "it", { spec: gated({ schedulerName: "nobody" }) });
    await each.reads("at last", pod.patch("merge", placed("n")));
    await each.hears("again the same", pod.patch("merge", placed("n")));
    await each.hears("somewhere else", pod.patch("merge", placed("m")));
    const { metadata } = (await pod.get()).body;
    const old = { ...placed("n"), metadata: { resourceVersion: "1" } };
    await each.hears("by somebody who is late", pod.patch("merge", old));
    await each.hears(
      "by somebody who is not",
      pod.patch("merge", { metadata: { resourceVersion: metadata.resourceVersion } }),
    );
  });

  it("a pod behind a gate waits, and goes where it is told as soon as it is", async () => {
    const namespace = await target().namespace();
    const nodes = [`${namespace}-a`, `${namespace}-b`];
    await withNodes(target(), nodes, async () => {
      const each = new Talk(target(), namespace);
      const pod = await each.made(coreV1.Pod, "it", { spec: gated({ tolerations }) });
      const scheduled = async () => {
        const { conditions = [] } = (await pod.get()).body.status;
        return conditions.find(({ type }: { type: string }) => type === "PodScheduled");
      };
      expect(await scheduled()).toMatchObject({ status: "False", reason: "SchedulingGated" });
      await pod.patch("merge", placed(nodes[1] as string));
      expect(await nodeOf(each, "it")).toBe(nodes[1]);
      expect(await scheduled()).toMatchObject({ status: "True" });
      await pod.delete();
    });
  });

  it("a ghost keeps a place, and leaves it to the pod that it was kept for", async () => {
    const namespace = await target().namespace();
    const node = `${namespace}-a`;
    const [low, high] = [`${namespace}-ghost`, `${namespace}-slot`];
    const { client } = target();
    await client.create(schedulingV1.PriorityClass, { metadata: { name: low }, value: 1, preemptionPolicy: "Never" });
    await client.create(schedulingV1.PriorityClass, { metadata: { name: high }, value: 2, preemptionPolicy: "Never" });
    await withNodes(target(), [node], async () => {
      const each = new Talk(target(), namespace);
      const make = (name: string, spec: JsonObject) =>
        eventually(`${name} is there`, async () => {
          const { status } = await each.subject(coreV1.Pod, name).create({ spec: gated({ tolerations, ...spec }) });
          return status === 201 || undefined;
        });
      await make("ghost", { priorityClassName: low, ...placed(node).spec, terminationGracePeriodSeconds: 0 });
      expect(await nodeOf(each, "ghost")).toBe(node);
      await make("executor", { priorityClassName: high });
      // The ghost goes at once, and the executor comes in its place.
      expect((await each.send("DELETE", "pods/ghost?gracePeriodSeconds=0")).status).toBe(200);
      expect((await each.send("GET", "pods/ghost")).status).toBe(404);
      expect((await each.subject(coreV1.Pod, "executor").patch("merge", placed(node))).status).toBe(200);
      expect(await nodeOf(each, "executor")).toBe(node);
      await each.send("DELETE", "pods/executor?gracePeriodSeconds=0");
    });
    for (const name of [low, high]) await client.delete(schedulingV1.PriorityClass, { name });
  });
});
