import { describe, expect, it } from "vitest";
import { hasFormat, isKnownFormat } from "./formats.ts";
import { goRegExp } from "./go-regexp.ts";

describe("formats", () => {
  it.each<[format: string, right: string[], wrong: string[]]>([
    ["uri", ["http://a/b", "/path", "mailto:x"], ["", "a b", "a/b"]],
    ["email", ["a@b", "A <a@b.c>"], ["a", "@b", "a@"]],
    ["hostname", ["a", "a.example.org"], ["", "-a", "a..b"]],
    ["ipv4", ["10.0.0.1"], ["10.0.0", "::1"]],
    ["ipv6", ["::1", "fe80::1"], ["10.0.0.1", "x"]],
    ["cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "x/8"]],
    ["mac", ["00:11:22:33:44:55"], ["00:11:22:33:44", "x"]],
    ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]],
    ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
    ["isbn", ["0321751043", "978-0321751041"], ["0321751044"]],
    ["creditcard", ["4111 1111 1111 1111"], ["4111111111111112"]],
    ["hexcolor", ["#FFF", "ffffff"], ["#FFFF"]],
    ["byte", ["YWJj"], ["YWJ", "!"]],
    ["date", ["2020-02-29"], ["2021-02-29", "2020-1-1"]],
    ["date-time", ["2020-01-02T03:04:05Z", "2020-01-02t03:04:05.5+01:00"], ["2020-01-02", "2020-01-02T25:00:00Z"]],
    ["duration", ["1h30m", "22 ns", "2 days", "-1.5s"], ["", "1x"]],
    ["k8s-short-name", ["a-b"], ["A", "a.b", "-a"]],
    ["k8s-long-name", ["a.b-c"], ["A", "a..b"]],
  ])("%s", (format, right, wrong) => {
    expect(isKnownFormat(format)).toBe(true);
    expect(right.filter((text) => !hasFormat(text, format))).toEqual([]);
    expect(wrong.filter((text) => hasFormat(text, format))).toEqual([]);
  });

  it("that nobody knows say nothing, also those that all objects have", () => {
    for (const format of ["foo", "constructor", "toString"]) {
      expect([isKnownFormat(format), hasFormat("x", format)]).toEqual([false, true]);
    }
  });
});

describe("Go's regular expressions", () => {
  it.each([
    ["^a+$", "aa", true],
    ["(?i)^ABC$", "abc", true],
    ["(?P<year>\\d{4})", "2020", true],
    ["^[[:alpha:]]+$", "ab1", false],
    ["\\Aab\\z", "ab", true],
    ["\\Qa.b\\E", "axb", false],
    ["^\\pL+$", "äö", true],
    ["^.$", "😀", true],
    ["\\-", "-", true],
  ])("%s on %s: %s", (pattern, text, matches) => {
    expect(goRegExp(pattern)?.test(text)).toBe(matches);
  });

  it.each(["(", "a(?=b)", "(a)\\1", "[z-a]", "(?<!a)b"])("%s is none", (pattern) => {
    expect(goRegExp(pattern)).toBeUndefined();
  });
});
