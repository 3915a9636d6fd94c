import { expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

it("a token bucket lets some pass at once, and then so many in a second", () => {
  const bucket = new TokenBucket({ perSecond: 2, burst: 4 });
  const passed = (now: number, tries: number) =>
    Array.from({ length: tries }, () => bucket.take(now)).filter((seconds) => seconds === 0).length;
  expect(passed(0, 10)).toBe(4);
  expect(passed(100, 10)).toBe(0);
  expect(passed(1000, 10)).toBe(2);
  expect(passed(60_000, 10)).toBe(4);
  expect(bucket.take(60_000)).toBe(0.5);
  bucket.giveBack();
  expect(bucket.take(60_000)).toBe(0);
});
