import { Quantity } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  dividedMemory,
  LEAST_HEAP_MIB,
  type MemoryParts,
  type MemoryWishes,
  sparkMebibytes,
  usualFactor,
  wholeMebibytes,
} from "./memory.ts";
import { answered } from "./refusal.ts";

const usual: MemoryWishes = { offHeap: 0, python: 0, factor: 0.1, leastOverhead: 384 };
const divide = (whole: number, wishes: Partial<MemoryWishes> = {}) =>
  answered<MemoryParts>(() => dividedMemory(whole, { ...usual, ...wishes }));

describe("an executor's memory", () => {
  it.each<[whole: number, wishes: Partial<MemoryWishes>, heap: number, overhead: number]>([
    // The sums that Spark itself would come to from these heaps.
    [1408, {}, 1024, 384],
    [4505, {}, 4096, 409],
    [5734, { factor: usualFactor("Python") }, 4096, 1638],
    [896, {}, 512, 384],
    // A mebibyte too many for the overhead goes to the overhead.
    [4506, {}, 4097, 409],
    [4095, { factor: 1 }, 2047, 2048],
    // What people say.
    [896, { overhead: 128 }, 768, 128],
    [896, { heap: 500 }, 500, 396],
    [896, { heap: 500, overhead: 100 }, 500, 396],
    [2048, { offHeap: 512, python: 256 }, 896, 384],
    [896, { leastOverhead: 100 }, 796, 100],
  ])("of %d MiB with %j is a heap of %d and an overhead of %d", (whole, wishes, heap, overhead) => {
    expect(divide(whole, wishes)).toEqual({ object: { heap, overhead } });
  });

  it.each<[whole: number, wishes: Partial<MemoryWishes>, code: string, says: string]>([
    [
      800,
      {},
      "TOO_LARGE",
      "a slot leaves 800 MiB of memory to an executor of Spark, which needs 450 heap + 384 overhead = 834 MiB",
    ],
    [
      896,
      { heap: 513 },
      "TOO_LARGE",
      "513 heap + 384 overhead = 897 MiB (the overhead is 0.1 × heap, and at least 384)",
    ],
    [896, { heap: 512, overhead: 400 }, "TOO_LARGE", "512 heap + 400 overhead = 912 MiB"],
    [
      896,
      { overhead: 600 },
      "TOO_LARGE",
      "450 heap + 600 overhead = 1050 MiB (Spark does not start with a heap below 450)",
    ],
    [896, { offHeap: 1024, python: 5 }, "TOO_LARGE", "450 heap + 384 overhead + 1024 off-heap + 5 Python = 1863 MiB"],
    [896, { heap: 300 }, "INVALID", "Spark does not start with a heap of 300 MiB, which must be at least 450"],
  ])("of %d MiB with %j is refused", (whole, wishes, code, says) => {
    expect(divide(whole, wishes)).toEqual({
      problem: { code: `BERTH_APPLICATION_${code}`, message: expect.stringContaining(says) },
    });
  });

  const amount = fc.integer({ min: 0, max: 20_000 });
  const wishes = fc.record({
    heap: fc.option(amount, { nil: undefined }),
    overhead: fc.option(amount, { nil: undefined }),
    offHeap: fc.oneof(fc.constant(0), amount),
    python: fc.oneof(fc.constant(0), amount),
    factor: fc.oneof(fc.constantFrom(0.1, 0.4), fc.double({ min: 0.001, max: 5, noNaN: true })),
    leastOverhead: fc.oneof(fc.constant(384), amount),
  });

  it("adds up to the slot, or is refused", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200_000 }), wishes, (whole, wished) => {
        const result = divide(whole, wished);
        if ("problem" in result) return;
        const { heap, overhead } = result.object;
        expect(heap + overhead + wished.offHeap + wished.python).toBe(whole);
        expect(heap).toBeGreaterThanOrEqual(LEAST_HEAP_MIB);
        // And nobody gets less than was said, or than Spark would have taken.
        if (wished.heap !== undefined) expect(heap).toBe(wished.heap);
        const least = wished.overhead ?? Math.max(Math.floor(wished.factor * heap), wished.leastOverhead);
        expect(overhead).toBeGreaterThanOrEqual(least);
        if (wished.heap === undefined && wished.overhead !== undefined) expect(overhead).toBe(wished.overhead);
      }),
      { numRuns: 1000 },
    );
  });

  it("gives the heap as much as it can have", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200_000 }), wishes, (whole, { factor, leastOverhead }) => {
        const sumFor = (heap: number) => heap + Math.max(Math.floor(factor * heap), leastOverhead);
        const result = divide(whole, { factor, leastOverhead });
        const largest = "problem" in result ? LEAST_HEAP_MIB - 1 : result.object.heap;
        expect(sumFor(largest + 1)).toBeGreaterThan(whole);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("an amount as Spark writes it", () => {
  it.each<[string, number, ("b" | "m")?]>([
    ["1g", 1024],
    ["1G ", 1024],
    ["1gb", 1024],
    ["1048576k", 1024],
    ["1024", 1024],
    ["1023k", 0],
    ["1073741824b", 1024],
    ["1073741824", 1024, "b"],
    ["2t", 2_097_152],
  ])("%s is %d MiB", (text, expected, unit) => {
    expect(sparkMebibytes(text, "it", unit)).toBe(expected);
  });

  it.each(["", "much", "1.5g", "4Gi", "-1g"])("%j is none", (text) => {
    expect(answered(() => sparkMebibytes(text, "here"))).toMatchObject({
      problem: { code: "BERTH_APPLICATION_INVALID", message: expect.stringContaining("here must be an amount") },
    });
  });
});

describe("whole mebibytes", () => {
  it("are counted", () => expect(wholeMebibytes(Quantity.parse("1.5Gi"), "Spark")).toBe(1536));

  it.each(["1G", "1048577", "500m"])("are not in %s", (text) => {
    expect(answered(() => wholeMebibytes(Quantity.parse(text), "Spark"))).toMatchObject({
      problem: { code: "BERTH_APPLICATION_INVALID", message: expect.stringContaining("whole mebibytes") },
    });
  });
});
