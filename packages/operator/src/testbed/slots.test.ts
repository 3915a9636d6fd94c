import type { coreV1 } from "@berth/kube";
import type { Slot } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { membersOf, plannedSlots, type SlotPlan } from "./slots.ts";

const LABEL = "example.org/slots";
const node = (name: string, value?: string): coreV1.Node => ({
  metadata: { name, labels: value === undefined ? {} : { [LABEL]: value } },
});
const spec = { slotsPerNode: 2, nodeLabel: LABEL, resourcesPerSlot: { cpu: "1", memory: "1Gi" } };
const none = () => false;
/** The Slot objects that a plan leads to. */
const made = (plans: readonly SlotPlan[]): Slot[] =>
  plans.map(({ leaving: _, ...plan }) => ({
    metadata: { name: `t-${plan.position}` },
    spec: { testbed: "t", unschedulable: false, ...plan, resources: { ...plan.resources } },
  }));
const short = (plans: readonly SlotPlan[]) =>
  plans.map(
    ({ position, nodeName, positionOnNode, leaving }) =>
      `${position}=${nodeName}/${positionOnNode}${leaving ? " leaving" : ""}`,
  );

describe("the slots of a testbed", () => {
  it("are numbered by the values of the label: numbers as numbers, ties by the name of the node", () => {
    const nodes = [node("c", "10"), node("b", "2"), node("a", "2"), node("z", ""), node("y", "x"), node("other")];
    expect(membersOf(spec, nodes).map(({ name }) => name)).toEqual(["a", "b", "c", "z", "y"]);
    const slots = plannedSlots({ spec, nodes: nodes.slice(0, 3), present: [], isTaken: none });
    expect(short(slots)).toEqual(["0=a/0", "1=a/1", "2=b/0", "3=b/1", "4=c/0", "5=c/1"]);
  });

  it("keep their positions when a node comes that would be before them", () => {
    const before = plannedSlots({ spec, nodes: [node("b", "2")], present: [], isTaken: none });
    const after = plannedSlots({ spec, nodes: [node("a", "1"), node("b", "2")], present: made(before), isTaken: none });
    expect(short(after)).toEqual(["0=b/0", "1=b/1", "2=a/0", "3=a/1"]);
  });

  it("go with their node, unless somebody has them, and then as soon as nobody has", () => {
    const nodes = [node("a", "1"), node("b", "2")];
    const present = made(plannedSlots({ spec, nodes, present: [], isTaken: none }));
    const left = plannedSlots({ spec, nodes: [node("b", "2")], present, isTaken: (position) => position === 1 });
    expect(short(left)).toEqual(["1=a/1 leaving", "2=b/0", "3=b/1"]);
    expect(left[0]?.leaving).toBe("node a is gone");
    expect(short(plannedSlots({ spec, nodes: [node("b", "2")], present: made(left), isTaken: none }))).toEqual([
      "2=b/0",
      "3=b/1",
    ]);
  });

  it("come back to where they were if their node does", () => {
    const nodes = [node("a", "1"), node("b", "2")];
    const present = made(plannedSlots({ spec, nodes, present: [], isTaken: none }));
    const without = made(plannedSlots({ spec, nodes: [node("a"), node("b", "2")], present, isTaken: none }));
    expect(short(plannedSlots({ spec, nodes, present: without, isTaken: none }))).toEqual(
      short(plannedSlots({ spec, nodes, present: [], isTaken: none })),
    );
  });

  it("become fewer or more on each node", () => {
    const nodes = [node("a", "1"), node("b", "2")];
    const present = made(plannedSlots({ spec, nodes, present: [], isTaken: none }));
    const fewer = plannedSlots({
      spec: { ...spec, slotsPerNode: 1 },
      nodes,
      present,
      isTaken: (position) => position === 3,
    });
    expect(short(fewer)).toEqual(["0=a/0", "2=b/0", "3=b/1 leaving"]);
    expect(fewer[2]?.leaving).toBe("the testbed has 1 slots on each node now");
    const more = plannedSlots({ spec: { ...spec, slotsPerNode: 3 }, nodes, present, isTaken: none });
    expect(short(more)).toEqual(["0=a/0", "1=a/1", "2=b/0", "3=b/1", "4=a/2", "5=b/2"]);
  });

  it("get another size when they are free", () => {
    const nodes = [node("a", "1")];
    const present = made(plannedSlots({ spec, nodes, present: [], isTaken: none }));
    const larger = { ...spec, resourcesPerSlot: { cpu: 2, memory: "2Gi" } };
    const slots = plannedSlots({ spec: larger, nodes, present, isTaken: (position) => position === 0 });
    expect(slots.map(({ resources }) => resources)).toEqual([
      { cpu: "1", memory: "1Gi" },
      { cpu: "2", memory: "2Gi" },
    ]);
  });

  it("follow the value of the label, and keep their positions", () => {
    const present = made(plannedSlots({ spec, nodes: [node("a", "1")], present: [], isTaken: none }));
    const [slot] = plannedSlots({ spec, nodes: [node("a", "9")], present, isTaken: none });
    expect(slot).toMatchObject({ position: 0, nodeId: "9" });
  });

  it("are the same whatever happens in whatever order: no position twice, none of a slot that stays changes, and a second look changes nothing", () => {
    const cluster = fc.uniqueArray(
      fc.record({ name: fc.constantFrom("a", "b", "c", "d", "e"), value: fc.constantFrom("1", "2", "10", "x", "") }),
      {
        selector: ({ name }) => name,
        maxLength: 5,
      },
    );
    const edit = fc.record({
      nodes: cluster,
      slotsPerNode: fc.integer({ min: 1, max: 4 }),
      taken: fc.array(fc.nat(12), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 8 }), (edits) => {
        let present: Slot[] = [];
        for (const { nodes, slotsPerNode, taken } of edits) {
          const isTaken = (position: number) => taken.includes(position);
          const input = {
            spec: { ...spec, slotsPerNode },
            nodes: nodes.map(({ name, value }) => node(name, value)),
            isTaken,
          };
          const plans = plannedSlots({ ...input, present });
          const positions = plans.map(({ position }) => position);
          expect(new Set(positions).size).toBe(positions.length);
          expect(plans.filter(({ leaving }) => !leaving).length).toBe(nodes.length * slotsPerNode);
          for (const { spec: before } of present) {
            const now = plans.find(({ position }) => position === before.position);
            const isSame = now?.nodeName === before.nodeName && now.positionOnNode === before.positionOnNode;
            if (isTaken(before.position)) expect(isSame).toBe(true);
            const elsewhere = plans.find(
              (plan) => plan.nodeName === before.nodeName && plan.positionOnNode === before.positionOnNode,
            );
            if (elsewhere) expect(elsewhere.position).toBe(before.position);
          }
          present = made(plans);
          expect(plannedSlots({ ...input, present })).toEqual(plans);
        }
      }),
    );
  });
});
