import type { coreV1 } from "@berth/kube";
import { expect, it } from "vitest";
import { isTolerated, tolerates } from "./tolerations.ts";

const taint = { key: "k", value: "v", effect: "NoExecute" } as const;

it.each([
  [{ key: "k", value: "v" }, true],
  [{ key: "k", value: "w" }, false],
  [{ key: "k", operator: "Exists" }, true],
  [{ operator: "Exists" }, true],
  [{ key: "k", operator: "Exists", effect: "NoSchedule" }, false],
  [{ key: "k", operator: "Near", value: "v" }, false],
  [{}, false],
] as const)("a toleration %j is for the taint: %s", (toleration, expected) => {
  expect(tolerates(toleration as coreV1.Toleration, taint)).toBe(expected);
});

it("takes one toleration of many", () => {
  expect(isTolerated(taint, [{ key: "other" }, { key: "k", operator: "Exists" }])).toBe(true);
  expect(isTolerated(taint, undefined)).toBe(false);
});
