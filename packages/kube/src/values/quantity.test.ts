import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Quantity } from "./quantity.ts";

const canonical = (text: string | number) => Quantity.parse(text).toString();

describe("Quantity", () => {
  it.each([
    ["0", "0"],
    ["1.5", "1500m"],
    ["1.5Gi", "1536Mi"],
    ["1024Mi", "1Gi"],
    ["1000m", "1"],
    ["0.1m", "100u"],
    ["1e3", "1e3"],
    ["12e2", "1200"],
    ["0.5Ki", "512"],
    ["1.1Ki", "1126400m"],
    ["-1.5", "-1500m"],
    ["+5", "5"],
    [".5", "500m"],
    ["5.", "5"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["1E", "1E"],
    ["1E2", "100"],
  ])("Q1 writes %s as %s", (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it.each([
    "",
    " ",
    "1 Gi",
    "Gi",
    "1gi",
    "1K",
    "1mm",
    "1e",
    "e3",
    "--1",
    "1.2.3",
    "0x10",
    "1_000",
    "NaN",
    "∞",
    "1e1e1",
  ])("Q2 refuses %j", (text) => {
    expect(() => Quantity.parse(text)).toThrow(expect.objectContaining({ code: "KUBE_QUANTITY_INVALID" }));
  });

  it("Q3 is not led astray by numbers that are too large or too small", () => {
    expect(canonical("1e1000000000")).toBe(canonical("9223372036854775807"));
    expect(Quantity.parse("-1e1000000000").nano).toBe(-Quantity.parse("9223372036854775807").nano);
    expect(canonical("1e-1000000000")).toBe("1n".replace("1n", canonical("1e-9")));
  });

  it("Q4 computes exactly, where floating point would not", () => {
    expect(Quantity.parse("100m").plus("200m").toString()).toBe("300m");
    expect(Quantity.parse("896Mi").times(3).toString()).toBe("2688Mi");
    expect(Quantity.parse("8").minus("700m").toString()).toBe("7300m");
    expect(Quantity.parse("32Gi").dividedBy("896Mi")).toBe(36);
    expect(() => Quantity.parse("1").dividedBy("0")).toThrow(RangeError);
    expect(Quantity.zero.plus("1Gi").toString()).toBe("1Gi");
  });

  it("Q5 rounds away from zero where whole units are asked for, as schedulers do", () => {
    expect(Quantity.parse("1.5").units).toBe(2n);
    expect(Quantity.parse("-1.5").units).toBe(-2n);
    expect(Quantity.parse("100u").milli).toBe(1n);
    expect(Quantity.parse("1.5").toNumber()).toBe(1.5);
  });

  const text = fc
    .tuple(
      fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
      fc.option(fc.nat(999_999), { nil: undefined }),
      fc.constantFrom("", "m", "u", "n", "k", "M", "Ki", "Mi", "Gi", "e2", "e-3", "E4"),
    )
    .map(([whole, fraction, suffix]) => `${whole}${fraction === undefined ? "" : `.${fraction}`}${suffix}`);

  it("Q6 means the same after it was written and read again", () => {
    fc.assert(
      fc.property(text, (text) => {
        const quantity = Quantity.parse(text);
        const again = Quantity.parse(quantity.toString());
        expect(again.equals(quantity)).toBe(true);
        expect(again.toString()).toBe(quantity.toString());
      }),
    );
  });

  it("Q7 adds and subtracts without losing anything", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = [Quantity.parse(a), Quantity.parse(b)];
        expect(left.plus(right).minus(right).equals(left)).toBe(true);
        expect(left.plus(right).equals(right.plus(left))).toBe(true);
        expect(Math.sign(left.compare(right))).toBe(-Math.sign(right.compare(left)) + 0);
      }),
    );
  });
});
