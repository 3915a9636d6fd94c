import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeObjects, takesPods } from "./kwok-nodes.ts";

const names = (...args: Parameters<typeof nodeObjects>) => nodeObjects(...args).map((node) => node.metadata.name);

describe("nodeObjects", () => {
  it("numbers nodes from 0 and goes on after those that exist", () => {
    expect(names([{ count: 2 }], [])).toEqual(["node-0", "node-1"]);
    expect(names([{ count: 2 }], ["node-0", "node-7", "real-9", "node-x"])).toEqual(["node-8", "node-9"]);
    expect(names([{ count: 1 }, { count: 1, name: "big" }, { count: 2 }], [])).toEqual([
      "node-0",
      "big-0",
      "node-1",
      "node-2",
    ]);
  });

  it("never gives a name twice, whatever exists", () => {
    const prefix = fc.constantFrom("node", "big", "node-1", "a");
    const shape = fc.record({ name: prefix, count: fc.nat(5) });
    const existing = fc.array(fc.tuple(prefix, fc.nat(30)).map(([name, index]) => `${name}-${index}`));
    fc.assert(
      fc.property(fc.array(shape), existing, (shapes, existing) => {
        const all = [...new Set(existing), ...names(shapes, existing)];
        // "node-1" and "node" may meet in "node-1-0", which belongs to "node-1" alone; equal names may never come up.
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });

  it("puts the given resources over the default, in capacity and allocatable alike", () => {
    const [node] = nodeObjects([{ allocatable: { cpu: "2", "example.org/gpu": "1" } }], []);
    expect(node?.status.allocatable).toEqual({ cpu: "2", memory: "32Gi", pods: "110", "example.org/gpu": "1" });
    expect(node?.status.capacity).toEqual(node?.status.allocatable);
  });

  it.each([{ count: -1 }, { count: 1.5 }, { count: Number.NaN }, { name: "Big" }, { name: "" }, { name: "a/b" }])(
    "refuses %j",
    (shape) => {
      expect(() => nodeObjects([shape], [])).toThrow(expect.objectContaining({ code: "BERTH_CLUSTER_OPTION_INVALID" }));
    },
  );
});

describe("takesPods", () => {
  const node = (ready: string, taints: { key: string }[] = []) => ({
    metadata: { name: "n" },
    spec: { taints },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });

  it("wants a node ready and freed of Kubernetes' own taints", () => {
    expect(takesPods(node("True"))).toBe(true);
    expect(takesPods(node("True", [{ key: "example.org/mine" }]))).toBe(true);
    expect(takesPods(node("True", [{ key: "node.kubernetes.io/not-ready" }]))).toBe(false);
    expect(takesPods(node("Unknown"))).toBe(false);
    expect(takesPods({ metadata: { name: "new" } })).toBe(false);
  });
});
