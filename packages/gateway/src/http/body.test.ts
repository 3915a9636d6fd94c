/** Bodies that are made to harm, and those that are not. */
import { WallClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { LARGEST_YAML, parseJson, parseYaml } from "./body.ts";

const LIMIT = 100_000;
const json = (text: string) => parseJson(text, LIMIT);
const yaml = (text: string) => parseYaml(text, LIMIT);
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: "BERTH_BODY_INVALID", message: expect.stringMatching(message) });

describe("a body", () => {
  it("is JSON, with a mark of its encoding or without", () => {
    expect(json('{"a":[1,null,"x"]}')).toEqual({ a: [1, null, "x"] });
    expect(json('\uFEFF{"a":1}')).toEqual({ a: 1 });
  });

  it("says where it is not JSON or YAML", () => {
    expect(() => json("")).toThrow(invalid(/^body: it is empty/));
    expect(() => json('{"a":}')).toThrow(invalid(/no JSON: Unexpected token '}'/));
    expect(() => yaml("a: {b")).toThrow(invalid(/no YAML: .* line 1/));
    expect(() => yaml("  \n# nothing\n")).toThrow(invalid(/empty/));
    expect(() => yaml("a: 1\n---\na: 2")).toThrow(invalid(/2 documents/));
    expect(() => yaml("a: *b")).toThrow(invalid(/no YAML/));
    expect(() => yaml("a: {b: 1, c: 2,\n  b: 3}")).toThrow(invalid(/b is given twice/));
  });

  it("R1 is YAML as kubectl reads it", () => {
    const text =
      "---\na: yes\nb: 'yes'\nc: 2020-01-01T00:00:00Z\nd: 017\n1: x\nbase: &b {e: 1}\nf: {<<: *b, g: 2}\n---\n";
    expect(yaml(text)).toEqual({
      ...{ a: true, b: "yes", c: "2020-01-01T00:00:00Z", d: 15, "1": "x", base: { e: 1 }, f: { e: 1, g: 2 } },
    });
  });

  it("H8 has no field that would change all objects there are", () => {
    for (const text of [
      '{"__proto__":{"polluted":1}}',
      '{"a":[{"__proto__":1}]}',
      '{"\\u005f_proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
    ]) {
      expect(() => json(text), text).toThrow(invalid(/must not be called/));
      expect(() => yaml(text), text).toThrow(invalid(/must not be called/));
    }
    expect(() => yaml("a: &x {polluted: 1}\n__proto__: *x")).toThrow(invalid(/must not be called/));
    expect(() => yaml("x: {<<: {__proto__: {polluted: 1}}}")).toThrow(invalid(/must not be called/));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(json('{"constructor":"a builder","prototype":1}')).toEqual({ constructor: "a builder", prototype: 1 });
  });

  it("H9 is not nested without end", () => {
    const deep = (times: number) => "[".repeat(times) + "]".repeat(times);
    expect(json(deep(100))).toBeInstanceOf(Array);
    for (const times of [101, 50_000]) {
      expect(() => json(deep(times))).toThrow(invalid(/deep/));
      expect(() => yaml(deep(times))).toThrow(expect.objectContaining({ code: "BERTH_BODY_INVALID" }));
    }
    expect(() => yaml("a: &a [*a]")).toThrow(invalid(/deep/));
    expect(() => yaml("a: &a {b: *a}")).toThrow(invalid(/deep/));
  });

  it("H9 does not become huge when its references are written out", () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (let index = 1; index < 10; index++) {
      const [name, before] = ["abcdefghij"[index], "abcdefghij"[index - 1]];
      lines.push(`${name}: &${name} [${Array(9).fill(`*${before}`)}]`);
    }
    expect(() => yaml(lines.join("\n"))).toThrow(expect.objectContaining({ code: "BERTH_BODY_INVALID" }));
    const long = `a: &a ${"x".repeat(5000)}\nb: [${Array(50).fill("*a")}]`;
    expect(() => yaml(long)).toThrow(expect.objectContaining({ code: "BERTH_BODY_TOO_LARGE" }));
    expect(yaml(`a: &a ${"x".repeat(50)}\nb: [${Array(50).fill("*a")}]`)).toHaveProperty("b");
  });

  it("H9 is read in time that grows with its size, also when it is made to take long", () => {
    const clock = new WallClock();
    const bodies = [
      Array.from({ length: 17_000 }, (_, index) => `k${index}: {b: 1}`).join("\n"),
      `{${"a, ".repeat(80_000)}}`,
      `a: ${"@ ".repeat(100_000)}`,
      `${"- a\n".repeat(65_000)}`,
    ];
    for (const body of bodies) {
      const begin = clock.steady();
      try {
        parseYaml(body, LARGEST_YAML);
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^BERTH_BODY_/) });
      }
      // A comparison of each with each would take ten times as long, on any machine.
      expect(clock.steady() - begin, body.slice(0, 20)).toBeLessThan(5000);
    }
  });

  it("H9 has nothing that JSON does not know", () => {
    for (const text of ["a: .nan", "a: -.inf", "a: !!set {b, c}", "a: !!binary aGVsbG8=", "a: !!omap [b: 1]"]) {
      expect(() => yaml(text), text).toThrow(expect.objectContaining({ code: "BERTH_BODY_INVALID" }));
    }
    expect(() => json('{"a":1e999}')).toThrow(invalid(/no number/));
  });
});
