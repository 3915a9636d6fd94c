import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyOf, equal, frozen, shared } from "./json.ts";

const values = fc.jsonValue({ maxDepth: 4 });

describe("JSON values", () => {
  it("are copied whole, and nothing of them is shared", () => {
    fc.assert(
      fc.property(values, (value) => {
        const before = JSON.stringify(value);
        const copy = copyOf(value);
        expect(JSON.stringify(copy)).toBe(before);
        frozen(copy);
        if (typeof value === "object" && value !== null) expect(Object.isFrozen(value)).toBe(false);
      }),
    );
  });

  it("lose what JSON cannot say when they are copied", () => {
    expect(copyOf({ a: undefined, b: () => 1, c: [undefined], d: new Date(0) })).toEqual({
      c: [null],
      d: "1970-01-01T00:00:00.000Z",
    });
  });

  it("keep a field called __proto__ a field", () => {
    const copy = copyOf(JSON.parse('{"__proto__": {"polluted": true}, "a": 1}'));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect((copy as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("are equal if and only if they are the same as JSON, whatever the order of fields", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(equal(a, copyOf(a))).toBe(true);
        expect(equal(a, b)).toBe(equal(b, a));
        if (JSON.stringify(a) === JSON.stringify(b)) expect(equal(a, b)).toBe(true);
      }),
    );
    expect(equal({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
    expect([equal({}, []), equal({ a: 1 }, {}), equal({}, { a: 1 }), equal(null, {})]).toEqual(Array(4).fill(false));
  });

  it("share what is equal with what was there before", () => {
    fc.assert(
      fc.property(values, values, (before, after) => {
        const text = JSON.stringify(after);
        expect(equal(shared(before, copyOf(after)), JSON.parse(text))).toBe(true);
        expect(shared(before, copyOf(before))).toBe(before);
      }),
    );
    const before = { kept: { a: [1] }, changed: 1 };
    const after = shared(before, { kept: { a: [1] }, changed: 2 });
    expect(after).toEqual({ kept: { a: [1] }, changed: 2 });
    expect(after.kept).toBe(before.kept);
  });
});
