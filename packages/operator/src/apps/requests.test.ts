import { type coreV1, Quantity } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answered } from "./refusal.ts";
import { amountsOf, fitted, leftFor } from "./requests.ts";

type Amounts = Record<string, string>;
const slot = { cpu: "700m", memory: "896Mi" };
const container = (name: string, requests?: Amounts, limits?: Amounts): coreV1.Container => ({
  name,
  ...((requests || limits) && { resources: { ...(requests && { requests }), ...(limits && { limits }) } }),
});

/** The main container, which is the first, as it is in the end. */
function fit(containers: coreV1.Container[], initContainers: coreV1.Container[] = [], resources: Amounts = slot) {
  const [main = container("main")] = containers;
  const amounts = amountsOf(resources);
  return answered(() => {
    const left = leftFor(main, { containers, initContainers }, amounts, "spec");
    return fitted(main, left, amounts, "spec.main").resources;
  });
}

describe("the main container", () => {
  it.each<[title: string, containers: coreV1.Container[], inits: coreV1.Container[], requests: Amounts]>([
    ["gets all", [container("main")], [], slot],
    ["gets more than it asked for", [container("main", { cpu: "100m" })], [], slot],
    [
      "gets what others leave",
      [container("main"), container("log", { cpu: "50m", memory: "96Mi" })],
      [],
      { cpu: "650m", memory: "800Mi" },
    ],
    [
      "gets what others' limits leave",
      [container("main"), container("log", {}, { cpu: "50m" })],
      [],
      { cpu: "650m", memory: "896Mi" },
    ],
    [
      "counts sidecars",
      [container("main")],
      [{ ...container("log", { cpu: "0.1" }), restartPolicy: "Always" }],
      { cpu: "600m", memory: "896Mi" },
    ],
    ["does not count what has ended before", [container("main")], [container("fetch", { cpu: "0.7" })], slot],
  ])("%s", (_title, containers, inits, requests) => {
    expect(fit(containers, inits)).toEqual({ object: { requests } });
  });

  it("gets devices, with a limit as Kubernetes wants it", () => {
    const resources = { ...slot, "example.org/gpu": "2", "hugepages-2Mi": "4Mi", "ephemeral-storage": "1Gi" };
    expect(fit([container("main", undefined, { cpu: "1" })], [], resources)).toEqual({
      object: { requests: resources, limits: { cpu: "1", "example.org/gpu": "2", "hugepages-2Mi": "4Mi" } },
    });
  });

  it("keeps a request of nothing, for which the limit would be taken otherwise", () => {
    const main = container("main", { "ephemeral-storage": "0" }, { "ephemeral-storage": "1Gi" });
    expect(fit([main])).toMatchObject({ object: { requests: { ...slot, "ephemeral-storage": "0" } } });
  });

  it.each<[title: string, containers: coreV1.Container[], inits: coreV1.Container[], code: string, says: string]>([
    [
      "more than a slot",
      [container("main", { cpu: "1" })],
      [],
      "TOO_LARGE",
      "spec.main asks for 1 of cpu, but a slot has 700m",
    ],
    [
      "more than others leave",
      [container("main", { memory: "800Mi" }), container("log", { memory: "100Mi" })],
      [],
      "TOO_LARGE",
      "spec.main asks for 800Mi of memory, but a slot has 896Mi; its other containers ask for 100Mi, which leaves 796Mi",
    ],
    [
      "others with more than a slot",
      [container("main"), container("a", { cpu: "500m" }), container("b", { cpu: "300m" })],
      [],
      "TOO_LARGE",
      'which has 700m of cpu: container "a" 500m + container "b" 300m = 800m',
    ],
    [
      "others with all of it",
      [container("main"), container("a", { cpu: "700m" })],
      [],
      "TOO_LARGE",
      'leaves nothing for container "main"',
    ],
    [
      "an init container with more",
      [container("main")],
      [container("fetch", { memory: "1Gi" })],
      "TOO_LARGE",
      'container "fetch" 1Gi',
    ],
    [
      "what the slot does not have",
      [container("main", { "example.org/gpu": "1" })],
      [],
      "TOO_LARGE",
      "but a slot has 0",
    ],
    [
      "a limit on what the slot does not have",
      [container("main", {}, { "example.org/gpu": "1" })],
      [],
      "TOO_LARGE",
      "but a slot has 0",
    ],
    [
      "a limit below the slot",
      [container("main", {}, { memory: "512Mi" })],
      [],
      "TOO_SMALL",
      "allows 512Mi of memory, but an executor has to ask for 896Mi",
    ],
    ["nonsense", [container("main", { cpu: "lots" })], [], "INVALID", "must be a quantity"],
  ])("is refused with %s", (_title, containers, inits, code, says) => {
    expect(fit(containers, inits)).toEqual({
      problem: { code: `BERTH_APPLICATION_${code}`, message: expect.stringContaining(says) },
    });
  });

  it("makes the pod ask for exactly the slot, or is refused", () => {
    const amount = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined });
    const requests = fc.record({ cpu: amount, memory: amount });
    const list = fc.array(requests, { maxLength: 3 });
    fc.assert(
      fc.property(requests, list, list, fc.integer({ min: 1, max: 2000 }), (main, others, sidecars, size) => {
        const made = (name: string, { cpu, memory }: { cpu?: number | undefined; memory?: number | undefined }) =>
          container(name, {
            ...(cpu !== undefined && { cpu: `${cpu}m` }),
            ...(memory !== undefined && { memory: `${memory}Mi` }),
          });
        const containers = [made("main", main), ...others.map((each, index) => made(`other-${index}`, each))];
        const inits = sidecars.map((each, index) => ({
          ...made(`side-${index}`, each),
          restartPolicy: "Always" as const,
        }));
        const resources = { cpu: `${size}m`, memory: `${size}Mi` };
        const result = fit(containers, inits, resources);
        if ("problem" in result) return;
        for (const name of ["cpu", "memory"]) {
          const sum = [result.object, ...[...containers.slice(1), ...inits].map((each) => each.resources)].reduce(
            (total, its) => total.plus(its?.requests?.[name] ?? "0"),
            Quantity.zero,
          );
          expect(sum.equals(resources[name as "cpu"])).toBe(true);
        }
      }),
    );
  });
});
