/** Schedulers that ask an extender: the same one, over HTTP, on both targets. When it is asked what, and what follows. */
import { coreV1, findCondition } from "@berth/kube";
import { expect } from "vitest";
import type { ExtenderArgs } from "../scheduler/extenders/messages.ts";
import { type Answers, RecordingExtender } from "./recording-extender.ts";
import { eventually, SchedulingWorld } from "./scheduling-world.ts";
import { suite } from "./suite.ts";

let schedulers = 0;

export const extenders = suite("extenders", (it, target) => {
  interface Setting {
    readonly world: SchedulingWorld;
    readonly extender: RecordingExtender;
    /** What pods must ask for to get to the scheduler. */
    readonly spec: { readonly schedulerName: string };
  }

  /** @param settings - As in a scheduler's configuration, beside the verbs and the URL. */
  const withExtender = (
    name: string,
    settings: Readonly<Record<string, unknown>>,
    answersOf: (world: SchedulingWorld) => Answers,
    test: (setting: Setting) => Promise<void>,
    verbs: readonly string[] = ["filter", "preempt"],
  ) =>
    it(name, () =>
      SchedulingWorld.in(target(), async (world) => {
        const extender = await RecordingExtender.start(answersOf(world));
        const schedulerName = `extended-${++schedulers}`;
        try {
          const { scheduler } = target();
          if (!scheduler) throw new Error("this target has no further schedulers");
          await scheduler.call(target(), schedulerName, {
            percentageOfNodesToScore: 100,
            podMaxBackoffSeconds: 1,
            extenders: [
              {
                urlPrefix: extender.url,
                nodeCacheCapable: true,
                ...Object.fromEntries(verbs.map((verb) => [`${verb}Verb`, verb])),
                ...settings,
              },
            ],
          });
          await test({ world, extender, spec: { schedulerName } });
        } finally {
          await extender.stop();
        }
      }),
    );

  withExtender(
    "asks which of the nodes that will do may be had",
    {},
    (world) => ({
      filter: ({ NodeNames }) => ({ NodeNames: (NodeNames ?? []).filter((name) => name === world.nodeName("b")) }),
    }),
    async ({ world, extender, spec }) => {
      const [a, b] = [await world.node("a"), await world.node("b")];
      await world.node("small", { allocatable: { cpu: "1" } });
      const pod = await world.pod("a", { requests: { cpu: "2" }, spec });
      expect(await world.placeOf("a")).toBe(b);
      expect(extender.summary).toEqual([`filter ${a} ${b}`]);
      const [call] = extender.calls;
      expect(call?.args).toMatchObject({
        Pod: { metadata: { name: "a", uid: pod.metadata.uid }, spec: { schedulerName: spec.schedulerName } },
        Nodes: null,
      });
      const { Pod: sent, ...rest }: Partial<ExtenderArgs> = call?.verb === "filter" ? call.args : {};
      expect(Object.keys(sent ?? {}).sort()).toEqual(["metadata", "spec", "status"]);
      expect(Object.keys(rest).sort()).toEqual(["NodeNames", "Nodes"]);
      const [event] = await world.events("a", "Scheduled");
      expect(event?.reportingController).toBe(spec.schedulerName);
    },
  );

  withExtender(
    "sends whole nodes to an extender that does not know them",
    { nodeCacheCapable: false },
    (world) => ({
      filter: ({ Nodes }) => ({
        Nodes: { items: (Nodes?.items ?? []).filter(({ metadata }) => metadata.name === world.nodeName("b")) },
      }),
    }),
    async ({ world, extender, spec }) => {
      const [a, b] = [await world.node("a"), await world.node("b")];
      await world.pod("a", { spec });
      expect(await world.placeOf("a")).toBe(b);
      expect(extender.summary).toEqual([`filter ${a} ${b}`]);
      const [call] = extender.calls;
      const { Nodes, NodeNames }: Partial<ExtenderArgs> = call?.verb === "filter" ? call.args : {};
      expect(NodeNames).toBeNull();
      expect(Nodes?.items[0]).toMatchObject({ status: { allocatable: { cpu: "8" } } });
      expect(Nodes?.items[0]?.kind).toBeUndefined();
    },
  );

  withExtender(
    "adds its scores by their weight, if there is a choice",
    { weight: 3 },
    (world) => ({
      prioritize: ({ NodeNames }) =>
        (NodeNames ?? []).map((Host) => ({ Host, Score: Host === world.nodeName("full") ? 10 : 0 })),
    }),
    async ({ world, extender, spec }) => {
      const [empty, full] = [await world.node("empty"), await world.node("full")];
      await world.running("there", full, { requests: { cpu: "4", memory: "16Gi" } });
      await world.pod("a", { requests: { cpu: "1" }, spec });
      expect(await world.placeOf("a")).toBe(full);
      await world.pod("only", { requests: { cpu: "6" }, spec });
      expect(await world.placeOf("only")).toBe(empty);
      expect(extender.summary).toEqual([`filter ${empty} ${full}`, `prioritize ${empty} ${full}`, `filter ${empty}`]);
    },
    ["filter", "prioritize"],
  );

  withExtender(
    "goes on without scores that cannot be had",
    { weight: 1 },
    () => ({ prioritize: () => 500 }),
    async ({ world, extender, spec }) => {
      const [a, b] = [await world.node("a"), await world.node("b")];
      await world.running("there", a, { requests: { cpu: "4", memory: "16Gi" } });
      await world.pod("a", { requests: { cpu: "1" }, spec });
      expect(await world.placeOf("a")).toBe(b);
      expect(extender.summary).toEqual([`prioritize ${a} ${b}`]);
    },
    ["prioritize"],
  );

  withExtender(
    "evicts exactly whom it names",
    {},
    () => ({
      preempt: ({ NodeNameToMetaVictims }) => ({
        NodeNameToMetaVictims: Object.fromEntries(
          Object.entries(NodeNameToMetaVictims ?? {}).map(([node, { NumPDBViolations }]) => [
            node,
            { Pods: [{ UID: chosen }], NumPDBViolations },
          ]),
        ),
      }),
    }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n", { allocatable: { cpu: "3" } });
      // Without the extender the youngest would have to go.
      const since = (second: number) => `2024-01-01T00:00:0${second}Z`;
      const ghosts = [];
      for (const second of [1, 2, 3])
        ghosts.push(
          await world.running(`ghost-${second}`, node, { requests: { cpu: "1" }, priority: 1, since: since(second) }),
        );
      chosen = ghosts[1]?.metadata.uid ?? "";
      await world.pod("executor", { requests: { cpu: "1" }, priority: 2, spec });
      expect(await world.placeOf("executor")).toBe(node);
      await world.gone("ghost-2");
      for (const name of ["ghost-1", "ghost-3"]) expect(await world.find(name)).toBeDefined();
      // First nobody is asked which nodes will do, since none does; then only whether this one does.
      expect(extender.summary).toEqual([`preempt ${node}`, `filter ${node}`]);
      expect(extender.calls[0]?.args).toMatchObject({
        NodeNameToVictims: null,
        NodeNameToMetaVictims: { [node]: { Pods: [{ UID: ghosts[2]?.metadata.uid }], NumPDBViolations: 0 } },
      });
    },
  );
  let chosen = "";

  withExtender(
    "sends whole victims to an extender that does not know them",
    { nodeCacheCapable: false },
    () => ({
      filter: ({ Nodes }) => ({ Nodes }),
      preempt: ({ NodeNameToVictims }) => ({
        NodeNameToMetaVictims: Object.fromEntries(
          Object.entries(NodeNameToVictims ?? {}).map(([node, { Pods }]) => [
            node,
            { Pods: Pods.map(({ metadata }) => ({ UID: metadata.uid ?? "" })), NumPDBViolations: 0 },
          ]),
        ),
      }),
    }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n", { allocatable: { cpu: "1" } });
      await world.running("ghost", node, { requests: { cpu: "1" }, priority: 1 });
      await world.pod("executor", { requests: { cpu: "1" }, priority: 2, spec });
      expect(await world.placeOf("executor")).toBe(node);
      expect(extender.calls[0]?.args).toMatchObject({
        NodeNameToMetaVictims: null,
        NodeNameToVictims: { [node]: { Pods: [{ metadata: { name: "ghost" } }], NumPDBViolations: 0 } },
      });
    },
  );

  withExtender(
    "evicts nobody if it names nobody",
    {},
    () => ({ preempt: () => ({ NodeNameToMetaVictims: {} }) }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n", { allocatable: { cpu: "1" } });
      await world.running("ghost", node, { requests: { cpu: "1" }, priority: 1 });
      await world.pod("executor", { requests: { cpu: "1" }, priority: 2, spec });
      const reasons = { "Insufficient cpu": 1 };
      await world.unscheduled("executor", await world.message(reasons, "no candidate node for preemption"));
      expect(extender.summary).toEqual([`preempt ${node}`]);
      expect((await world.get("ghost")).metadata.deletionTimestamp).toBeUndefined();
    },
  );

  withExtender(
    "evicts nobody if it names somebody who is not there",
    {},
    ({ nodeName }) => ({
      preempt: ({ NodeNameToMetaVictims }) => ({
        NodeNameToMetaVictims: Object.fromEntries(
          Object.keys(NodeNameToMetaVictims ?? { [nodeName("n")]: {} }).map((node) => [
            node,
            { Pods: [{ UID: "nobody" }], NumPDBViolations: 0 },
          ]),
        ),
      }),
    }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n", { allocatable: { cpu: "1" } });
      await world.running("ghost", node, { requests: { cpu: "1" }, priority: 1 });
      await world.pod("executor", { requests: { cpu: "1" }, priority: 2, spec });
      const condition = await world.unscheduled("executor");
      const why = `extender: ${extender.url} claims to preempt pod (UID: &{nobody}) on node: ${node}, but the pod is not found on that node`;
      expect(condition.message).toBe(`${await world.message({ "Insufficient cpu": 1 })} preemption: ${why}`);
    },
  );

  withExtender(
    "says why it wants none of the nodes, and evicts nobody there",
    {},
    () => ({
      filter: ({ NodeNames }) => ({
        NodeNames: [],
        FailedAndUnresolvableNodes: Object.fromEntries((NodeNames ?? []).map((name) => [name, "not this one"])),
      }),
    }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n");
      await world.running("ghost", node, { requests: { cpu: "1" }, priority: 1 });
      await world.pod("executor", { requests: { cpu: "1" }, priority: 2, spec });
      const message = await world.message({ "not this one": 1 }, await world.noPreemption());
      await world.unscheduled("executor", message);
      // Its own change of status is something that happens, too, and reason enough to ask again.
      expect(new Set(extender.summary)).toEqual(new Set([`filter ${node}`]));
    },
  );

  withExtender(
    "fails if it wants a node later where everybody could stay",
    {},
    () => ({
      filter: ({ NodeNames }) => ({
        NodeNames: [],
        FailedNodes: Object.fromEntries((NodeNames ?? []).map((name) => [name, "not now"])),
      }),
    }),
    async ({ world, spec }) => {
      const node = await world.node("n");
      await world.running("ghost", node, { requests: { cpu: "1" }, priority: 1 });
      await world.pod("executor", { requests: { cpu: "1" }, priority: 2, spec });
      const condition = await world.unscheduled("executor");
      expect(condition.message).toBe(
        `${await world.message({ "not now": 1 })} preemption: expected at least one victim pod on node "${node}"`,
      );
    },
  );

  withExtender(
    "tries a pod again after anything at all once it has wanted none of its nodes",
    {},
    () => ({ filter: ({ NodeNames }) => ({ NodeNames: open ? NodeNames : [] }) }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n");
      await world.running("other", node);
      await world.pod("a", { spec });
      await world.unscheduled("a");
      // Once more after its own change of status.
      await eventually("the second call", async () => (extender.calls.length >= 2 ? true : undefined));
      open = true;
      const key = { namespace: world.namespace, name: "other" };
      await target().client.patch(coreV1.Pod, key, { merge: { metadata: { annotations: { some: "thing" } } } });
      expect(await world.placeOf("a")).toBe(node);
    },
  );
  let open = false;

  withExtender(
    "leaves it to the extender to bind",
    {},
    (world) => ({
      bind: async ({ PodName, PodNamespace, PodUID, Node }) => {
        await world.target.client
          .subresource("binding")
          .create(coreV1.Pod, { namespace: PodNamespace, name: PodName }, {
            apiVersion: "v1",
            kind: "Binding",
            metadata: { name: PodName, namespace: PodNamespace, uid: PodUID },
            target: { apiVersion: "v1", kind: "Node", name: Node },
          } as never);
        return { Error: "" };
      },
    }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n");
      const { metadata } = await world.pod("a", { spec });
      expect(await world.placeOf("a")).toBe(node);
      expect(extender.calls).toEqual([
        { verb: "bind", args: { PodName: "a", PodNamespace: world.namespace, PodUID: metadata.uid, Node: node } },
      ]);
      await world.events("a", "Scheduled");
    },
    ["bind"],
  );

  withExtender(
    "says that it could not be bound",
    {},
    () => ({ bind: async () => ({ Error: "no such luck" }) }),
    async ({ world, spec }) => {
      await world.node("n");
      await world.pod("a", { spec });
      const condition = await world.unscheduled("a");
      expect(condition).toMatchObject({ reason: "SchedulerError", message: "no such luck" });
    },
    ["bind"],
  );

  withExtender(
    "says that the extender fails, and tries again in a while",
    {},
    () => {
      let calls = 0;
      return { filter: ({ NodeNames }) => (++calls === 1 ? 500 : { NodeNames }) };
    },
    async ({ world, extender, spec }) => {
      const node = await world.node("n");
      await world.pod("a", { spec });
      const condition = await world.unscheduled("a");
      expect(condition).toMatchObject({
        reason: "SchedulerError",
        message: `failed filter with extender at URL ${extender.url}/filter, code 500`,
      });
      expect(await world.placeOf("a")).toBe(node);
      expect(extender.summary).toEqual([`filter ${node}`, `filter ${node}`]);
    },
  );

  withExtender(
    "goes on without an extender that may fail",
    { ignorable: true },
    () => ({ filter: () => ({ Error: "out of order" }), preempt: () => 500 }),
    async ({ world, extender, spec }) => {
      const node = await world.node("n", { allocatable: { cpu: "1" } });
      await world.pod("a", { requests: { cpu: "1" }, priority: 1, spec });
      expect(await world.placeOf("a")).toBe(node);
      await world.pod("b", { requests: { cpu: "1" }, priority: 2, spec });
      expect(await world.placeOf("b")).toBe(node);
      expect(extender.summary).toEqual([`filter ${node}`, `preempt ${node}`, `filter ${node}`]);
    },
  );

  withExtender(
    "asks only about pods that ask for what it manages",
    { managedResources: [{ name: "example.org/slot", ignoredByScheduler: true }] },
    () => ({}),
    async ({ world, extender, spec }) => {
      const node = await world.node("n");
      await world.pod("plain", { spec });
      await world.placeOf("plain");
      expect(extender.summary).toEqual([]);
      // No node has any, but that is not the scheduler's affair.
      await world.pod("slot", { requests: { "example.org/slot": "1" }, spec });
      expect(await world.placeOf("slot")).toBe(node);
      expect(extender.summary).toEqual([`filter ${node}`]);
    },
  );

  withExtender(
    "is not asked about pods of other schedulers",
    {},
    () => ({}),
    async ({ world, extender }) => {
      const node = await world.node("n");
      await world.pod("plain");
      expect(await world.placeOf("plain")).toBe(node);
      expect(extender.calls).toEqual([]);
      const pod = await world.get("plain");
      expect(findCondition(pod.status?.conditions, "PodScheduled")?.status).toBe("True");
    },
  );
});
