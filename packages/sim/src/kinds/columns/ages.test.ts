import { describe, expect, it } from "vitest";
import { humanDuration, since } from "./ages.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

describe("humanDuration", () => {
  it("has two or three significant figures, as kubectl has", () => {
    const cases: [number, string][] = [
      [0, "0s"],
      [119 * SECOND, "119s"],
      [2 * MINUTE, "2m"],
      [2 * MINUTE + 5 * SECOND, "2m5s"],
      [10 * MINUTE + 5 * SECOND, "10m"],
      [179 * MINUTE, "179m"],
      [3 * HOUR, "3h"],
      [3 * HOUR + 7 * MINUTE, "3h7m"],
      [8 * HOUR + 7 * MINUTE, "8h"],
      [47 * HOUR, "47h"],
      [2 * DAY, "2d"],
      [2 * DAY + 3 * HOUR, "2d3h"],
      [8 * DAY + 3 * HOUR, "8d"],
      [729 * DAY, "729d"],
      [2 * 365 * DAY, "2y"],
      [2 * 365 * DAY + 4 * DAY, "2y4d"],
      [9 * 365 * DAY + 4 * DAY, "9y"],
    ];
    for (const [milliseconds, text] of cases) expect(humanDuration(milliseconds), text).toBe(text);
  });

  it("takes clocks that differ by a moment for what they are", () => {
    expect([humanDuration(-1500), humanDuration(-2000)]).toEqual(["0s", "<invalid>"]);
  });
});

it("an age is relative to the server's clock, and unknown without a time", () => {
  const now = Date.UTC(2020, 0, 1, 0, 1, 40);
  expect(since("2020-01-01T00:00:00Z", now)).toBe("100s");
  expect([since(undefined, now), since("", now), since("soon", now), since(7, now)]).toEqual(
    Array(4).fill("<unknown>"),
  );
});
