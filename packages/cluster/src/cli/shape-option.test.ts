import { describe, expect, it } from "vitest";
import { parseShape, wholeNumber } from "./shape-option.ts";

const invalid = expect.objectContaining({ code: "BERTH_CLUSTER_OPTION_INVALID" });

describe("parseShape", () => {
  it("reads number, name, labels and resources", () => {
    expect(parseShape("count=5,name=big,cpu=64,memory=256Gi,label:zone=a,example.org/gpu=4")).toEqual({
      count: 5,
      name: "big",
      labels: { zone: "a" },
      allocatable: { cpu: "64", memory: "256Gi", "example.org/gpu": "4" },
    });
  });

  it.each(["", "count", "count=", "=5", "count=many", "cpu=1,,"])("refuses %j", (text) => {
    expect(() => parseShape(text)).toThrow(invalid);
  });

  it("takes only digits for a number", () => {
    expect(wholeNumber("--nodes", "1000")).toBe(1000);
    for (const text of ["", "-1", "1e3", "0x10", "5 "]) expect(() => wholeNumber("--nodes", text)).toThrow(invalid);
  });
});
