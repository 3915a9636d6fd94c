import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Placing } from "./gate.ts";

describe("it is busy", () => {
  const letIn = async (placing: Placing, count: number) => {
    for (let slot = 0; slot < count; slot++) await placing.during("default/main", slot, async () => {});
  };

  it("while many executors are put into slots, and for a moment after", async () => {
    const clock = new VirtualClock();
    const placing = new Placing(clock);
    const gate = Promise.withResolvers<void>();
    const all = Array.from({ length: 17 }, (_, slot) => placing.during("default/main", slot, () => gate.promise));
    expect(placing.isBusy).toBe(true);
    expect(placing.has("default/main", 16)).toBe(true);
    gate.resolve();
    await Promise.all(all);
    expect(placing.has("default/main", 16)).toBe(false);
    expect(placing.isBusy).toBe(true);
    await clock.advance(2000);
    expect(placing.isBusy).toBe(false);
  });

  it("but not because of a few, nor of many over a long time", async () => {
    const clock = new VirtualClock();
    const placing = new Placing(clock);
    await letIn(placing, 16);
    expect(placing.isBusy).toBe(false);
    for (let round = 0; round < 10; round++) {
      await clock.advance(2000);
      await letIn(placing, 16);
    }
    expect(placing.isBusy).toBe(false);
    await letIn(placing, 1);
    expect(placing.isBusy).toBe(true);
  });
});
