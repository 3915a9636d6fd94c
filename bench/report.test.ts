import { describe, expect, it } from "vitest";
import { median, percentile, row, table } from "./report.ts";

const measurement = { measure: "start", unit: "s", ours: 4.9, peer: 9.8765, peerName: "other" };

describe("row", () => {
  it("puts both figures and their ratio side by side", () => {
    expect(row(measurement)).toEqual({
      ...measurement,
      peer: 9.88,
      ratio: 0.496,
      target: null,
      met: null,
    });
  });

  it("can do without a peer", () => {
    const { measure, unit, ours } = measurement;
    const alone = row({ measure, unit, ours, target: { of: "ours", atMost: 5 } });
    expect(alone).toMatchObject({ ours, peer: null, ratio: null, met: true });
    expect(table({ name: "x", date: "d", machine: "m", rows: [alone] })).not.toContain("null");
    expect(row({ measure, unit, ours, target: { of: "ratio", atMost: 5 } }).met).toBe(false);
  });

  it.each([
    [{ of: "ratio", atMost: 1 } as const, "≤ 1×", true],
    [{ of: "ratio", atLeast: 1 } as const, "≥ 1×", false],
    [{ of: "ours", atMost: 4 } as const, "≤ 4 s", false],
    [{ of: "ours", atLeast: 4, atMost: 5 } as const, "≤ 5 and ≥ 4 s", true],
  ])("judges %j", (target, words, met) => {
    expect(row({ ...measurement, target })).toMatchObject({ target: words, met });
  });
});

describe("median", () => {
  it("is the value in the middle", () => {
    expect(median([5])).toBe(5);
    expect(median([30, 1, 200])).toBe(30);
  });
});

describe("percentile", () => {
  it("is a value that so many are not above", () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect(percentile(values, 50)).toBe(101);
    expect(percentile(values, 99)).toBe(199);
    expect(percentile(values, 100)).toBe(200);
    expect(percentile([7], 99)).toBe(7);
  });
});

describe("table", () => {
  it("says at a glance what was met and what was missed", () => {
    const rows = [
      row({ ...measurement, target: { of: "ratio", atMost: 1 } }),
      row({ ...measurement, target: { of: "ours", atMost: 1 } }),
    ];
    const text = table({ name: "cluster", date: "2026-01-01", machine: "a machine", rows });
    expect(text).toMatch(/start +s +4\.9 +9\.88 \(other\) +0\.496× +≤ 1× +met/);
    expect(text).toMatch(/≤ 1 s +MISSED/);
  });
});
