import type { coreV1 } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requiredNodes } from "../../placement/required-nodes.ts";
import { EVERYTHING, selectorOfLabels } from "../../placement/selectors.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { PodInfo } from "../pod-info.ts";
import { scoresOf } from "../scoring.ts";
import { clusterOf, nodeInfo, podInfo, profile } from "../testing/samples.ts";
import { balanceScorer, hasBalance } from "./balanced-allocation.ts";
import { normalize, stretch } from "./normalize.ts";
import { resourceScorer, strategyOf } from "./resource-strategy.ts";

const CPU_AND_MEMORY = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 1 },
];

/** The points of each node by a single score. */
function points(name: string, pod: PodInfo, cache: ClusterCache, kind = EVERYTHING): Record<string, number> {
  const only = profile({ plugins: { score: { disabled: [{ name: "*" }], enabled: [{ name, weight: 1 }] } } });
  const around = { namespaces: () => [], namespaceLabels: () => undefined, kindSelector: () => kind };
  const scores = scoresOf(pod, cache.nodes, requiredNodes(pod.pod), only, cache, around);
  return Object.fromEntries(cache.nodes.map(({ name: node }, index) => [node, scores[index] ?? 0]));
}

describe("NodeResourcesFit", () => {
  const pod = podInfo({ requests: { cpu: "1", memory: "2Gi" } });
  const score = (type: "LeastAllocated" | "MostAllocated", node = nodeInfo()) =>
    resourceScorer(strategyOf({ type }, CPU_AND_MEMORY), pod)(node);

  it("prefers what is left, or what is taken", () => {
    // A quarter of 4 CPUs and of 8Gi are taken.
    expect(score("LeastAllocated")).toBe(75);
    expect(score("MostAllocated")).toBe(25);
    const half = nodeInfo({}, [podInfo({ requests: { cpu: "2", memory: "4Gi" } })]);
    expect(score("LeastAllocated", half)).toBe(25);
    expect(score("MostAllocated", half)).toBe(75);
  });

  it("rounds each share down, and then the mean", () => {
    const node = nodeInfo({ allocatable: { cpu: "3", memory: "7Gi" } });
    // (2/3 → 66, 5/7 → 71) → 68
    expect(score("LeastAllocated", node)).toBe(68);
  });

  it("counts pods that say nothing as something", () => {
    const silent = podInfo();
    const scorer = resourceScorer(strategyOf({}, CPU_AND_MEMORY), silent);
    // 100m of 4 CPUs and 200Mi of 8Gi: 97 each.
    expect(scorer(nodeInfo())).toBe(97);
    expect(scorer(nodeInfo({}, [silent, silent]))).toBe(92);
  });

  it("gives nothing to who asks for more than there is", () => {
    expect(score("LeastAllocated", nodeInfo({}, [podInfo({ requests: { cpu: "4", memory: "8Gi" } })]))).toBe(0);
    expect(score("MostAllocated", nodeInfo({}, [podInfo({ requests: { cpu: "4", memory: "8Gi" } })]))).toBe(100);
  });

  it("weighs resources, and leaves out extended ones that are not asked for", () => {
    const resources = [
      { name: "cpu", weight: 3 },
      { name: "a/b", weight: 1 },
    ];
    const strategy = strategyOf({ resources }, CPU_AND_MEMORY);
    const node = nodeInfo({ allocatable: { "a/b": "4" } });
    expect(resourceScorer(strategy, podInfo({ requests: { cpu: "1" } }))(node)).toBe(75);
    // (75 · 3 + 50) / 4
    expect(resourceScorer(strategy, podInfo({ requests: { cpu: "1", "a/b": "2" } }))(node)).toBe(68);
  });

  it("goes by a shape", () => {
    const shape = [
      { utilization: 0, score: 0 },
      { utilization: 50, score: 10 },
      { utilization: 100, score: 0 },
    ];
    const strategy = strategyOf(
      { type: "RequestedToCapacityRatio", requestedToCapacityRatio: { shape } },
      CPU_AND_MEMORY,
    );
    expect(resourceScorer(strategy, pod)(nodeInfo())).toBe(50);
    expect(resourceScorer(strategy, podInfo({ requests: { cpu: "2", memory: "4Gi" } }))(nodeInfo())).toBe(100);
    expect(resourceScorer(strategy, podInfo({ requests: { cpu: "5", memory: "9Gi" } }))(nodeInfo())).toBe(0);
  });

  it("refuses strategies that there are not", () => {
    expect(() => strategyOf({ type: "Random" as never }, CPU_AND_MEMORY)).toThrow(RangeError);
    expect(() => strategyOf({ type: "RequestedToCapacityRatio" }, CPU_AND_MEMORY)).toThrow(RangeError);
  });
});

describe("NodeResourcesBalancedAllocation", () => {
  const score = (pod: PodInfo, node = nodeInfo()) => balanceScorer(pod, CPU_AND_MEMORY)(node);
  it("is 75 where nothing changes, more where shares come closer, less where they part", () => {
    expect(score(podInfo({ requests: { cpu: "1", memory: "2Gi" } }))).toBe(75);
    expect(score(podInfo({ requests: { cpu: "4" } }))).toBe(50);
    const lopsided = nodeInfo({}, [podInfo({ requests: { cpu: "4" } })]);
    expect(score(podInfo({ requests: { memory: "8Gi" } }), lopsided)).toBe(100);
  });

  it("is the same the quick way and the long way", () => {
    const three = [...CPU_AND_MEMORY, { name: "a/b", weight: 1 }]; // of which nobody has any
    const amount = fc.integer({ min: 0, max: 8000 });
    fc.assert(
      fc.property(amount, amount, amount, amount, (cpu, memory, usedCpu, usedMemory) => {
        const node = nodeInfo({}, [podInfo({ requests: { cpu: `${usedCpu}m`, memory: `${usedMemory}Mi` } })]);
        const pod = podInfo({ requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } });
        expect(balanceScorer(pod, CPU_AND_MEMORY)(node)).toBe(balanceScorer(pod, three)(node));
        const [quick, long] = [CPU_AND_MEMORY, three].map((resources) =>
          resourceScorer(strategyOf({ resources }, []), pod)(node),
        );
        expect(quick).toBe(long);
      }),
    );
  });

  it("has nothing to say about pods that ask for nothing", () => {
    expect(hasBalance(podInfo(), CPU_AND_MEMORY)).toBe(false);
    expect(hasBalance(podInfo({ requests: { cpu: "1m" } }), CPU_AND_MEMORY)).toBe(true);
  });
});

describe("TaintToleration", () => {
  const soft = (key: string) => ({ key, effect: "PreferNoSchedule" }) as const;
  const cluster = clusterOf([
    [{ name: "a" }],
    [{ name: "b", taints: [soft("x")] }],
    [{ name: "c", taints: [soft("x"), soft("y")] }],
  ]);
  it("prefers nodes with fewer taints that the pod does not tolerate", () => {
    expect(points("TaintToleration", podInfo(), cluster)).toEqual({ a: 100, b: 50, c: 0 });
    const tolerations = [{ key: "x", operator: "Exists" as const }];
    expect(points("TaintToleration", podInfo({ spec: { tolerations } }), cluster)).toEqual({ a: 100, b: 100, c: 0 });
    const elsewhere = [{ key: "x", operator: "Exists" as const, effect: "NoSchedule" as const }];
    expect(points("TaintToleration", podInfo({ spec: { tolerations: elsewhere } }), cluster)).toEqual({
      a: 100,
      b: 50,
      c: 0,
    });
  });
});

describe("NodeAffinity", () => {
  it("adds up the weights of what is preferred", () => {
    const cluster = clusterOf([
      [{ name: "a", labels: { x: "1", y: "1" } }],
      [{ name: "b", labels: { x: "1" } }],
      [{ name: "c" }],
    ]);
    const preference = (key: string, weight: number) => ({
      weight,
      preference: { matchExpressions: [{ key, operator: "Exists" as const }] },
    });
    const affinity = {
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference("x", 30), preference("y", 10)] },
    };
    expect(points("NodeAffinity", podInfo({ spec: { affinity } }), cluster)).toEqual({ a: 100, b: 75, c: 0 });
    expect(points("NodeAffinity", podInfo(), cluster)).toEqual({ a: 0, b: 0, c: 0 });
  });
});

describe("InterPodAffinity", () => {
  const preferred = (app: string, weight: number): coreV1.WeightedPodAffinityTerm => ({
    weight,
    podAffinityTerm: { labelSelector: { matchLabels: { app } }, topologyKey: "zone" },
  });
  const zone = (name: string, value: string) => ({ name, labels: { zone: value } });
  it("prefers the company that the pod likes", () => {
    const cluster = clusterOf([
      [zone("a", "x"), { labels: { app: "web" } }],
      [zone("b", "y"), { labels: { app: "db" } }],
      [zone("c", "z")],
    ]);
    const near = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred("web", 10)] } };
    const apart = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred("db", 10)] } };
    expect(points("InterPodAffinity", podInfo({ spec: { affinity: { ...near, ...apart } } }), cluster)).toEqual({
      a: 100,
      b: 0,
      c: 50,
    });
  });

  it("goes where the others like the pod", () => {
    const likes = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred("web", 5)] } };
    const needs = {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [preferred("web", 5).podAffinityTerm] },
    };
    const cluster = clusterOf([
      [zone("a", "x"), { spec: { affinity: likes } }],
      [zone("b", "y"), { spec: { affinity: needs } }],
      [zone("c", "z")],
    ]);
    // A requirement of somebody else counts for a weight of 1.
    expect(points("InterPodAffinity", podInfo({ labels: { app: "web" } }), cluster)).toEqual({ a: 100, b: 20, c: 0 });
    expect(points("InterPodAffinity", podInfo({ labels: { app: "db" } }), cluster)).toEqual({ a: 0, b: 0, c: 0 });
  });
});

describe("PodTopologySpread", () => {
  const web = { labels: { app: "web" } };
  const zone = (name: string, value: string) => ({ name, labels: { "topology.kubernetes.io/zone": value } });
  it("prefers places with fewer of the kind", () => {
    const cluster = clusterOf([[zone("a", "x"), web, web], [zone("b", "y"), web], [zone("c", "z")], [{ name: "d" }]]);
    const topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "ScheduleAnyway" as const,
        labelSelector: { matchLabels: { app: "web" } },
      },
    ];
    const scores = points("PodTopologySpread", podInfo({ ...web, spec: { topologySpreadConstraints } }), cluster);
    expect(scores).toEqual({ a: 0, b: 33, c: 100, d: 0 });
  });

  it("spreads pods that belong together though they do not ask for it", () => {
    const cluster = clusterOf([[zone("a", "x"), web, web], [zone("b", "x")], [{ name: "d" }]]);
    const scores = points("PodTopologySpread", podInfo(web), cluster, selectorOfLabels({ app: "web" }));
    expect(scores.a).toBeLessThan(scores.b ?? 0);
    // A node without a zone is not left out.
    expect(scores.d).toBeGreaterThan(scores.a ?? 0);
    expect(points("PodTopologySpread", podInfo(web), cluster)).toEqual({ a: 0, b: 0, d: 0 });
  });
});

describe("points", () => {
  it("go from 0 to 100 in proportion", () => {
    const scores = [0, 1, 3];
    normalize(scores, false);
    expect(scores).toEqual([0, 33, 100]);
    const reversed = [0, 1, 3];
    normalize(reversed, true);
    expect(reversed).toEqual([100, 67, 0]);
    const none = [0, 0];
    normalize(none, true);
    expect(none).toEqual([100, 100]);
    const around = [-10, 0, 10];
    stretch(around);
    expect(around).toEqual([0, 50, 100]);
    const equal = [7, 7];
    stretch(equal);
    expect(equal).toEqual([0, 0]);
  });
});
