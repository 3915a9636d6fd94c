import type { coreV1 } from "@berth/kube";
import { expect, it } from "vitest";
import { requiredNodes } from "./required-nodes.ts";

const node = { name: "n1", labels: { zone: "a", cpus: "8" } };
const affine = (...terms: coreV1.NodeSelectorTerm[]) =>
  requiredNodes({
    spec: {
      containers: [],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
    },
  })?.(node);
const all = (matchExpressions: object[], matchFields: object[] = []) =>
  ({ matchExpressions, matchFields }) as coreV1.NodeSelectorTerm;

it("wants one of the terms to hold, and all of what a term says", () => {
  const zone = { key: "zone", operator: "In", values: ["a"] };
  const many = { key: "cpus", operator: "Gt", values: ["4"] };
  const name = { key: "metadata.name", operator: "In", values: ["n1"] };
  const other = { key: "metadata.name", operator: "In", values: ["n2"] };
  expect(affine(all([zone, many], [name]))).toBe(true);
  expect(affine(all([zone], [other]))).toBe(false);
  expect(affine(all([zone], [other]), all([many]))).toBe(true);
  expect(affine({})).toBe(false);
  expect(affine(all([{ key: "zone", operator: "Near", values: ["a"] }]))).toBe(false);
});

it("wants all labels of the selector", () => {
  const selecting = (nodeSelector: Record<string, string>) => requiredNodes({ spec: { containers: [], nodeSelector } });
  expect(selecting({ zone: "a", cpus: "8" })?.(node)).toBe(true);
  expect(selecting({ zone: "a", constructor: "8" })?.(node)).toBe(false);
});

it("is nothing for a pod that may be anywhere", () => {
  expect(requiredNodes({ spec: { containers: [] } })).toBeUndefined();
});
