import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { belongs, rejection, toleratesTaint } from "./admission.ts";
import { allocatableOf, requestsOf } from "./resources.ts";

const node: coreV1.Node = {
  metadata: { name: "n1", labels: { zone: "a", cpus: "8" } },
  status: { allocatable: { cpu: "8", memory: "32Gi", pods: "110", "example.org/gpu": "1" } },
};
const pod = (spec: Partial<coreV1.PodSpec> = {}, requests: Record<string, string> = {}): coreV1.Pod => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", resources: { requests } }], ...spec },
});
const reject = (
  given: coreV1.Pod,
  { used = {}, pods = 0, ports = [] }: { used?: Record<string, number>; pods?: number; ports?: string[] } = {},
  on: coreV1.Node = node,
) =>
  rejection(given, requestsOf(given), on, {
    allocatable: allocatableOf(on),
    used: new Map(Object.entries(used)),
    pods,
    ports: new Set(ports),
  });

describe("rejection", () => {
  it("takes what fits, to the last thousandth", () => {
    expect(reject(pod({}, { cpu: "1500m", memory: "2Gi" }), { used: { cpu: 6500 } })).toBeUndefined();
    expect(reject(pod({}, { cpu: "1501m" }), { used: { cpu: 6500 } })).toEqual({
      reason: "OutOfcpu",
      message: "Node didn't have enough resource: cpu, requested: 1501, used: 6500, capacity: 8000",
    });
  });

  it("words each lack as the real one does", () => {
    expect(reject(pod({}, { memory: "33Gi" }))?.reason).toBe("OutOfmemory");
    expect(reject(pod(), { pods: 110 })).toMatchObject({
      reason: "OutOfpods",
      message: "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110",
    });
    expect(reject(pod({}, { "example.org/gpu": "2" }))?.reason).toBe("OutOfexample.org/gpu");
    expect(reject(pod({}, { "ephemeral-storage": "1Gi" }))?.reason).toBe("OutOfephemeral-storage");
    // What no node has is not the node's to give.
    expect(reject(pod({}, { "example.org/other": "2" }))).toBeUndefined();
  });

  it("refuses pods that belong elsewhere, or whose port is taken", () => {
    expect(reject(pod({ nodeSelector: { zone: "b" } }))).toEqual({
      reason: "NodeAffinity",
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    });
    const web = pod({ containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 8080 }] }] });
    expect(reject(web)).toBeUndefined();
    expect(reject(web, { ports: ["TCP/8080/"] })?.reason).toBe("NodePorts");
    expect(reject(web, { ports: ["TCP/8080/10.0.0.1"] })?.reason).toBe("NodePorts");
    expect(reject(web, { ports: ["UDP/8080/"] })).toBeUndefined();
    expect(reject(pod({ os: { name: "windows" } }))?.reason).toBe("PodOSNotSupported");
  });

  it("refuses pods that would have to leave at once", () => {
    const tainted = { ...node, spec: { taints: [{ key: "a", effect: "NoExecute" as const }] } };
    expect(reject(pod(), {}, tainted)?.reason).toBe("TaintToleration");
    expect(reject(pod({ tolerations: [{ key: "a", operator: "Exists" }] }), {}, tainted)).toBeUndefined();
    const warned = { ...node, spec: { taints: [{ key: "a", effect: "NoSchedule" as const }] } };
    expect(reject(pod(), {}, warned)).toBeUndefined();
  });
});

describe("belongs", () => {
  const affine = (...terms: coreV1.NodeSelectorTerm[]) =>
    belongs(
      pod({
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
      }),
      node,
    );

  it("wants one of the terms to hold, and all of what a term says", () => {
    const zone = { key: "zone", operator: "In", values: ["a"] } as const;
    const many = { key: "cpus", operator: "Gt", values: ["4"] } as const;
    const name = { key: "metadata.name", operator: "In", values: ["n1"] } as const;
    const other = { key: "metadata.name", operator: "In", values: ["n2"] } as const;
    const all = (expressions: object[], fields: object[] = []) =>
      ({ matchExpressions: expressions, matchFields: fields }) as coreV1.NodeSelectorTerm;
    expect(affine(all([zone, many], [name]))).toBe(true);
    expect(affine(all([zone], [other]))).toBe(false);
    expect(affine(all([zone], [other]), all([many]))).toBe(true);
    expect(affine({})).toBe(false);
    expect(affine(all([{ key: "zone", operator: "Near", values: ["a"] }]))).toBe(false);
  });
});

describe("toleratesTaint", () => {
  const taint = { key: "k", value: "v", effect: "NoExecute" } as const;
  it.each([
    [{ key: "k", value: "v" }, true],
    [{ key: "k", value: "w" }, false],
    [{ key: "k", operator: "Exists" }, true],
    [{ operator: "Exists" }, true],
    [{ key: "k", operator: "Exists", effect: "NoSchedule" }, false],
    [{}, false],
  ] as const)("%j: %s", (toleration, expected) => {
    expect(toleratesTaint(toleration, taint)).toBe(expected);
  });
});

describe("requestsOf", () => {
  it("takes init containers for what they are", () => {
    const container = (cpu: string, more: object = {}) => ({ name: "c", resources: { requests: { cpu } }, ...more });
    const of = (init: coreV1.Container[], main: coreV1.Container[]) =>
      requestsOf(pod({ initContainers: init, containers: main })).get("cpu");
    expect(of([], [container("1"), container("500m")])).toBe(1500);
    expect(of([container("4"), container("2")], [container("1")])).toBe(4000);
    expect(of([container("1", { restartPolicy: "Always" })], [container("1")])).toBe(2000);
    expect(of([container("1", { restartPolicy: "Always" }), container("3")], [container("1")])).toBe(4000);
    expect(requestsOf(pod({ overhead: { cpu: "250m" } }, { cpu: "1" })).get("cpu")).toBe(1250);
    expect(requestsOf(pod({ resources: { requests: { cpu: "3" } } }, { cpu: "1" })).get("cpu")).toBe(3000);
    expect(requestsOf(pod({}, { cpu: "much" })).get("cpu")).toBe(0);
  });
});
