import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Bursts, FAILING_BURST } from "./bursts.ts";

describe("Bursts", () => {
  it("let some be made at once, and more after a rest", async () => {
    const clock = new VirtualClock();
    const bursts = new Bursts(clock);
    expect([bursts.allow("a", 3), bursts.allow("a", 0), bursts.allow("a", -2)]).toEqual([3, 0, 0]);
    expect(bursts.restMs("a")).toBe(0);
    expect(bursts.allow("a", 1_000_000)).toBe(497);
    expect([bursts.allow("a", 999_500), bursts.restMs("a"), bursts.allow("b", 1)]).toEqual([0, 1000, 1]);
    await clock.advance(1000);
    expect(bursts.restMs("a")).toBe(0);
    expect(bursts.allow("a", 700)).toBe(500);
    bursts.forget("a");
    expect(bursts.allow("a", 200)).toBe(200);
  });

  it("are counted one by one, so that what fails at once is not made again for ever at once", async () => {
    const clock = new VirtualClock();
    const bursts = new Bursts(clock);
    let made = 0;
    for (let tries = 0; tries < 100; tries++) made += bursts.allow("a", 1, FAILING_BURST);
    expect([made, bursts.restMs("a")]).toEqual([20, 1000]);
    await clock.advance(400);
    expect([bursts.allow("a", 1, FAILING_BURST), bursts.restMs("a")]).toEqual([0, 600]);
    await clock.advance(600);
    expect(bursts.allow("a", 1, FAILING_BURST)).toBe(1);
  });
});
