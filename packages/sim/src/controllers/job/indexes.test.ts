import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IndexSet } from "./indexes.ts";

const indexes = fc.uniqueArray(fc.nat(40));

describe("IndexSet", () => {
  it("writes what it reads, as Jobs do", () => {
    for (const text of ["", "0", "0,1", "0-2", "0,2,4-7", "1,3-4294967".slice(0, 5)]) {
      expect(IndexSet.parse(text, 1000).toString()).toBe(text === "1,3-4" ? "1,3,4" : text);
    }
    expect(IndexSet.of([5, 1, 2, 3, 7, 8]).toString()).toBe("1-3,5,7,8");
  });

  it("leaves out what cannot be", () => {
    expect(IndexSet.parse("0,x,2-y,4-6", 6).toString()).toBe("0,4,5");
    expect(IndexSet.parse("3-1", 6).size).toBe(0);
  });

  it("is a set", () => {
    fc.assert(
      fc.property(indexes, indexes, fc.integer({ min: 0, max: 50 }), fc.nat(10), (a, b, completions, count) => {
        const [left, right, both] = [IndexSet.of(a), IndexSet.of(b), new Set([...a, ...b])];
        const union = left.union(right);
        expect(union.size).toBe(both.size);
        expect(left.overlap(right)).toBe(a.filter((index) => b.includes(index)).length);
        for (let index = 0; index < 45; index++) expect(union.has(index)).toBe(both.has(index));
        expect(IndexSet.parse(union.toString(), 100).toString()).toBe(union.toString());
        const absent = Array.from({ length: completions }, (_, index) => index).filter((index) => !both.has(index));
        expect(union.missing(count, completions)).toEqual(absent.slice(0, count));
      }),
    );
  });
});
