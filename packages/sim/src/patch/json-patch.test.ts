import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyOf, equal, frozen, isObject } from "../api/json.ts";
import { DoesNotApply, jsonPatched } from "./json-patch.ts";

const patched = (document: unknown, ...operations: unknown[]) => jsonPatched(frozen(document), frozen(operations));

describe("a JSON patch", () => {
  it("adds, replaces and removes fields and items", () => {
    expect(patched({ a: 1 }, { op: "add", path: "/b", value: [1, 3] })).toEqual({ a: 1, b: [1, 3] });
    expect(patched({ b: [1, 3] }, { op: "add", path: "/b/1", value: 2 })).toEqual({ b: [1, 2, 3] });
    expect(patched({ b: [1] }, { op: "add", path: "/b/-", value: 2 })).toEqual({ b: [1, 2] });
    expect(patched({ b: [1] }, { op: "add", path: "/b/1", value: 2 })).toEqual({ b: [1, 2] });
    expect(patched({ a: { b: 1 } }, { op: "replace", path: "/a/b", value: 2 })).toEqual({ a: { b: 2 } });
    expect(patched({ b: [1, 2] }, { op: "replace", path: "/b/0", value: 3 })).toEqual({ b: [3, 2] });
    expect(patched({ a: 1, b: 2 }, { op: "remove", path: "/a" })).toEqual({ b: 2 });
    expect(patched({ b: [1, 2] }, { op: "remove", path: "/b/0" })).toEqual({ b: [2] });
  });

  it("moves and copies", () => {
    expect(patched({ a: 1 }, { op: "move", from: "/a", path: "/b" })).toEqual({ b: 1 });
    expect(patched({ a: [1, 2, 3] }, { op: "move", from: "/a/0", path: "/a/2" })).toEqual({ a: [2, 3, 1] });
    expect(patched({ a: { b: 1 } }, { op: "copy", from: "/a", path: "/c" })).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });

  it("changes a copy without changing what it is a copy of", () => {
    const operations = [
      { op: "add", path: "/a/x", value: { deep: [1] } },
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/b/x/deep/-", value: 2 },
      { op: "add", path: "/a/x/deep/-", value: 3 },
    ];
    expect(patched({ a: {} }, ...operations)).toEqual({ a: { x: { deep: [1, 3] } }, b: { x: { deep: [1, 2] } } });
  });

  it("understands escapes", () => {
    expect(patched({ "a/b": 1, "c~d": 2 }, { op: "remove", path: "/a~1b" })).toEqual({ "c~d": 2 });
    expect(patched({ "c~d": 2 }, { op: "replace", path: "/c~0d", value: 3 })).toEqual({ "c~d": 3 });
    expect(patched({ "~1": 2 }, { op: "remove", path: "/~01" })).toEqual({});
  });

  it("goes on only if a test succeeds", () => {
    const remove = { op: "remove", path: "/a" };
    expect(patched({ a: { b: [1] } }, { op: "test", path: "/a", value: { b: [1] } }, remove)).toEqual({});
    expect(() => patched({ a: 1 }, { op: "test", path: "/a", value: 2 }, remove)).toThrow(DoesNotApply);
    expect(() => patched({ a: 1 }, { op: "test", path: "/a/b", value: 2 })).toThrow(DoesNotApply);
    expect(patched({ a: 1 }, { op: "test", path: "", value: { a: 1 } })).toEqual({ a: 1 });
  });

  it("takes what the real server takes, though the RFC does not", () => {
    expect(patched({}, { op: "replace", path: "/a", value: 1 })).toEqual({ a: 1 });
    expect(patched({}, { op: "test", path: "/a", value: null })).toEqual({});
    expect(patched({}, { op: "test", path: "/a" })).toEqual({});
    expect(patched({ b: [1, 2] }, { op: "remove", path: "/b/-1" })).toEqual({ b: [1] });
    expect(patched({ b: [1, 2] }, { op: "add", path: "/b/-1", value: 3 })).toEqual({ b: [1, 2, 3] });
    expect(patched({ a: 1 }, { op: "add", path: "whatever/a", value: 2 })).toEqual({ a: 2 });
    expect(patched({}, { op: "copy", from: "/a", path: "/b" })).toEqual({ b: null });
    expect(patched({ a: 1 }, { op: "add", path: "/b" })).toEqual({ a: 1, b: null });
  });

  it.each([
    [{ op: "remove", path: "/b" }],
    [{ op: "remove", path: "/list/2" }],
    [{ op: "remove", path: "/list/-3" }],
    [{ op: "replace", path: "/list/-", value: 1 }],
    [{ op: "add", path: "/list/3", value: 1 }],
    [{ op: "add", path: "/list/x", value: 1 }],
    [{ op: "add", path: "/b/c", value: 1 }],
    [{ op: "add", path: "/a/c", value: 1 }],
    [{ op: "add", path: "", value: {} }],
    [{ op: "replace", path: "", value: 1 }],
    [{ op: "replace", path: "", value: null }],
    [{ op: "move", from: "/b", path: "/c" }],
    [{ op: "move", from: "/a", path: "/a/b" }],
    [{ op: "add", value: 1 }],
    [{ op: "copy", path: "/b" }],
    [{ op: "add", path: 5, value: 1 }],
    [{ op: "frobnicate", path: "/a" }],
    [{ path: "/a" }],
    [null],
  ])("is refused if it does not fit: %j", (operation) => {
    expect(() => patched({ a: 1, list: [1, 2] }, operation)).toThrow(DoesNotApply);
  });

  it("treats __proto__ as a name like any other", () => {
    const result = patched({}, { op: "add", path: "/__proto__", value: { polluted: true } });
    expect(Object.hasOwn(result as object, "__proto__")).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(() => patched({}, { op: "add", path: "/__proto__/x", value: 1 })).toThrow(DoesNotApply);
  });

  it("does not let copies grow without end", () => {
    const doubling = Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));
    expect(() => patched({ a: ["x".repeat(1000)] }, ...doubling)).toThrow(DoesNotApply);
  });

  it("does ten thousand operations on one list in a moment", () => {
    const operations = Array.from({ length: 10_000 }, (_, i) => ({ op: "add", path: `/a/key-${i}`, value: i }));
    expect(Object.keys((patched({ a: {} }, ...operations) as { a: object }).a)).toHaveLength(10_000);
  });

  it("shares what it does not touch", () => {
    const document = { a: { b: 1 }, c: { d: 2 } };
    const result = patched(document, { op: "replace", path: "/c/d", value: 3 }) as typeof document;
    expect(result.a).toBe(document.a);
    expect(document.c.d).toBe(2);
  });
});

describe("the laws of JSON patches", () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => copyOf(value));
  const key = fc.constantFrom("a", "b", "c~", "d/e", "");
  const document = fc.dictionary(key, json);
  const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");

  it("what was added is there, and gone when it is removed", () => {
    fc.assert(
      fc.property(document, key, json, (before, name, value) => {
        const path = `/${escaped(name)}`;
        const added = patched(before, { op: "add", path, value }, { op: "test", path, value });
        const { [name]: _, ...rest } = before;
        expect(jsonPatched(added, [{ op: "remove", path }])).toEqual(rest);
      }),
    );
  });

  it("a move is a copy and a removal", () => {
    fc.assert(
      fc.property(document, key, key, (before, from, to) => {
        fc.pre(Object.hasOwn(before, from) && from !== to);
        const [source, path] = [`/${escaped(from)}`, `/${escaped(to)}`];
        const moved = patched(before, { op: "move", from: source, path });
        const copied = patched(before, { op: "copy", from: source, path }, { op: "remove", path: source });
        expect(moved).toEqual(copied);
      }),
    );
  });

  it("applied one after another they do what they do together", () => {
    const operation = fc.record({
      op: fc.constantFrom("add", "replace"),
      path: key.map((k) => `/${escaped(k)}`),
      value: json,
    });
    fc.assert(
      fc.property(document, fc.array(operation), (before, operations) => {
        const together = patched(before, ...operations);
        const apart = operations.reduce<unknown>((each, next) => patched(each, next), before);
        expect(equal(together, apart)).toBe(true);
      }),
    );
  });

  it("whatever comes in is refused or done, and never changed", () => {
    const anything = fc.record(
      {
        op: fc.oneof(fc.constantFrom("add", "remove", "replace", "move", "copy", "test"), json),
        path: fc.oneof(fc.constantFrom("", "/", "/a", "/a/0", "/a/-", "/b/c", "/~"), json),
        from: fc.oneof(fc.constantFrom("", "/a", "/b/0"), json),
        value: json,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(document, fc.array(fc.oneof(anything, json), { maxLength: 5 }), (before, operations) => {
        const copies = copyOf([before, operations]);
        try {
          const result = patched(before, ...operations);
          if (isObject(result)) expect(result).toBeTypeOf("object");
        } catch (error) {
          expect(error).toBeInstanceOf(DoesNotApply);
        }
        expect([before, operations]).toEqual(copies);
      }),
    );
  });
});
