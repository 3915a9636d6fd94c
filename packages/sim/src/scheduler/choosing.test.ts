/** How many nodes are looked at, in which order, and which is taken. */
import { SeededRandom } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EVERYTHING } from "../placement/selectors.ts";
import { Attempt } from "./attempt.ts";
import { bestNode, bestNodeByChance, firstOfHeap } from "./best-node.ts";
import { ClusterCache } from "./cluster-cache.ts";
import { KnownNodes } from "./known-nodes.ts";
import { NodeOrder } from "./node-order.ts";
import { Nominator } from "./nominator.ts";
import { nodesToFind } from "./sampling.ts";
import { scoresOf } from "./scoring.ts";
import { nodeInfo, nodeObject, podInfo, podObject, profile } from "./testing/samples.ts";

describe("how many nodes are looked at", () => {
  it("is all of a few, and a share of many", () => {
    expect([0, 1, 99, 100, 200, 1000, 5000, 10_000].map((nodes) => nodesToFind(nodes, 0))).toEqual([
      0, 1, 99, 100, 100, 420, 500, 500,
    ]);
    expect([50, 1000, 5000].map((nodes) => nodesToFind(nodes, 100))).toEqual([50, 1000, 5000]);
    expect(nodesToFind(1000, 1)).toBe(100);
  });
});

describe("the order of nodes", () => {
  it("takes turns between zones", () => {
    const order = new NodeOrder();
    const put = (name: string, zone?: string) =>
      order.put(nodeObject({ name, ...(zone && { labels: { "topology.kubernetes.io/zone": zone } }) }), undefined);
    put("a1", "a");
    put("a2", "a");
    put("b1", "b");
    put("a3", "a");
    put("x");
    expect(order.names()).toEqual(["a1", "b1", "x", "a2", "a3"]);
    order.remove(nodeObject({ name: "a1", labels: { "topology.kubernetes.io/zone": "a" } }));
    expect(order.names()).toEqual(["a2", "b1", "x", "a3"]);
  });

  it("moves a node that changes its zone", () => {
    const order = new NodeOrder();
    const node = (zone: string) => nodeObject({ name: "n", labels: { "topology.kubernetes.io/zone": zone } });
    order.put(node("a"), undefined);
    order.put(nodeObject({ name: "m", labels: { "topology.kubernetes.io/zone": "b" } }), undefined);
    order.put(node("b"), node("a"));
    expect(order.names()).toEqual(["m", "n"]);
  });
});

describe("the best node", () => {
  /** As Go's container/heap does it. */
  const byGo = (scores: readonly number[]): number => {
    const heap = scores.map((score, index) => ({ score, index }));
    const less = (i: number, j: number) => (heap[i]?.score ?? 0) > (heap[j]?.score ?? 0);
    for (let i = Math.floor(heap.length / 2) - 1; i >= 0; i--) {
      for (let at = i; ; ) {
        let child = 2 * at + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && less(child + 1, child)) child++;
        if (!less(child, at)) break;
        const [a, b] = [heap[at], heap[child]];
        if (a && b) [heap[at], heap[child]] = [b, a];
        at = child;
      }
    }
    return heap[0]?.index ?? 0;
  };

  it("is the one that Go's heap gives first", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 40 }), (scores) => {
        expect(firstOfHeap(scores, scores.length)).toBe(byGo(scores));
      }),
    );
  });

  it("is left to chance among equals where extenders have their say", () => {
    const nodes = ["a", "b", "c"].map((name) => nodeInfo({ name }));
    const random = new SeededRandom("x");
    const taken = new Set(Array.from({ length: 50 }, () => bestNodeByChance(nodes, [5, 1, 5], random).name));
    expect(taken).toEqual(new Set(["a", "c"]));
    expect(bestNode(nodes, [1, 2, 2]).name).toBe("b");
  });
});

describe("known nodes", () => {
  const around = { namespaces: () => [], namespaceLabels: () => undefined, kindSelector: () => EVERYTHING };
  const change = fc.oneof(
    fc.record({
      what: fc.constant("pod" as const),
      cpu: fc.integer({ min: 0, max: 8 }),
      memory: fc.integer({ min: 0, max: 8 }),
    }),
    fc.record({ what: fc.constant("end" as const), which: fc.nat() }),
    fc.record({ what: fc.constant("cordon" as const), which: fc.nat() }),
    fc.record({ what: fc.constant("node" as const), cpu: fc.integer({ min: 1, max: 8 }) }),
  );

  it("lead to the same as looking at all nodes, whatever happens", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 60 }), (changes) => {
        const cache = new ClusterCache();
        const scene = { cache, nominator: new Nominator(), around };
        const known = new KnownNodes(scene);
        const bound: string[] = [];
        const plain = profile();
        let [start, nodes] = [0, 0];
        const node = (name: string, cpu: number, unschedulable = false) =>
          cache.setNode(nodeObject({ name, unschedulable, allocatable: { cpu: `${cpu}`, memory: "4Gi" } }));
        node("n0", 4);
        for (const each of changes) {
          if (each.what === "node") node(`n${++nodes}`, each.cpu);
          else if (each.what === "cordon") node(`n${each.which % (nodes + 1)}`, 4, each.which % 2 === 0);
          else if (each.what === "end") cache.removePod(bound.splice(each.which % (bound.length || 1), 1)[0] ?? "");
          else {
            const requests = { cpu: `${each.cpu}00m`, memory: `${each.memory}00Mi` };
            const pod = podInfo({ requests });
            const found = known.find(pod, plain, start);
            const attempt = new Attempt(pod, plain, scene);
            const all = attempt.find(start);
            const scores = scoresOf(pod, all, attempt.checks?.required, plain, cache, around);
            expect(found?.node.name).toBe(all.length > 0 ? bestNode(all, scores).name : undefined);
            if (!found) continue;
            expect(found.looked).toBe(all.length + attempt.diagnosis.size);
            start = (start + found.looked) % cache.nodes.length;
            const object = podObject({ requests, spec: { nodeName: found.node.name } });
            bound.push(object.metadata.uid ?? "");
            cache.putPod(object);
          }
        }
      }),
    );
  });

  it("are of no use for pods that mind others", () => {
    const cache = new ClusterCache();
    cache.setNode(nodeObject({ name: "a" }));
    const known = new KnownNodes({ cache, nominator: new Nominator(), around });
    const term = { topologyKey: "zone", labelSelector: {} };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    expect(known.find(podInfo({ spec: { affinity } }), profile(), 0)).toBeUndefined();
    expect(known.find(podInfo(), profile(), 0)?.node.name).toBe("a");
    cache.putPod(podObject({ spec: { affinity, nodeName: "a" } }));
    expect(known.find(podInfo(), profile(), 0)).toBeUndefined();
  });
});
