import fc from "fast-check";
import { expect, it } from "vitest";
import { isSame } from "./writes.ts";

it("two values are the same if they are as JSON, in whatever order their fields are", () => {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
  };
  const some = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(some, some, (a, b) => {
      expect(isSame(a, sorted(a))).toBe(true);
      expect(isSame(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
    }),
  );
  expect(isSame({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(isSame({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  expect(isSame({ a: 1 }, { a: 1, b: null })).toBe(false);
  expect(isSame([1], [1, 2])).toBe(false);
});
