import { describe, expect, it } from "vitest";
import { SeededRandom } from "../time/random.ts";
import { FaultPlan, type RandomFaultOptions } from "./faults.ts";
import type { Verb } from "./routes.ts";

/** The faults of the first so many requests. */
function drawn(verb: Verb, options: RandomFaultOptions, { seed = "seed", count = 500 } = {}) {
  const plan = new FaultPlan();
  plan.addRandom(new SeededRandom(seed), options);
  return Array.from({ length: count }, () => plan.take(verb, "things"));
}
const typesOf = (faults: ReturnType<typeof drawn>) => [...new Set(faults.map((fault) => fault?.type))].sort();

describe("chance", () => {
  it("finds everything that can happen to a request, and nothing else", () => {
    const any = ["cut", "garbage", "reset", "silence", "slow", "status"];
    expect(typesOf(drawn("create", { rate: 1 }))).toEqual(any);
    expect(typesOf(drawn("watch", { rate: 1 }))).toEqual([...any, "double", "end", "error", "swap"].sort());
    expect(typesOf(drawn("watch", { rate: 1, types: ["swap", "end"] }))).toEqual(["end", "swap"]);
    expect(typesOf(drawn("list", { rate: 1, types: ["swap", "end"] }))).toEqual([undefined]);
  });

  it("keeps to its rate", () => {
    const count = drawn("watch", { rate: 0.3 }).filter((fault) => fault !== undefined).length;
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThan(200);
    expect(typesOf(drawn("watch", { rate: 0 }))).toEqual([undefined]);
  });

  it("is the same for the same seed", () => {
    expect(drawn("watch", { rate: 0.5 })).toEqual(drawn("watch", { rate: 0.5 }));
    expect(drawn("watch", { rate: 0.5 })).not.toEqual(drawn("watch", { rate: 0.5 }, { seed: "other" }));
  });
});
