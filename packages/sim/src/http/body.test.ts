import { describe, expect, it } from "vitest";
import { parseBody, patchTypeOf } from "./body.ts";

const read = (text: string, type = "application/json") => parseBody(Buffer.from(text), type, { kind: "Pod" });

describe("a body", () => {
  it("is JSON or YAML, as its type says", () => {
    expect(read('{"a":1}').value).toEqual({ a: 1 });
    expect(read("a: 1\nb: [x]", "application/yaml").value).toEqual({ a: 1, b: ["x"] });
    expect(read('{"a":1}', "application/apply-patch+yaml; charset=utf-8").value).toEqual({ a: 1 });
    expect(() => read("a: 1")).toThrow(/unrecognized \(must be of type Pod\)/);
    expect(() => read("x", "application/xml")).toThrow(/unknown format/);
  });

  it("is YAML as Go reads it", () => {
    const text = "a: y\nb: 0o17\nc: 017\nd: 2020-01-01T00:00:00Z\ne: 1:30\nf: 'y'\ng: {<<: {h: 1}, i: 2}";
    expect(read(text, "application/yaml").value).toMatchObject({
      a: true,
      c: 15,
      d: "2020-01-01T00:00:00Z",
      e: "1:30",
      f: "y",
      g: { h: 1, i: 2 },
    });
  });

  it("may be missing only where nothing needs to be said", () => {
    expect(parseBody(Buffer.from(""), undefined, "options").value).toBeUndefined();
    expect(() => parseBody(Buffer.from(""), undefined, "patch")).toThrow("error decoding patch: unexpected end");
    expect(() => read(" ")).toThrow("unexpected end of JSON input");
  });

  it("tells of fields that were given twice", () => {
    expect(read('{"a":{"b":1,"b":2}}')).toEqual({ value: { a: { b: 2 } }, duplicates: ["a.b"] });
  });

  it("is refused if it is made to harm: too deep, or a bomb", () => {
    const deep = (times: number) => "[".repeat(times) + "]".repeat(times);
    expect(() => read(deep(100_000))).toThrow(/exceeded max depth/);
    expect(() => read(deep(100_000), "application/yaml")).toThrow(/exceeded max depth/);
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefghij"].reduce(
      (text, name, index) => `${text}\n${name}: &${name} [${Array(9).fill(`*${"abcdefghij"[index - 1]}`)}]`,
    );
    expect(() => read(bomb, "application/yaml")).toThrow(/error decoding YAML/);
    expect(() => read("a: &a [*a]", "application/yaml")).toThrow(/error decoding/);
    expect(() => read("a: {b", "application/yaml")).toThrow(/error decoding YAML/);
  });

  it("keeps names like any other apart from what JavaScript makes of them", () => {
    const { value } = read('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
  });
});

it("a patch says by its content type what it is", () => {
  expect(patchTypeOf("application/merge-patch+json")).toBe("merge");
  expect(patchTypeOf("application/apply-patch+yaml;x=y")).toBe("apply");
  expect(() => patchTypeOf("application/json")).toThrow("415: Unsupported Media Type");
});
