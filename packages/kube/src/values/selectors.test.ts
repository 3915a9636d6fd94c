import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FieldSelector, fieldOf, LabelSelector } from "./selectors.ts";
import { refusedSelectors } from "./testing/refused-selectors.ts";

const labels = { app: "web", tier: "a", cpu: "8", "example.org/zone": "" };

describe("LabelSelector", () => {
  it.each([
    ["", true],
    ["app=web", true],
    ["app==web", true],
    ["app!=web", false],
    ["missing!=web", true],
    ["tier in (a, b)", true],
    ["tier notin (a,b)", false],
    ["missing notin (a)", true],
    ["app", true],
    ["!app", false],
    ["!missing", true],
    ["example.org/zone=", true],
    ["example.org/zone", true],
    ["cpu>4", true],
    ["cpu < 4", false],
    ["app>4", false],
    ["app=web,tier in (b,c)", false],
    ["app=web,tier in (a),cpu>7,!old", true],
    ["toString", false],
  ])("S1 %j matches: %s", (text, expected) => {
    expect(LabelSelector.parse(text).matches(labels)).toBe(expected);
  });

  it.each(refusedSelectors)("S2 refuses %j", (text) => {
    expect(() => LabelSelector.parse(text)).toThrow(expect.objectContaining({ code: "KUBE_SELECTOR_INVALID" }));
  });

  it("S3 reads a spec, and an empty one selects everything", () => {
    const selector = LabelSelector.fromSpec({
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "In", values: ["b", "a"] },
        { key: "old", operator: "DoesNotExist" },
      ],
    });
    expect(selector.toString()).toBe("app=web,!old,tier in (a,b)");
    expect(selector.matches(labels)).toBe(true);
    expect(LabelSelector.fromSpec({}).matches(undefined)).toBe(true);
    expect(() => LabelSelector.fromSpec({ matchExpressions: [{ key: "a", operator: "Like" }] })).toThrow();
    expect(() => LabelSelector.fromSpec({ matchExpressions: [{ key: "a", operator: "In" }] })).toThrow();
    expect(() =>
      LabelSelector.fromSpec({ matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] }),
    ).toThrow();
  });

  it("S4 means the same after it was written and read again", () => {
    const key = fc.constantFrom("app", "tier", "cpu", "example.org/zone");
    const value = fc.constantFrom("a", "b", "web", "8", "");
    const term = fc.oneof(
      fc.tuple(key, value).map(([key, value]) => `${key}=${value}`),
      fc.tuple(key, value).map(([key, value]) => `${key} != ${value}`),
      fc.tuple(key, fc.array(value, { minLength: 1 })).map(([key, values]) => `${key} in (${values.join(", ")})`),
      fc.tuple(key, fc.array(value, { minLength: 1 })).map(([key, values]) => `${key} notin (${values.join(",")})`),
      key,
      key.map((key) => `!${key}`),
      fc.tuple(key, fc.nat(9)).map(([key, number]) => `${key}>${number}`),
    );
    const object = fc.dictionary(key, value);
    fc.assert(
      fc.property(fc.array(term), object, (terms, object) => {
        const selector = LabelSelector.parse(terms.join(","));
        const again = LabelSelector.parse(selector.toString());
        expect(again.toString()).toBe(selector.toString());
        expect(again.matches(object)).toBe(selector.matches(object));
      }),
    );
  });
});

describe("FieldSelector", () => {
  const pod = { metadata: { name: "a" }, spec: { nodeName: "n1" }, status: { phase: "Running" } };
  const read = (field: string) => fieldOf(pod, field);

  it.each([
    ["spec.nodeName=n1", true],
    ["spec.nodeName==n1,status.phase!=Pending", true],
    ["spec.nodeName!=n1", false],
    ["spec.missing=", true],
    ["", true],
  ])("S5 %j matches: %s", (text, expected) => {
    expect(FieldSelector.parse(text).matches(read)).toBe(expected);
  });

  it("S6 keeps commas and equal signs that are escaped", () => {
    const selector = FieldSelector.parse("a=x\\,y\\=z,b!=1");
    expect(selector.requirements).toEqual([
      { field: "a", equal: true, value: "x,y=z" },
      { field: "b", equal: false, value: "1" },
    ]);
    expect(FieldSelector.parse(selector.toString())).toEqual(selector);
    expect(() => FieldSelector.parse("nonsense")).toThrow(expect.objectContaining({ code: "KUBE_SELECTOR_INVALID" }));
  });
});
