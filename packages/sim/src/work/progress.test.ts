import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atRate, begun, doneAt, type Progress, reachedAt } from "./progress.ts";

/** Rates that hold for some time each. */
const stretches = fc.array(
  fc.record({
    rate: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 64, noNaN: true })),
    milliseconds: fc.integer({ min: 0, max: 1_000_000 }),
  }),
  { maxLength: 20 },
);

/** @param between - How often somebody sets the same rate again within each stretch. */
function run(total: number, all: readonly { rate: number; milliseconds: number }[], between = 0): [Progress, number] {
  let [progress, now] = [begun(total, 0), 0];
  for (const { rate, milliseconds } of all) {
    progress = atRate(progress, rate, now);
    for (let step = 1; step <= between; step++) {
      progress = atRate(progress, rate, now + Math.floor((milliseconds * step) / (between + 1)));
    }
    now += milliseconds;
  }
  return [progress, now];
}

describe("progress", () => {
  it("conserves work: what is done is the sum of rate times time, and never more than there is", () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e6, noNaN: true }), stretches, (total, all) => {
        const [progress, now] = run(total, all);
        const sum = all.reduce((work, { rate, milliseconds }) => work + (rate * milliseconds) / 1000, 0);
        expect(doneAt(progress, now)).toBeLessThanOrEqual(total);
        expect(doneAt(progress, now) / Math.min(total, sum) || 1).toBeCloseTo(1, 9);
      }),
    );
  });

  it("is the same to the last bit however often its rate is computed", () => {
    fc.assert(
      fc.property(stretches, fc.integer({ min: 1, max: 9 }), (all, between) => {
        expect(run(1e9, all, between)).toEqual(run(1e9, all));
      }),
    );
  });

  it("says when an amount will be done, and at that moment it is", () => {
    const rates = fc.double({ min: 0.01, max: 64, noNaN: true });
    fc.assert(
      fc.property(stretches, rates, fc.integer({ min: 1, max: 1e6 }), (all, rate, more) => {
        const [before, now] = run(1e9, all);
        const progress = atRate(before, rate, now);
        const amount = doneAt(progress, now) + more;
        const at = reachedAt(progress, amount);
        expect(at).toBeGreaterThanOrEqual(progress.since);
        expect(doneAt(progress, at) / amount || 1).toBeCloseTo(1, 9);
      }),
    );
  });

  it("stands still at rate 0", () => {
    const progress = atRate(atRate(begun(10, 0), 1, 0), 0, 4000);
    expect(doneAt(progress, 1e9)).toBe(4);
    expect(reachedAt(progress, 10)).toBe(Number.POSITIVE_INFINITY);
    expect(reachedAt(progress, 3)).toBe(4000);
  });
});
