import { describe, expect, it } from "vitest";
import { ClusterCache } from "./cluster-cache.ts";
import { PodInfo } from "./pod-info.ts";
import { nodeObject, podObject } from "./testing/samples.ts";

describe("what the scheduler knows of the cluster", () => {
  it("counts a pod from the moment it is decided where it goes", () => {
    const cache = new ClusterCache();
    cache.setNode(nodeObject({ name: "a" }));
    const pod = podObject({ requests: { cpu: "1" } });
    cache.assume(new PodInfo(pod), "a");
    expect(cache.node("a")).toMatchObject({ usedCpu: 1000, nonZeroCpu: 1000 });
    expect(cache.isAssumed(pod.metadata.uid ?? "")).toBe(true);
    cache.putPod({ ...pod, spec: { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName: "a" } });
    expect(cache.isAssumed(pod.metadata.uid ?? "")).toBe(false);
    expect(cache.node("a")).toMatchObject({ usedCpu: 1000, pods: [expect.anything()] });
    expect(cache.forget(pod.metadata.uid ?? "")).toBe(false);
    cache.removePod(pod.metadata.uid ?? "");
    expect(cache.node("a")).toMatchObject({ usedCpu: 0, nonZeroMemory: 0, pods: [] });
  });

  it("forgets what did not come about", () => {
    const cache = new ClusterCache();
    cache.setNode(nodeObject({ name: "a" }));
    const info = new PodInfo(podObject({ requests: { cpu: "1", "a/b": "1" } }));
    cache.assume(info, "a");
    expect(cache.forget(info.uid)).toBe(true);
    expect(cache.node("a")).toMatchObject({ usedCpu: 0, usedScalars: new Map([["a/b", 0]]) });
  });

  it("goes by where a pod really is", () => {
    const cache = new ClusterCache();
    for (const name of ["a", "b"]) cache.setNode(nodeObject({ name }));
    const pod = podObject({ requests: { cpu: "1" } });
    cache.assume(new PodInfo(pod), "a");
    cache.putPod({ ...pod, spec: { containers: pod.spec?.containers ?? [], nodeName: "b" } });
    expect([cache.node("a")?.usedCpu, cache.node("b")?.usedCpu]).toEqual([0, 1000]);
  });

  it("remembers pods of a node that is gone, and has them again when it comes back", () => {
    const cache = new ClusterCache();
    cache.setNode(nodeObject({ name: "a" }));
    const pod = podObject({ requests: { cpu: "1" }, spec: { nodeName: "a" } });
    cache.putPod(pod);
    cache.removeNode("a");
    expect(cache.nodes).toEqual([]);
    expect(cache.node("a")).toBeUndefined();
    cache.setNode(nodeObject({ name: "a" }));
    expect(cache.node("a")?.usedCpu).toBe(1000);
  });

  it("knows the least important pod that has a place", () => {
    const cache = new ClusterCache();
    expect(cache.lowestPriority).toBe(Number.POSITIVE_INFINITY);
    const low = podObject({ spec: { nodeName: "a", priority: -5 } });
    cache.putPod(low);
    cache.putPod(podObject({ spec: { nodeName: "a", priority: 7 } }));
    expect(cache.lowestPriority).toBe(-5);
    cache.removePod(low.metadata.uid ?? "");
    expect(cache.lowestPriority).toBe(7);
  });

  it("does not count heartbeats as changes", () => {
    const cache = new ClusterCache();
    const node = nodeObject({ name: "a" });
    cache.setNode(node);
    const { version } = cache;
    cache.setNode({ ...node, status: { ...node.status, conditions: [{ type: "Ready", status: "True" }] } });
    expect(cache.version).toBe(version);
    cache.setNode({ ...node, spec: { unschedulable: true } });
    expect(cache.version).toBeGreaterThan(version);
    expect(cache.node("a")?.unschedulable).toBe(true);
  });
});
