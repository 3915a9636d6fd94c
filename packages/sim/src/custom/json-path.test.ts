import { describe, expect, it } from "vitest";
import { jsonPath } from "./json-path.ts";

const object = {
  spec: { name: "n", list: ["a", "b", "c"], map: { "x.y": 1, z: 2 } },
  status: {
    conditions: [
      { type: "A", status: "True", n: 1 },
      { type: "B", status: "False", n: 2 },
    ],
  },
};

describe("paths", () => {
  it.each<[string, unknown[]]>([
    [".spec.name", ["n"]],
    ["$.spec.name", ["n"]],
    [".spec.list[0]", ["a"]],
    [".spec.list[-1]", ["c"]],
    [".spec.list[9]", []],
    [".spec.list[*]", ["a", "b", "c"]],
    [".spec.map.*", [1, 2]],
    [".spec.map['x.y']", [1]],
    [".spec.map.x\\.y", [1]],
    ['.status.conditions[?(@.type=="B")].status', ["False"]],
    [".status.conditions[?(@.type == 'A')].status", ["True"]],
    [".status.conditions[?(@.n>1)].type", ["B"]],
    [".status.conditions[?(@.n<=1)].type", ["A"]],
    [".status.conditions[?(@.type!='A')].n", [2]],
    [".status.conditions[?(@.missing)].n", []],
    [".status.conditions[?(@.n)].n", [1, 2]],
    [".nothing.here", []],
    [".spec.name.more", []],
    [".constructor", []],
    [".", [object]],
  ])("%s", (path, found) => {
    expect(jsonPath(path)?.(object)).toEqual(found);
  });

  it.each(["spec", ".spec[", ".spec[?(@.a)", ".spec[a]", ".."])("%s is none", (path) => {
    expect(jsonPath(path)).toBeUndefined();
  });
});
