import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyOf, equal, frozen, isObject } from "../api/json.ts";
import { mergePatched } from "./merge-patch.ts";

const patched = (document: unknown, patch: unknown) => mergePatched(frozen(document), frozen(patch));

describe("a merge patch", () => {
  // The examples of RFC 7396, but for those about what is no object: there is no such thing here.
  it.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("%j + %j = %j", (document, patch, result) => {
    expect(patched(document, patch)).toEqual(result);
  });

  it("takes lists without nulls in their items, as the real server does", () => {
    expect(patched({ a: [1] }, { a: [{ b: null, c: 1 }, null] })).toEqual({ a: [{ c: 1 }, null] });
    expect(patched({ a: { x: 1 } }, { a: [{ b: null }] })).toEqual({ a: [{ b: null }] });
  });

  it("gives the document itself if the patch says nothing new", () => {
    const document = frozen({ a: { b: 1 } });
    expect(mergePatched(document, { a: { b: 1, c: null }, d: undefined })).toBe(document);
  });

  it("treats __proto__ as a name like any other", () => {
    const result = patched({}, JSON.parse('{"__proto__": {"polluted": true}, "a": {"__proto__": 1}}'));
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
    expect(Object.hasOwn(patched(result, JSON.parse('{"__proto__": null}')) as object, "__proto__")).toBe(false);
  });
});

describe("the laws of merge patches", () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => copyOf(value));
  const object = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), json);

  // Lists with nulls somewhere in them are left out: the second time they are taken otherwise, see above.
  const { patch } = fc.letrec((tie) => ({
    patch: fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value"), { maxKeys: 3 }),
    value: fc.oneof(fc.constantFrom(null, 1, "x"), fc.array(fc.integer()), tie("patch")),
  }));

  it("a second time changes nothing", () => {
    fc.assert(
      fc.property(object, patch, (document, patch) => {
        const once = patched(document, patch);
        expect(equal(mergePatched(once, patch), once)).toBe(true);
      }),
    );
  });

  it("the difference of two documents leads from one to the other", () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        const clean = mergePatched({}, to);
        expect(patched(from, difference(from, clean))).toEqual(clean);
      }),
    );
  });

  it("nothing given is changed", () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const copies = copyOf([document, patch]);
        patched(document, patch);
        expect([document, patch]).toEqual(copies);
      }),
    );
  });
});

function difference(from: unknown, to: unknown): unknown {
  if (!isObject(from) || !isObject(to)) return to;
  const [old, fresh] = [new Map(Object.entries(from)), new Map(Object.entries(to))];
  const keys = new Set([...old.keys(), ...fresh.keys()]);
  return Object.fromEntries(
    [...keys].map((key) => [key, fresh.has(key) ? difference(old.get(key), fresh.get(key)) : null]),
  );
}
