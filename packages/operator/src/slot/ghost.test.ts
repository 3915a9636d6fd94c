import type { coreV1 } from "@berth/kube";
import type { Slot, Testbed } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GhostInput, ghostFor } from "./ghost.ts";
import { nodeProblem, stateOf } from "./state.ts";

const testbed: Testbed = {
  metadata: { namespace: "n", name: "t", uid: "t-uid" },
  spec: {
    slotsPerNode: 1,
    nodeLabel: "l",
    resourcesPerSlot: { cpu: "1", memory: "1Gi" },
    tolerations: [{ key: "k", operator: "Exists" }],
  },
};
const slotAt = (position: number, spec: Partial<Slot["spec"]> = {}, established = false): Slot => ({
  apiVersion: "berth.dev/v1alpha1",
  kind: "Slot",
  metadata: { namespace: "n", name: `t-${position}`, uid: `slot-${position}` },
  spec: {
    ...{ testbed: "t", unschedulable: false, position, nodeName: `node-${position}`, nodeId: "", positionOnNode: 0 },
    resources: { cpu: "1", memory: "1Gi" },
    ...spec,
  },
  status: { established },
});
const plan = (slot: Slot, ghost?: coreV1.Pod, more: Partial<GhostInput> = {}) =>
  ghostFor({
    ...{ testbed, slot, ghost, isLeaving: false, isOccupied: false, isAwaited: false, isUsable: true, image: "pause" },
    ...more,
  });
const made = (slot: Slot): coreV1.Pod => {
  const pod = plan(slot).create as coreV1.Pod;
  return { ...pod, spec: { containers: [], ...pod.spec, nodeName: "x" }, status: { phase: "Running" } };
};

describe("a ghost", () => {
  it("is made for a slot that has none, pinned to its node, of the slot's size, and owned by the slot", () => {
    expect(plan(slotAt(0)).create).toMatchObject({
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
    expect(plan(slotAt(0), made(slotAt(0)))).toEqual({});
  });

  it("may take its place back if it had it once", () => {
    expect(plan(slotAt(0, {}, true)).create?.spec?.priorityClassName).toBe("berth-ghost-return");
  });

  it("goes when an executor is in its slot, when its slot goes, and when it has ended", () => {
    const ghost = made(slotAt(0));
    const ended = { ...ghost, status: { phase: "Failed" as const } };
    expect(plan(slotAt(0), ghost, { isOccupied: true })).toEqual({ remove: ghost });
    expect(plan(slotAt(0), ghost, { isLeaving: true })).toEqual({ remove: ghost });
    expect(plan(slotAt(0), ended)).toEqual({ remove: ended });
  });

  it("stays until it is evicted for an executor that kube-scheduler makes room for, and is not made meanwhile", () => {
    const awaited = { isOccupied: true, isAwaited: true };
    expect(plan(slotAt(0), made(slotAt(0)), awaited)).toEqual({});
    expect(plan(slotAt(0), undefined, awaited)).toEqual({});
  });

  it("is made anew in another size, or elsewhere; the same amount in other words is no other size", () => {
    const ghost = made(slotAt(0));
    expect(plan(slotAt(0, { resources: { cpu: "2", memory: "1Gi" } }), ghost)).toEqual({ remove: ghost });
    expect(plan(slotAt(0, { nodeName: "other" }), ghost)).toEqual({ remove: ghost });
    expect(plan(slotAt(0, { resources: { cpu: "1000m", memory: "1024Mi" } }), ghost)).toEqual({});
  });

  it("is not made where there is one on its way out, nor on a node that takes none", () => {
    const ghost = made(slotAt(0));
    const going = { ...ghost, metadata: { ...ghost.metadata, deletionTimestamp: "1" } };
    expect(plan(slotAt(0), going)).toEqual({});
    expect(plan(slotAt(0), undefined, { isUsable: false })).toEqual({});
  });

  it("is as it is to be after one round, whatever there was", () => {
    const spec = fc.record({
      nodeName: fc.constantFrom("a", "b"),
      resources: fc.record({ cpu: fc.constantFrom("1", "2"), memory: fc.constant("1Gi") }),
    });
    const present = fc.option(spec, { nil: undefined });
    fc.assert(
      fc.property(spec, present, fc.boolean(), fc.boolean(), (wanted, before, isLeaving, isOccupied) => {
        const slot = slotAt(0, wanted);
        let ghost = before && made(slotAt(0, before));
        if (plan(slot, ghost, { isLeaving, isOccupied }).remove) ghost = undefined;
        ghost = plan(slot, ghost, { isLeaving, isOccupied }).create ?? ghost;
        expect(plan(slot, ghost, { isLeaving, isOccupied })).toEqual({});
        expect(ghost !== undefined).toBe(!isLeaving && !isOccupied);
      }),
    );
  });
});

describe("the state of a slot", () => {
  const node: coreV1.Node = { metadata: { name: "n" }, status: { conditions: [{ type: "Ready", status: "True" }] } };
  const ghost = made(slotAt(0));
  const view = {
    ...{ leaving: undefined, node, unschedulable: false, ghost, executor: undefined, holder: undefined },
    established: false,
  };
  const waiting = (reason: string, message: string): coreV1.Pod => ({
    metadata: {},
    status: { conditions: [{ type: "PodScheduled", status: "False", reason, message }] },
  });

  it.each([
    ["free", view, undefined],
    ["occupied", { ...view, executor: ghost, holder: "n/j" }, undefined],
    ["reserved", { ...view, holder: "n/j" }, undefined],
    ["unavailable", { ...view, leaving: "node n is gone" }, "node n is gone"],
    ["unavailable", { ...view, node: undefined }, "its node is gone"],
    ["unavailable", { ...view, node: { ...node, spec: { unschedulable: true } } }, "its node is cordoned"],
    ["unavailable", { ...view, unschedulable: true }, "it was set unschedulable"],
    ["unavailable", { ...view, ghost: undefined }, "its ghost is not there yet"],
    ["unavailable", { ...view, ghost: waiting("SchedulerError", "x") }, "its ghost waits for its place"],
    ["free", { ...view, ghost: undefined, established: true }, undefined],
    ["free", { ...view, ghost: waiting("SchedulerError", "x"), established: true }, undefined],
    [
      "unavailable",
      { ...view, ghost: waiting("Unschedulable", "Insufficient cpu"), established: true },
      "there is no room for it on its node: Insufficient cpu",
    ],
    [
      "unavailable",
      { ...view, ghost: waiting("Unschedulable", "Insufficient cpu") },
      "there is no room for it on its node: Insufficient cpu",
    ],
  ] as const)("%s", (state, of, reason) => {
    const { isUnderWay: _, ...finding } = stateOf(of);
    expect(finding).toEqual({ state, ...(reason !== undefined && { reason }) });
  });

  it("says why a node is not ready", () => {
    const silent: coreV1.Node = {
      metadata: {},
      status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] },
    };
    expect(nodeProblem(silent)).toBe("its node is not ready: NodeStatusUnknown");
  });
});
