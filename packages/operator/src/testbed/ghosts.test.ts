import type { coreV1 } from "@berth/kube";
import type { Slot, Testbed } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GhostsInput, ghostsFor } from "./ghosts.ts";
import { nodeProblem, stateOf } from "./slot-state.ts";
import type { SlotPlan } from "./slots.ts";

const testbed: Testbed = {
  metadata: { namespace: "n", name: "t", uid: "t-uid" },
  spec: {
    slotsPerNode: 1,
    nodeLabel: "l",
    resourcesPerSlot: { cpu: "1", memory: "1Gi" },
    tolerations: [{ key: "k", operator: "Exists" }],
  },
};
const planOf = (position: number, more: Partial<SlotPlan> = {}): SlotPlan => ({
  ...{ position, nodeName: `node-${position}`, nodeId: "", positionOnNode: 0, leaving: undefined },
  resources: { cpu: "1", memory: "1Gi" },
  ...more,
});
const slotObject = (plan: SlotPlan, established = false): Slot => ({
  apiVersion: "berth.dev/v1alpha1",
  kind: "Slot",
  metadata: { namespace: "n", name: `t-${plan.position}`, uid: `slot-${plan.position}` },
  spec: { testbed: "t", unschedulable: false, ...plan, resources: { ...plan.resources } },
  status: { established },
});
const input = (
  plans: readonly SlotPlan[],
  ghosts: readonly coreV1.Pod[] = [],
  more: Partial<GhostsInput> = {},
): GhostsInput => ({
  testbed,
  testbedLabel: "n.t",
  slots: plans.map((plan) => ({ plan, object: slotObject(plan) })),
  ghosts,
  isOccupied: () => false,
  isAwaited: () => false,
  isUsable: () => true,
  image: "pause",
  ...more,
});
const names = (pods: readonly coreV1.Pod[]) => pods.map(({ metadata }) => metadata.name);
const bound = (pod: coreV1.Pod): coreV1.Pod => ({
  ...pod,
  spec: { containers: [], ...pod.spec, nodeName: "x" },
  status: { phase: "Running" },
});
const made = (...plans: SlotPlan[]) => ghostsFor(input(plans)).create.map(bound);

describe("ghosts", () => {
  it("are made for slots that have none, pinned to their node, of the slot's size, and owned by the slot", () => {
    const [pod] = ghostsFor(input([planOf(0)])).create;
    expect(pod).toMatchObject({
      metadata: {
        name: "ghost-t-0",
        namespace: "n",
        ownerReferences: [{ kind: "Slot", uid: "slot-0", controller: true }],
      },
      spec: {
        priorityClassName: "berth-ghost",
        terminationGracePeriodSeconds: 0,
        tolerations: [{ key: "k", operator: "Exists" }],
        containers: [{ resources: { requests: { cpu: "1", memory: "1Gi" } } }],
      },
    });
    expect(ghostsFor(input([planOf(0)], made(planOf(0))))).toEqual({ create: [], remove: [] });
  });

  it("may take their place back if they had it once", () => {
    const plan = planOf(0);
    const [pod] = ghostsFor(input([], [], { slots: [{ plan, object: slotObject(plan, true) }] })).create;
    expect(pod?.spec?.priorityClassName).toBe("berth-ghost-return");
  });

  it("go when an executor is in their slot, when their slot goes, and when they have ended", () => {
    const ghosts = made(planOf(0), planOf(1), planOf(2));
    const evicted = { ...(ghosts[2] as coreV1.Pod), status: { phase: "Failed" as const } };
    const plans = [planOf(0), planOf(1, { leaving: "its node goes" }), planOf(2)];
    const { remove, create } = ghostsFor(
      input(plans, [...ghosts.slice(0, 2), evicted], { isOccupied: (position) => position === 0 }),
    );
    expect([names(remove), names(create)]).toEqual([["ghost-t-0", "ghost-t-1", "ghost-t-2"], []]);
    expect(names(ghostsFor(input([planOf(2)])).create)).toEqual(["ghost-t-2"]);
  });

  it("stay until they are evicted for an executor that kube-scheduler makes room for, and are not made meanwhile", () => {
    const awaited = { isOccupied: () => true, isAwaited: () => true };
    expect(ghostsFor(input([planOf(0), planOf(1)], made(planOf(0)), awaited))).toEqual({ create: [], remove: [] });
  });

  it("are made anew in another size, or elsewhere; the same amount in other words is no other size", () => {
    const ghosts = made(planOf(0), planOf(1), planOf(2));
    const plans = [
      planOf(0, { resources: { cpu: "2", memory: "1Gi" } }),
      planOf(1, { nodeName: "other" }),
      planOf(2, { resources: { cpu: "1000m", memory: "1024Mi" } }),
    ];
    expect(names(ghostsFor(input(plans, ghosts)).remove)).toEqual(["ghost-t-0", "ghost-t-1"]);
  });

  it("are not made where there is one on its way out, nor on nodes that take none", () => {
    const going = made(planOf(0)).map((pod) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: "1" } }));
    expect(ghostsFor(input([planOf(0)], going))).toEqual({ create: [], remove: [] });
    expect(ghostsFor(input([planOf(0)], [], { isUsable: () => false })).create).toEqual([]);
  });

  it("are as they are to be after one round, whatever there was", () => {
    const plan = fc.record({
      position: fc.nat(4),
      nodeName: fc.constantFrom("a", "b"),
      cpu: fc.constantFrom("1", "2"),
      leaving: fc.boolean(),
    });
    const plans = fc.uniqueArray(plan, { selector: ({ position }) => position });
    const as = (each: { position: number; nodeName: string; cpu: string; leaving: boolean }) =>
      planOf(each.position, {
        nodeName: each.nodeName,
        resources: { cpu: each.cpu, memory: "1Gi" },
        leaving: each.leaving ? "so" : undefined,
      });
    fc.assert(
      fc.property(plans, plans, fc.array(fc.nat(4)), (before, after, occupied) => {
        const isOccupied = (position: number) => occupied.includes(position);
        const old = made(...before.map(as));
        const wanted = after.map(as);
        const { remove } = ghostsFor(input(wanted, old, { isOccupied }));
        const left = old.filter((pod) => !remove.includes(pod));
        const { create } = ghostsFor(input(wanted, left, { isOccupied }));
        const now = [...left, ...create];
        expect(ghostsFor(input(wanted, now, { isOccupied }))).toEqual({ create: [], remove: [] });
        const expected = wanted
          .filter(({ leaving, position }) => !leaving && !isOccupied(position))
          .map(({ position }) => `ghost-t-${position}`);
        expect(names(now).sort()).toEqual(expected.sort());
      }),
    );
  });
});

describe("the state of a slot", () => {
  const node: coreV1.Node = { metadata: { name: "n" }, status: { conditions: [{ type: "Ready", status: "True" }] } };
  const [ghost] = made(planOf(0));
  const view = { plan: planOf(0), node, unschedulable: false, ghost, executor: undefined, holder: undefined };
  const waiting = (reason: string, message: string): coreV1.Pod => ({
    metadata: {},
    status: { conditions: [{ type: "PodScheduled", status: "False", reason, message }] },
  });

  it.each([
    ["free", view, undefined],
    ["occupied", { ...view, executor: ghost, holder: "n/j" }, undefined],
    ["reserved", { ...view, holder: "n/j" }, undefined],
    ["unavailable", { ...view, plan: planOf(0, { leaving: "node n is gone" }) }, "node n is gone"],
    ["unavailable", { ...view, node: undefined }, "its node is gone"],
    ["unavailable", { ...view, node: { ...node, spec: { unschedulable: true } } }, "its node is cordoned"],
    ["unavailable", { ...view, unschedulable: true }, "it was set unschedulable"],
    ["unavailable", { ...view, ghost: undefined }, "its ghost is not there yet"],
    ["unavailable", { ...view, ghost: waiting("SchedulerError", "x") }, "its ghost waits for its place"],
    [
      "unavailable",
      { ...view, ghost: waiting("Unschedulable", "Insufficient cpu") },
      "there is no room for it on its node: Insufficient cpu",
    ],
  ] as const)("%s", (state, of, reason) => {
    expect(stateOf(of)).toEqual({ state, ...(reason !== undefined && { reason }) });
  });

  it("says why a node is not ready", () => {
    const silent: coreV1.Node = {
      metadata: {},
      status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] },
    };
    expect(nodeProblem(silent)).toBe("its node is not ready: NodeStatusUnknown");
  });
});
