import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Bursts } from "./bursts.ts";

describe("Bursts", () => {
  it("lets some be made at once, and more after a rest", async () => {
    const clock = new VirtualClock();
    const bursts = new Bursts(clock);
    expect([bursts.allow("a", 3), bursts.allow("a", 0), bursts.allow("a", -2)]).toEqual([3, 0, 0]);
    expect(bursts.restMs("a")).toBe(0);
    expect(bursts.allow("a", 1_000_000)).toBe(500);
    expect([bursts.allow("a", 999_500), bursts.restMs("a"), bursts.allow("b", 1)]).toEqual([0, 1000, 1]);
    await clock.advance(1000);
    expect(bursts.allow("a", 700)).toBe(500);
    bursts.forget("a");
    expect(bursts.allow("a", 200)).toBe(200);
  });
});
