import { Quantity } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scalarIn, Unreadable, WRONG_TYPE } from "./scalars.ts";
import type { SchemaNode } from "./schema.ts";

const text = (format: string): SchemaNode => ({ type: "string", format });

describe("quantities", () => {
  // As the real server writes them, found out by asking it.
  it.each([
    ...[
      ["1000000", "1M"],
      ["1000", "1k"],
      ["1024Ki", "1Mi"],
      ["2048Ki", "2Mi"],
      ["1500m", "1500m"],
      ["1000m", "1"],
    ],
    ...[
      ["0100", "0100"],
      ["007", "007"],
      ["00", "0"],
      ["1e3", "1e3"],
      ["1E3", "1E3"],
      ["100e3", "100e3"],
      ["1.0", "1"],
    ],
    ...[
      ["0.5", "500m"],
      ["1.", "1."],
      ["1.5", "1500m"],
      ["1.500", "1.500"],
      ["0.500", "500m"],
      ["1.5Gi", "1536Mi"],
    ],
    ...[
      ["0", "0"],
      ["0m", "0"],
      ["+5Ki", "+5Ki"],
      ["+0", "0"],
      ["8Ki", "8Ki"],
      ["1000k", "1M"],
      ["1000000n", "1m"],
    ],
    ...[
      ["0.000000001", "1n"],
      ["1e-3", "1e-3"],
      ["5e-1", "500e-3"],
      ["1000Ki", "1000Ki"],
      ["1e1", "10"],
      ["10e2", "1e3"],
    ],
    ...[
      ["1.234567", "1.234567"],
      ["1.23456789", "1234567890n"],
      ["9Ei", "9223372036854775807"],
      [".5", "500m"],
    ],
    ...[
      ["5.", "5."],
      ["0.1Ki", "102400m"],
      ["1.0001", "1000100u"],
      [" 2 ", "2"],
    ],
  ])("%s is written as %s", (given, written) => {
    expect(scalarIn(given, text("quantity"))).toBe(written);
  });

  it("are the same amount in whatever form", () => {
    const suffix = fc.constantFrom("", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2");
    const number = fc.tuple(
      fc.constantFrom("", "+", "-"),
      fc.nat(5000),
      fc.constantFrom("", ".", ".5", ".250", ".001"),
    );
    fc.assert(
      fc.property(number, suffix, ([sign, whole, fraction], end) => {
        const given = `${sign}${whole}${fraction}${end}`;
        const written = scalarIn(given, text("quantity")) as string;
        expect(Quantity.parse(written).equals(given)).toBe(true);
        // "1.25Ki" is written as "1280"; 3488000 bytes are "3488000" at first, of which nothing says any more that they are binary.
        const again = scalarIn(written, text("quantity")) as string;
        expect(scalarIn(again, text("quantity"))).toBe(again);
        if (!end.endsWith("i")) expect(again).toBe(written);
      }),
    );
  });

  it("can be numbers; nothing else is one", () => {
    expect(scalarIn(0.25, text("quantity"))).toBe("250m");
    for (const wrong of ["", "abc", "1K", true, {}, [], "1 2"]) {
      expect(() => scalarIn(wrong, text("quantity"))).toThrow(Unreadable);
    }
  });
});

describe("times", () => {
  it.each([
    ["date-time", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"],
    ["date-time", "2020-01-02T03:04:05.999Z", "2020-01-02T03:04:05Z"],
    ["date-time", "2020-01-02T03:04:05+02:00", "2020-01-02T01:04:05Z"],
    ["date-time", "2020-02-29T00:00:00,5Z", "2020-02-29T00:00:00Z"],
    ["date-time", "0001-01-01T00:00:00Z", undefined],
    ["micro-time", "2020-01-02T03:04:05.000006Z", "2020-01-02T03:04:05.000006Z"],
    ["micro-time", "2020-01-02T03:04:05.000006-01:30", "2020-01-02T04:34:05.000006Z"],
  ])("%s %s is %s", (format, given, written) => {
    expect(scalarIn(given, text(format))).toBe(written);
  });

  it.each([
    ...["foo", "", "2020", "2020-02-30T00:00:00Z", "2021-02-29T00:00:00Z", "2020-13-01T00:00:00Z"],
    ...["2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z", "2020-01-01 00:00:00Z", "2020-01-01T00:00:00"],
  ])("%s is no time", (given) => {
    for (const format of ["date-time", "micro-time"]) expect(() => scalarIn(given, text(format))).toThrow(Unreadable);
  });
});

it("bytes are base64, in the one form that it has", () => {
  expect(["", "YWJj", "YWI=", "YW\r\nJj", "YWJ="].map((each) => scalarIn(each, text("byte")))).toEqual([
    ...["", "YWJj", "YWI=", "YWJj", "YWI="],
  ]);
  for (const wrong of ["!!", "YWJ", "YW=j", "YWJj="]) expect(() => scalarIn(wrong, text("byte"))).toThrow(Unreadable);
});

it("other things are of the type that they must be of", () => {
  const whole: SchemaNode = { type: "integer", format: "int32" };
  expect([0, -(2 ** 31), 2 ** 31 - 1].map((each) => scalarIn(each, whole))).toEqual([0, -(2 ** 31), 2 ** 31 - 1]);
  for (const wrong of [2 ** 31, 0.5, "1", null, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(scalarIn(wrong, whole)).toBe(WRONG_TYPE);
  }
  expect(scalarIn(2 ** 40, { type: "integer", format: "int64" })).toBe(2 ** 40);
  expect(["80%", 80, "", 1.5, true].map((each) => scalarIn(each, { type: "intOrString" }))).toEqual([
    ...["80%", 80, "", WRONG_TYPE, WRONG_TYPE],
  ]);
});
