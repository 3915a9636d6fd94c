import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countFields, duplicates, survey } from "./json-text.ts";

describe("a JSON text", () => {
  it("has as many fields as its value, unless some are given twice", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(survey(text).fields).toBe(countFields(JSON.parse(text)));
        expect(duplicates(text)).toEqual([]);
      }),
    );
  });

  it("tells which fields are given twice, and where", () => {
    const text = '{"a":1,"b":[{"c":1},{"c":1 , "c" :[2],"d":"\\"c\\":"}],"a":{"x":1,"x":2,"x":3}}';
    expect(duplicates(text)).toEqual(["b[1].c", "a", "a.x"]);
    expect(duplicates('{"a\\u0062":1,"ab":2}')).toEqual(["ab"]);
  });

  it("tells how deep it goes", () => {
    expect(survey("1").depth).toBe(0);
    expect(survey('{"a":["[[[[", {}]}').depth).toBe(3);
    expect(survey(`${"[".repeat(5000)}${"]".repeat(5000)}`).depth).toBe(5000);
  });
});
