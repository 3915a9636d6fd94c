import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  difference,
  differenceBelow,
  EMPTY,
  type FieldSet,
  has,
  intersection,
  isEmpty,
  pathsOf,
  same,
  setOf,
  union,
} from "./field-set.ts";
import { fieldsV1, fromFieldsV1 } from "./fields-v1.ts";
import { fieldElement, keyElement, type Path, parsedElement, shownPath, valueElement } from "./path-element.ts";

const element = fc.oneof(
  fc.constantFrom("a", "b", "c", "__proto__").map(fieldElement),
  fc.constantFrom("x", 1, true).map(valueElement),
  fc
    .constantFrom<[string, unknown][]>(
      [["name", "x"]],
      [
        ["port", 80],
        ["protocol", "TCP"],
      ],
    )
    .map(keyElement),
  fc.constantFrom("i:0", "i:1"),
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const set = fc.array(path, { maxLength: 12 }).map((paths) => setOf(...paths));
const texts = (fields: FieldSet) => new Set([...pathsOf(fields)].map((each) => JSON.stringify(each)));

describe("sets of fields", () => {
  it("are sets of paths", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [left, right] = [texts(a), texts(b)];
        expect(texts(union(a, b))).toEqual(new Set([...left, ...right]));
        expect(texts(intersection(a, b))).toEqual(new Set([...left].filter((each) => right.has(each))));
        expect(texts(difference(a, b))).toEqual(new Set([...left].filter((each) => !right.has(each))));
      }),
    );
  });

  it("lose what is below a field, if asked to", () => {
    const isBelow = (each: Path, fields: FieldSet) => each.some((_, end) => has(fields, each.slice(0, end + 1)));
    fc.assert(
      fc.property(set, set, (a, b) => {
        const kept = [...pathsOf(a)].filter((each) => !isBelow(each, b));
        expect(same(differenceBelow(a, b), setOf(...kept))).toBe(true);
      }),
    );
  });

  it("are the same set itself if nothing changes", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(union(a, intersection(a, b))).toBe(a);
        expect(difference(a, difference(b, a))).toBe(a);
        expect(isEmpty(difference(a, a))).toBe(true);
      }),
    );
  });

  it("have no empty parts", () => {
    const check = (fields: FieldSet): void => {
      for (const inner of fields.children.values()) {
        expect(isEmpty(inner)).toBe(false);
        check(inner);
      }
    };
    fc.assert(
      fc.property(set, set, (a, b) => {
        for (const result of [union(a, b), intersection(a, b), difference(a, b), differenceBelow(a, b)]) check(result);
      }),
    );
  });
});

describe("fieldsV1", () => {
  it("has every set in one form, and back", () => {
    fc.assert(
      fc.property(set, (fields) => {
        const shown = JSON.parse(JSON.stringify(fieldsV1(fields)));
        expect(same(fromFieldsV1(shown), fields)).toBe(true);
      }),
    );
  });

  it("looks as in the real server", () => {
    const name = keyElement([["name", "web"]]);
    const fields = setOf(
      ["f:spec", "f:replicas"],
      ["f:spec", "f:containers", name],
      ["f:spec", "f:containers", name, "f:image"],
      ["f:metadata", "f:finalizers", valueElement("a/b")],
      ["f:metadata", "f:labels"],
    );
    expect(JSON.stringify(fieldsV1(fields))).toBe(
      JSON.stringify({
        "f:metadata": { "f:finalizers": { 'v:"a/b"': {} }, "f:labels": {} },
        "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } }, "f:replicas": {} },
      }),
    );
    expect(fieldsV1(EMPTY)).toEqual({});
  });

  it("reads keys in whatever order, drops what it does not know, and refuses nonsense", () => {
    const read = (fields: unknown) => fieldsV1(fromFieldsV1(fields));
    expect(read({ 'k:{"b": 1, "a": "x"}': {} })).toEqual({ 'k:{"a":"x","b":1}': {} });
    expect(read({ "f:a": null, "z:new": {} })).toEqual({ "f:a": {} });
    expect(read(null)).toEqual({});
    for (const wrong of [
      5,
      [],
      { f: {} },
      { noColon: {} },
      { "k:[": {} },
      { "k:5": {} },
      { "i:x": {} },
      { "f:a": 5 },
    ]) {
      expect(() => fromFieldsV1(wrong)).toThrow(SyntaxError);
    }
  });

  it("escapes as Go does", () => {
    expect(valueElement("a<b>&c\u2028")).toBe(String.raw`v:"a\u003cb\u003e\u0026c\u2028"`);
    expect(parsedElement('v:"a<b"')).toBe(valueElement("a<b"));
  });

  it("shows paths to people", () => {
    const ports = keyElement([
      ["protocol", "TCP"],
      ["containerPort", 80],
    ]);
    expect(shownPath(["f:spec", "f:ports", ports, "f:name"])).toBe('.spec.ports[containerPort=80,protocol="TCP"].name');
    expect(shownPath(["f:metadata", "f:finalizers", 'v:"x"'])).toBe('.metadata.finalizers[="x"]');
    expect(shownPath(["f:list", "i:3"])).toBe(".list[3]");
  });
});
