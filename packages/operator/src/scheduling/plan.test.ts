import type { Scheduling } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Plan, plan, reservedBy, type Wish, wishesOf } from "./plan.ts";

type Spec = Partial<Scheduling["spec"]>;
const scheduling = (spec: Spec) => ({
  metadata: { name: "s", namespace: "n" },
  spec: { testbed: { name: "t" }, exclusive: false, ttlSecondsAfterFinished: 0, ...spec },
});
const queue = (...names: string[]): Wish[] => wishesOf(scheduling({ queueBased: names.map((name) => ({ name })) }));
const slots = (wishes: Record<string, number[]>): Wish[] =>
  wishesOf(scheduling({ slotBased: Object.entries(wishes).map(([name, each]) => ({ name, slots: each })) }));
const pool = (usable: readonly number[], taken: Iterable<number> = []) => {
  const busy = new Set(taken);
  return { usable, isUsable: (slot: number) => usable.includes(slot), isFree: (slot: number) => !busy.has(slot) };
};
const shown = ({ grants, waits }: Plan) => ({
  grants: Object.fromEntries(grants.map(({ job, slots: each }) => [job.slice(2), each])),
  waits: Object.fromEntries(waits.map(({ job, message }) => [job.slice(2), message])),
});

describe("wishes", () => {
  it("are jobs in the order in which a queue names them first, with as many executors as it names them", () => {
    expect(queue("a", "b", "b", "a").map(({ job, count, places }) => [job, count, places])).toEqual([
      ["n/a", 2, [0, 3]],
      ["n/b", 2, [1, 2]],
    ]);
  });

  it("may be for jobs elsewhere", () => {
    expect(wishesOf(scheduling({ slotBased: [{ name: "a", namespace: "m", slots: [1] }] }))[0]?.job).toBe("m/a");
  });
});

describe("by queue", () => {
  it("executors get free slots in the order in which they stand in the queue", () => {
    const { grants } = shown(plan({ wishes: queue("a", "b", "b", "a"), pool: pool([0, 1, 2, 3, 4], [1]) }));
    expect(grants).toEqual({ a: [0, 4], b: [2, 3] });
  });

  it("a job gets all of its slots or none, and nobody overtakes", () => {
    expect(shown(plan({ wishes: queue("a", "b", "b", "b", "c"), pool: pool([0, 1, 2, 3], [3]) }))).toEqual({
      grants: { a: [0] },
      waits: { b: "wants 3 slots, and 2 are free", c: "others come first in the queue" },
    });
  });

  it("who wants more than there is is told so at once, and is in nobody's way", () => {
    expect(shown(plan({ wishes: queue("a", "a", "a", "b"), pool: pool([0, 1]) }))).toEqual({
      grants: { b: [0] },
      waits: { a: "wants 3 slots, and the testbed has 2 that could be used" },
    });
  });
});

describe("by slot", () => {
  it("a job starts when its slots are free, unless others wait for them before it", () => {
    const wishes = slots({ a: [0, 1], b: [1], c: [2], d: [3] });
    expect(shown(plan({ wishes, pool: pool([0, 1, 2, 3], [0, 3]) }))).toEqual({
      grants: { c: [2] },
      waits: { a: "waits for slot 0", b: "others come first in slot 1", d: "waits for slot 3" },
    });
  });

  it("two may want the same slot, one after the other", () => {
    expect(shown(plan({ wishes: slots({ a: [0], b: [0] }), pool: pool([0]) }))).toEqual({
      grants: { a: [0] },
      waits: { b: "others come first in slot 0" },
    });
  });

  it("who wants a slot that is not there is told so, and is in nobody's way", () => {
    expect(shown(plan({ wishes: slots({ a: [0, 9], b: [0] }), pool: pool([0, 1]) }))).toEqual({
      grants: { b: [0] },
      waits: { a: "the testbed has no slot 9 that could be used" },
    });
  });
});

describe("several Schedulings", () => {
  it("go by age: what the older waits for is kept from the younger", () => {
    const older = slots({ a: [0, 1] });
    const first = plan({ wishes: older, pool: pool([0, 1, 2], [0]) });
    const reserved = reservedBy("older", older, first);
    expect(shown(plan({ wishes: slots({ b: [1], c: [2] }), pool: pool([0, 1, 2], [0]), reserved }))).toEqual({
      grants: { c: [2] },
      waits: { b: "others come first in slot 1" },
    });
    expect(shown(plan({ wishes: queue("d"), pool: pool([0, 1, 2], [0]), reserved })).grants).toEqual({ d: [2] });
  });

  it("wait behind an older one that waits for any slots", () => {
    const older = queue("a", "a");
    const reserved = reservedBy("n/older", older, plan({ wishes: older, pool: pool([0, 1], [0]) }));
    for (const wishes of [queue("b"), slots({ b: [1] })]) {
      expect(shown(plan({ wishes, pool: pool([0, 1], [0]), reserved }))).toEqual({
        grants: {},
        waits: { b: "n/older comes first" },
      });
    }
  });

  it("do not wait for one that can never start", () => {
    const older = queue("a", "a", "a");
    const reserved = reservedBy("older", older, plan({ wishes: older, pool: pool([0, 1]) }));
    expect(shown(plan({ wishes: queue("b"), pool: pool([0, 1]), reserved })).grants).toEqual({ b: [0] });
  });

  it("that are exclusive wait until everybody else is gone", () => {
    expect(shown(plan({ wishes: queue("a"), pool: pool([0, 1]), others: ["n/b"] }))).toEqual({
      grants: {},
      waits: { a: "waits until nobody else has slots of the testbed: n/b" },
    });
  });
});

it("no plan gives a slot twice, one that is taken, or a part of what a job wants; and everybody is told something", () => {
  const wishes = fc.oneof(
    fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 8 }).map((names) => queue(...names)),
    fc
      .dictionary(fc.constantFrom("a", "b", "c", "d"), fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 3 }))
      .map((each) => slots(each)),
  );
  const numbers = fc.uniqueArray(fc.nat(6)).map((list) => list.sort((a, b) => a - b));
  fc.assert(
    fc.property(fc.array(wishes, { minLength: 1, maxLength: 3 }), numbers, numbers, (all, usable, taken) => {
      const busy = new Set(taken);
      let reserved = undefined as Parameters<typeof reservedBy>[3];
      for (const [index, each] of all.entries()) {
        const result = plan({
          wishes: each,
          pool: pool(usable, busy),
          ...(reserved && { reserved }),
        });
        for (const { job, slots: given } of result.grants) {
          expect(given.length).toBe(each.find((wish) => wish.job === job)?.count);
          for (const slot of given) {
            expect(usable).toContain(slot);
            expect(busy.has(slot)).toBe(false);
            expect(reserved?.slots.has(slot) ?? false).toBe(false);
            busy.add(slot);
          }
        }
        const told = [...result.grants, ...result.waits].map(({ job }) => job);
        expect(told.sort()).toEqual(each.map(({ job }) => job).sort());
        reserved = reservedBy(`s${index}`, each, result, reserved);
      }
    }),
  );
});
