import { describe, expect, it } from "vitest";
import { type ProcessStat, parseStat, usage, withDescendants } from "./process-usage.ts";

describe("parseStat", () => {
  it("reads parent and time, whatever the program is called", () => {
    const text = "42 (a ) b (c) S 7 42 42 0 -1 4194304 900 0 0 0 250 50 20 5 20 0 11 0 8000 1000000 500 1844";
    expect(parseStat(text)).toEqual({ pid: 42, parent: 7, cpuSeconds: 3.25 });
  });
});

describe("withDescendants", () => {
  const stat = (pid: number, parent: number): ProcessStat => ({ pid, parent, cpuSeconds: 0 });

  it("counts children and their children once, and nobody else", () => {
    const all = [stat(1, 0), stat(5, 3), stat(3, 2), stat(2, 1), stat(4, 1)];
    expect(withDescendants([2, 3], all).map(({ pid }) => pid)).toEqual([5, 3, 2]);
  });

  it("leaves out what is gone", () => {
    expect(withDescendants([9], [stat(1, 0)])).toEqual([]);
  });
});

describe("usage", () => {
  it("measures this very process", () => {
    const { cpuSeconds, residentBytes } = usage([process.pid]);
    expect(cpuSeconds).toBeGreaterThan(0);
    expect(residentBytes).toBeGreaterThan(1_000_000);
  });
});
