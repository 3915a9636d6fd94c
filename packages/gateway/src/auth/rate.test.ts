/** How often somebody may ask. */
import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { RateLimit, tooMany } from "./rate.ts";

describe("a rate", () => {
  it("H6 allows a burst, then so many in a second, each by himself", async () => {
    const clock = new VirtualClock();
    const rate = new RateLimit(clock, { perSecond: 2, burst: 3 });
    expect([1, 2, 3, 4].map(() => rate.take("a"))).toEqual([0, 0, 0, 0.5]);
    expect(rate.take("b")).toBe(0);
    await clock.advance(500);
    expect([rate.take("a"), rate.take("a")]).toEqual([0, 0.5]);
    await clock.advance(60_000);
    expect([1, 2, 3, 4].map(() => rate.take("a"))).toEqual([0, 0, 0, 0.5]); // never more than the burst
  });

  it("H6 is not harder on those who go on asking", async () => {
    const clock = new VirtualClock();
    const rate = new RateLimit(clock, { perSecond: 1, burst: 1 });
    rate.take("a");
    for (let index = 0; index < 9; index++) {
      await clock.advance(100);
      expect(rate.take("a")).toBeGreaterThan(0);
    }
    await clock.advance(100.001);
    expect(rate.take("a")).toBe(0);
  });

  it("H6 is given back to whom it should not have been counted for", () => {
    const rate = new RateLimit(new VirtualClock(), { perSecond: 1, burst: 1 });
    for (let index = 0; index < 5; index++) {
      expect(rate.take("a")).toBe(0);
      rate.giveBack("a");
    }
    rate.giveBack("a");
    expect([rate.take("a"), rate.take("a")]).toEqual([0, 1]); // never more than the burst
    rate.giveBack("nobody");
  });

  it("H6 remembers only so many who ask", () => {
    const rate = new RateLimit(new VirtualClock(), { perSecond: 1, burst: 1 });
    rate.take("first");
    for (let index = 0; index < 10_000; index++) rate.take(`other-${index}`);
    expect(rate.take("first")).toBe(0);
    expect(rate.take("other-9999")).toBe(1);
  });

  it("H6 is told with the time to wait", () => {
    expect(tooMany("slowly", 1.2)).toMatchObject({ code: "BERTH_TOO_MANY_REQUESTS", details: { retryAfter: 2 } });
  });
});
