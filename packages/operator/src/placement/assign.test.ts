import type { coreV1 } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotation } from "../names.ts";
import { assign } from "./assign.ts";

interface Sample {
  readonly slot?: number;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  readonly deleted?: boolean;
  readonly nodeName?: string;
  readonly created?: string;
  readonly labels?: Record<string, string>;
}
const pod = (
  name: string,
  { slot, phase = "Pending", deleted, nodeName, created = "1", labels }: Sample = {},
): coreV1.Pod => ({
  metadata: {
    name,
    creationTimestamp: created,
    ...(labels && { labels }),
    ...(slot !== undefined && { annotations: { [annotation.slot]: String(slot) } }),
    ...(deleted && { deletionTimestamp: "2" }),
  },
  spec: { containers: [], ...(nodeName && { nodeName }) },
  status: { phase },
});
const shown = (slots: number[], ...pods: coreV1.Pod[]) => {
  const { placed, fresh, surplus } = assign(slots, pods);
  const text = (each: { pod: coreV1.Pod; slot: number }) => `${each.pod.metadata.name}=${each.slot}`;
  return { placed: placed.map(text), fresh: fresh.map(text), surplus: surplus.map(({ metadata }) => metadata.name) };
};

describe("assign", () => {
  it("gives the lowest slots to the oldest executors", () => {
    const [old, young] = [pod("b", { created: "1" }), pod("a", { created: "2" })];
    expect(shown([7, 3], young, old)).toEqual({ placed: [], fresh: ["b=3", "a=7"], surplus: [] });
    const [tenth, second] = ["10", "2"].map((id) => pod(`exec-${id}`, { labels: { "spark-exec-id": id } }));
    expect(shown([0, 1], tenth as coreV1.Pod, second as coreV1.Pod).fresh).toEqual(["exec-2=0", "exec-10=1"]);
  });

  it("lets everybody keep what they have", () => {
    const held = pod("a", { slot: 5, nodeName: "n", phase: "Running" });
    expect(shown([4, 5], pod("b"), held)).toEqual({ placed: ["a=5"], fresh: ["b=4"], surplus: [] });
  });

  it("gives a successor the slot of who has ended, and not before it has", () => {
    const ending = pod("a", { slot: 4, nodeName: "n", phase: "Running", deleted: true });
    expect(shown([4], ending, pod("b"))).toEqual({ placed: ["a=4"], fresh: [], surplus: ["b"] });
    for (const phase of ["Failed", "Succeeded"] as const) {
      expect(shown([4], pod("a", { slot: 4, phase }), pod("b"))).toEqual({ placed: [], fresh: ["b=4"], surplus: [] });
    }
  });

  it("lets those wait for whom there is no slot, and leaves those alone that need none", () => {
    expect(shown([1], pod("a"), pod("b"), pod("c", { deleted: true }), pod("d", { nodeName: "elsewhere" }))).toEqual({
      placed: [],
      fresh: ["a=1"],
      surplus: ["b"],
    });
  });

  it("gives no slot twice, takes none away, and gives the same answer when it is asked again", () => {
    const sample = fc.record({
      slot: fc.option(fc.nat(5), { nil: undefined, freq: 3 }),
      phase: fc.constantFrom("Pending", "Running", "Succeeded", "Failed") as fc.Arbitrary<Sample["phase"] & string>,
      deleted: fc.boolean(),
      created: fc.constantFrom("1", "2", "3"),
    });
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(5)), fc.array(sample, { maxLength: 10 }), (slots, samples) => {
        const once = new Set<number>();
        const pods = samples.map(({ slot, ...each }, index) => {
          const live = each.phase !== "Succeeded" && each.phase !== "Failed";
          const given = slot !== undefined && (!live || !once.has(slot)) ? slot : undefined;
          if (given !== undefined && live) once.add(given);
          return pod(`p${index}`, { ...each, ...(given !== undefined && { slot: given, nodeName: "n" }) });
        });
        const { placed, fresh } = assign(slots, pods);
        const all = [...placed, ...fresh].map(({ slot }) => slot);
        expect(new Set(all).size).toBe(all.length);
        expect(fresh.every(({ slot }) => slots.includes(slot))).toBe(true);
        const after = pods.map((each) => {
          const found = fresh.find(({ pod: chosen }) => chosen === each);
          return found
            ? { ...each, metadata: { ...each.metadata, annotations: { [annotation.slot]: String(found.slot) } } }
            : each;
        });
        const again = assign(slots, after.toReversed());
        expect(again.fresh).toEqual([]);
        const text = (list: readonly { pod: coreV1.Pod; slot: number }[]) =>
          list.map(({ pod: each, slot }) => `${each.metadata.name}=${slot}`).sort();
        expect(text(again.placed)).toEqual(text([...placed, ...fresh]));
      }),
    );
  });
});
