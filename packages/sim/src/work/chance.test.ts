import { SeededRandom } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { failsAfterSeconds, failsAfterShare, variationOf } from "./chance.ts";
import { WorkModel } from "./model.ts";

const kindWith = (variation: object) => {
  const [kind] = new WorkModel({ kinds: [{ name: "k", work: 1, variation }] }).kinds;
  if (!kind) throw new Error("no kind");
  return kind;
};

function sample(count: number, draw: () => number) {
  const values = Array.from({ length: count }, draw);
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count;
  return { values, mean, cv: Math.sqrt(variance) / mean };
}

describe("variation", () => {
  it.each([
    ["lognormal", 0.3],
    ["lognormal", 1],
    ["uniform", 0.5],
  ])("is %s with mean 1 and the cv that was asked for: %d", (distribution, cv) => {
    const random = new SeededRandom("variation");
    const kind = kindWith({ distribution, cv });
    const { values, mean, cv: measured } = sample(50_000, () => variationOf(kind, random));
    expect(mean).toBeCloseTo(1, 1.5);
    expect(measured / cv).toBeCloseTo(1, 1);
    expect(Math.min(...values)).toBeGreaterThan(0);
  });

  it("draws nothing if there is none", () => {
    const random = new SeededRandom(1);
    expect(variationOf(kindWith({ cv: 0 }), random)).toBe(1);
    expect(random.next()).toBe(new SeededRandom(1).next());
  });
});

describe("failures", () => {
  it("happen as often as the probability says, anywhere in the work", () => {
    const random = new SeededRandom("failures");
    const draws = Array.from({ length: 20_000 }, () => failsAfterShare(0.2, () => random));
    const failed = draws.filter((share) => share !== undefined);
    expect(failed.length / draws.length).toBeCloseTo(0.2, 1.5);
    expect(failed.reduce((sum, share) => sum + share, 0) / failed.length).toBeCloseTo(0.5, 1.5);
    expect(failsAfterShare(0, () => random)).toBeUndefined();
    expect(failsAfterShare(1, () => random)).toBeDefined();
  });

  it("happen within an hour as often as the probability per hour says", () => {
    const random = new SeededRandom("hours");
    const draws = Array.from({ length: 20_000 }, () => failsAfterSeconds(0.3, () => random) ?? 0);
    expect(draws.filter((seconds) => seconds <= 3600).length / draws.length).toBeCloseTo(0.3, 1.5);
    // Without memory: of those that live for an hour, as many fail within the second.
    const alive = draws.filter((seconds) => seconds > 3600);
    expect(alive.filter((seconds) => seconds <= 7200).length / alive.length).toBeCloseTo(0.3, 1.5);
    expect(failsAfterSeconds(0, () => random)).toBeUndefined();
  });
});
