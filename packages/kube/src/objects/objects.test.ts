import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type * as coreV1 from "../kinds/core-v1.ts";
import { VirtualClock } from "../time/clock.ts";
import { type Condition, findCondition, isConditionTrue, withCondition } from "./conditions.ts";
import { hasFinalizer, isBeingDeleted, withFinalizer, withoutFinalizer } from "./finalizers.ts";
import type { KubernetesObject } from "./meta.ts";
import { controllerOf, isOwnedBy, withController, withOwner } from "./owners.ts";
import { kubernetesTime, microTime } from "./times.ts";

const owner = (uid: string): KubernetesObject => ({
  apiVersion: "example.org/v1",
  kind: "Thing",
  metadata: { name: "thing", namespace: "default", uid },
});
const pod: KubernetesObject = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" } };

describe("owners", () => {
  it("O1 gives an object a controller, once", () => {
    const owned = withController(pod, owner("1"));
    const again = withController(owned, owner("1"));
    expect(again).toEqual(owned);
    expect(controllerOf(again)).toEqual({
      ...{ apiVersion: "example.org/v1", kind: "Thing", name: "thing", uid: "1" },
      ...{ controller: true, blockOwnerDeletion: true },
    });
    expect(pod.metadata.ownerReferences).toBeUndefined();
  });

  it("O2 refuses a second controller, but keeps other owners", () => {
    const owned = withController(pod, owner("1"));
    const refused = expect.objectContaining({ code: "KUBE_ALREADY_OWNED" });
    expect(() => withController(owned, owner("2"))).toThrow(refused);

    const other = { apiVersion: "v1", kind: "Node", name: "n", uid: "9" };
    const shared = { ...pod, metadata: { ...pod.metadata, ownerReferences: [other] } };
    expect(withController(shared, owner("1")).metadata.ownerReferences).toHaveLength(2);
  });

  it("O2 may have owners that do not control it", () => {
    const shared = withOwner(withOwner(pod, owner("1")), owner("2"));
    expect(shared.metadata).toMatchObject({ ownerReferences: [{ uid: "1" }, { uid: "2" }] });
    expect(withOwner(shared, owner("2"))).toBe(shared);
    expect(controllerOf(shared)).toBeUndefined();
  });

  it("O3 tells owners by uid", () => {
    const owned = withController(pod, owner("1"));
    expect(isOwnedBy(owned, owner("1"))).toBe(true);
    expect(isOwnedBy(owned, owner("2"))).toBe(false);
    expect(isOwnedBy(owned, { metadata: {} })).toBe(false);
  });

  it("O4 refuses an owner that is not complete, or in another namespace", () => {
    expect(() => withController(pod, { ...owner("1"), kind: "" })).toThrow(TypeError);
    expect(() => withController({ metadata: { name: "p", namespace: "other" } }, owner("1"))).toThrow("namespace");
    const clusterWide = { ...owner("1"), metadata: { name: "thing", uid: "1" } };
    expect(isOwnedBy(withController(pod, clusterWide), clusterWide)).toBe(true);
  });
});

describe("finalizers", () => {
  it("F1 come and go, and an object that need not change is the same object", () => {
    const finalized = withFinalizer(pod, "example.org/f");
    expect(hasFinalizer(finalized, "example.org/f")).toBe(true);
    expect(withFinalizer(finalized, "example.org/f")).toBe(finalized);
    expect(withoutFinalizer(finalized, "example.org/f").metadata.finalizers).toEqual([]);
    expect(withoutFinalizer(pod, "example.org/f")).toBe(pod);
    expect([pod, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }].map(isBeingDeleted)).toEqual([
      false,
      true,
    ]);
  });
});

describe("conditions", () => {
  const start = Date.UTC(2026, 0, 1);

  it("D1 keep the time of the last change of status, whatever else changes", async () => {
    const clock = new VirtualClock({ start });
    const first = withCondition(undefined, { type: "Ready", status: "False", reason: "Starting" }, clock);
    await clock.advance(5000);
    const second = withCondition(
      first,
      { type: "Ready", status: "False", reason: "Waiting", message: "for a slot" },
      clock,
    );
    expect(findCondition(second, "Ready")).toMatchObject({
      reason: "Waiting",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    const third = withCondition(second, { type: "Ready", status: "True", reason: "Done" }, clock);
    expect(findCondition(third, "Ready")).toMatchObject({ message: "", lastTransitionTime: "2026-01-01T00:00:05Z" });
  });

  it("D2 are the same list if nothing changes, so that nothing is written", () => {
    const clock = new VirtualClock({ start });
    const update = { type: "Ready", status: "True", reason: "Done", observedGeneration: 3 } as const;
    const once = withCondition([], update, clock);
    expect(withCondition(once, update, clock)).toBe(once);
  });

  it("D3 are not set back by a finding about an older generation", () => {
    const clock = new VirtualClock({ start });
    const known = withCondition([], { type: "Ready", status: "True", reason: "Done", observedGeneration: 3 }, clock);
    const late = { type: "Ready", status: "False", reason: "Old", observedGeneration: 2 } as const;
    expect(withCondition(known, late, clock)).toBe(known);
    expect([3, 4].map((generation) => isConditionTrue(known, "Ready", generation))).toEqual([true, false]);
  });

  it("D4 of other types are left alone, in their order", () => {
    const clock = new VirtualClock({ start });
    const type = fc.constantFrom("A", "B", "C");
    const status = fc.constantFrom("True" as const, "False" as const, "Unknown" as const);
    fc.assert(
      fc.property(fc.array(fc.record({ type, status, reason: fc.constantFrom("X", "Y") })), (updates) => {
        let conditions: readonly Condition[] = [];
        for (const update of updates) {
          const before = conditions;
          conditions = withCondition(conditions, update, clock);
          expect(conditions.slice(0, before.length).map(({ type }) => type)).toEqual(before.map(({ type }) => type));
          expect(findCondition(conditions, update.type)).toMatchObject(update);
          for (const other of before.filter(({ type }) => type !== update.type)) expect(conditions).toContain(other);
        }
        expect(new Set(conditions.map(({ type }) => type)).size).toBe(conditions.length);
      }),
    );
  });

  it("D5 of Kubernetes' own kinds, and of zod's schemas, are understood too", () => {
    const ofPod: coreV1.PodCondition[] = [{ type: "Ready", status: "True", lastProbeTime: "2026-01-01T00:00:00Z" }];
    const found: coreV1.PodCondition | undefined = findCondition(ofPod, "Ready");
    expect(found?.lastProbeTime).toBe("2026-01-01T00:00:00Z");
    expect([isConditionTrue(ofPod, "Ready"), isConditionTrue(ofPod, "Ready", 1)]).toEqual([true, false]);

    const text = z.string();
    const condition = z.object({
      type: text,
      status: z.enum(["True", "False", "Unknown"]),
      reason: text,
      message: text,
      lastTransitionTime: text,
      observedGeneration: z.int().optional(),
    });
    const status: { conditions?: z.infer<typeof condition>[] } = {};
    status.conditions = withCondition(
      status.conditions,
      { type: "Ready", status: "True", reason: "Done", observedGeneration: undefined, message: undefined },
      new VirtualClock({ start }),
    );
    expect(condition.parse(status.conditions[0])).toMatchObject({ message: "" });
  });
});

describe("times", () => {
  it("D1 are written to the second, and in leases and events to the microsecond", () => {
    const moment = Date.UTC(2026, 0, 1) + 45;
    expect([kubernetesTime(moment), microTime(moment)]).toEqual([
      "2026-01-01T00:00:00Z",
      "2026-01-01T00:00:00.045000Z",
    ]);
  });
});
