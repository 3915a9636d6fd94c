import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Lull } from "./lull.ts";
import { Pace } from "./pace.ts";

describe("a lull", () => {
  it("lets a change wait for a second, from when it was first seen", () => {
    const lull = new Lull();
    expect([
      lull.left("a", 0, 1000),
      lull.left("a", 400, 1000),
      lull.left("b", 600, 1000),
      lull.left("a", 1000, 1000),
    ]).toEqual([1000, 600, 1000, 0]);
  });

  it("begins anew when the change was written, or taken back", () => {
    const lull = new Lull();
    lull.left("a", 0, 1000);
    lull.over("a");
    expect(lull.left("a", 900, 1000)).toBe(1000);
    lull.left("a", 1900, 1000);
    expect(lull.left("a", 2000, 1000)).toBe(1000);
  });

  it("forgets what nobody asks about any more", () => {
    const lull = new Lull();
    lull.left("gone", 0, 1000);
    expect(lull.left("a", 600_000, 1000)).toBe(1000);
    expect(lull.left("gone", 600_001, 1000)).toBe(1000);
  });
});

describe("a pace", () => {
  it("is slower for what is larger, and each has its own", async () => {
    const clock = new VirtualClock();
    const pace = new Pace();
    expect(pace.delay("a", clock)).toBe(0);
    pace.done("a", 4000, clock);
    expect([pace.delay("a", clock), pace.delay("b", clock)]).toEqual([100, 0]);
    await clock.advance(60);
    expect(pace.delay("a", clock)).toBe(40);
    await clock.advance(40);
    expect(pace.delay("a", clock)).toBe(0);
    pace.done("a", 0, clock);
    expect(pace.delay("a", clock)).toBe(0);
  });

  it("may have a least time", () => {
    const clock = new VirtualClock();
    const pace = new Pace({ leastMs: 500 });
    pace.done("a", 4000, clock);
    expect(pace.delay("a", clock)).toBe(500);
  });
});
