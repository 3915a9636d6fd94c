import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesGlob } from "./glob.ts";

describe("patterns", () => {
  it.each([
    ["*SparkPi", "org.apache.spark.examples.SparkPi", true],
    ["*SparkPi", "org.apache.spark.examples.SparkPie", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-b-b-c-", false],
    ["*", "", true],
    ["", "", true],
    ["", "x", false],
    ["a.c", "abc", false],
    ["**x**", "x", true],
  ])("%s on %s: %s", (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  it("mean what the same regular expressions mean", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    const texts = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
    fc.assert(
      fc.property(letters, texts, (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
        expect(matchesGlob(pattern, text)).toBe(expression.test(text));
      }),
    );
  });

  it("take no longer for patterns that are made to take long", () => {
    expect(matchesGlob(`${"a*".repeat(500)}b`, "a".repeat(5000))).toBe(false);
  });
});
