import { coordinationV1, coreV1, microTime } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Kubelet } from "../../kubelet/kubelet.ts";
import { pod, testCluster } from "../testing/cluster.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import { PodGarbage } from "./pod-garbage.ts";
import { TaintEviction, toleratedSeconds } from "./taint-eviction.ts";
import { evictionRate } from "./zones.ts";

function world({ nodes = 3, terminatedPods }: { nodes?: number; terminatedPods?: number } = {}) {
  const cluster = testCluster();
  const kubelet = cluster.start(new Kubelet(cluster.surroundings("kubelet")));
  cluster.start(new NodeLifecycle(cluster.surroundings("nodes"), { health: kubelet.health }));
  cluster.start(new TaintEviction(cluster.surroundings("taints")));
  cluster.start(
    new PodGarbage(cluster.surroundings("garbage"), terminatedPods === undefined ? {} : { terminatedPods }),
  );
  for (let index = 0; index < nodes; index++) kubelet.addNode({ name: `n${index}` });
  const { api } = cluster;
  const node = (name = "n0") => api.get(coreV1.Node, { name });
  const get = (name: string) => api.get(coreV1.Pod, { namespace: "default", name });
  const create = (name: string, spec: Partial<coreV1.PodSpec> = {}, more: object = {}) =>
    api.create(
      coreV1.Pod,
      pod(name, { nodeName: "n0", restartPolicy: "Always", tolerations: [...USUAL], ...spec }, more),
    );
  return { ...cluster, kubelet, node, get, create };
}

/** What the API server gives every pod. */
const USUAL: readonly coreV1.Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
];
const taints = (found: coreV1.Node | undefined) =>
  found?.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`) ?? [];
const ready = (found: coreV1.Node | undefined) => found?.status?.conditions?.find(({ type }) => type === "Ready");

describe("a node that falls silent", () => {
  it("is unknown after 50 seconds, and tainted; its pods are not ready, and leave after five minutes", async () => {
    const { clock, kubelet, node, get, create, failures, api } = world();
    create("a");
    await clock.settle();
    kubelet.failNode("n0");
    await clock.advance(49_999);
    expect(ready(node())?.status).toBe("True");
    await clock.advance(1);
    expect(ready(node())).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: "2020-01-01T00:00:50Z",
    });
    expect(node()?.status?.conditions?.map(({ status }) => status)).toEqual([
      "Unknown",
      "Unknown",
      "Unknown",
      "Unknown",
    ]);
    expect(taints(node())).toEqual([
      "node.kubernetes.io/unreachable:NoSchedule",
      "node.kubernetes.io/unreachable:NoExecute",
    ]);
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      lastTransitionTime: "2020-01-01T00:00:50Z",
    });
    await clock.advance(299_999);
    expect(get("a")?.metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(1);
    expect(get("a")?.metadata.deletionTimestamp).toBeDefined();
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    });
    // It hangs there until its kubelet says that it has ended.
    await clock.advance(10_000_000);
    expect(get("a")).toBeDefined();
    kubelet.recoverNode("n0");
    await clock.settle();
    expect(get("a")).toBeUndefined();
    expect(ready(node())?.status).toBe("True");
    expect(taints(node())).toEqual([]);
    expect(failures).toEqual([]);
    const reasons = api.list(coreV1.Event, "default").map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(["NodeNotReady", "TaintManagerEviction", "RegisteredNode"]));
  });

  it("and is back in time loses nobody", async () => {
    const { clock, kubelet, node, get, create, api } = world();
    create("a");
    await clock.settle();
    kubelet.failNode("n0", { containers: "kept" });
    await clock.advance(200_000);
    kubelet.recoverNode("n0");
    await clock.advance(1_000_000);
    expect(get("a")?.metadata.deletionTimestamp).toBeUndefined();
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    expect(taints(node())).toEqual([]);
    const messages = api.list(coreV1.Event, "default").map(({ message }) => message);
    expect(messages).toContain("Cancelling deletion of Pod default/a");
  });

  it("is given up after others that did so before, and not at all if there are too many", async () => {
    const { clock, kubelet, node } = world({ nodes: 10 });
    await clock.settle();
    for (const name of ["n0", "n1", "n2"]) kubelet.failNode(name);
    await clock.advance(50_000);
    const doomed = () => ["n0", "n1", "n2"].filter((name) => taints(node(name)).length === 2);
    expect(doomed()).toEqual(["n0"]);
    await clock.advance(10_000);
    expect(doomed()).toEqual(["n0", "n1"]);
    await clock.advance(10_000);
    expect(doomed()).toEqual(["n0", "n1", "n2"]);
  });

  it("with all others is not given up: then it is not the nodes that are lost", async () => {
    const { clock, kubelet, node } = world({ nodes: 2 });
    await clock.settle();
    kubelet.failNode("n0");
    await clock.advance(60_000);
    expect(taints(node("n0"))).toHaveLength(2);
    kubelet.failNode("n1");
    await clock.advance(1_000_000);
    for (const name of ["n0", "n1"]) expect(taints(node(name))).toEqual(["node.kubernetes.io/unreachable:NoSchedule"]);
    kubelet.recoverNode("n1");
    await clock.advance(60_000);
    expect(taints(node("n0"))).toHaveLength(2);
    expect(taints(node("n1"))).toEqual([]);
  });

  it("that never spoke is unknown too", async () => {
    const { clock, api, node } = world();
    const annotations = { "sim.berth.dev/kubelet": "false" };
    api.create(coreV1.Node, { metadata: { name: "mute", annotations } });
    await clock.advance(60_000);
    expect(ready(node("mute"))).toMatchObject({ status: "Unknown", reason: "NodeStatusNeverUpdated" });
  });

  it("is known by its leases, if that is how it speaks", async () => {
    const { clock, api, node } = world();
    const annotations = { "sim.berth.dev/kubelet": "false" };
    api.create(coreV1.Node, { metadata: { name: "theirs", annotations } });
    const key = { namespace: "kube-node-lease", name: "theirs" };
    for (let beat = 0; beat < 10; beat++) {
      const spec = { holderIdentity: "theirs", renewTime: microTime(clock.now()) };
      const lease = api.get(coordinationV1.Lease, key);
      if (lease) api.update(coordinationV1.Lease, { ...lease, spec });
      else api.create(coordinationV1.Lease, { metadata: key, spec });
      await clock.advance(30_000);
    }
    expect(ready(node("theirs"))).toBeUndefined();
    await clock.advance(60_000);
    expect(ready(node("theirs"))?.status).toBe("Unknown");
  });
});

describe("a node that says it is not ready", () => {
  it("is tainted so, and its pods leave", async () => {
    const { clock, kubelet, node, get, create } = world();
    create("a");
    await clock.settle();
    kubelet.reportNode("n0", { reason: "KubeletNotReady", message: "container runtime is down" });
    await clock.settle();
    expect(taints(node())).toEqual([
      "node.kubernetes.io/not-ready:NoSchedule",
      "node.kubernetes.io/not-ready:NoExecute",
    ]);
    await clock.advance(300_000);
    expect(get("a")).toBeUndefined();
    kubelet.reportNode("n0");
    await clock.settle();
    expect(taints(node())).toEqual([]);
  });
});

describe("a node that is cordoned", () => {
  it("says so with a taint", async () => {
    const { clock, api, node } = world();
    await clock.settle();
    api.patch(coreV1.Node, { name: "n0" }, { spec: { unschedulable: true } });
    await clock.settle();
    expect(taints(node())).toEqual(["node.kubernetes.io/unschedulable:NoSchedule"]);
    api.patch(coreV1.Node, { name: "n0" }, { spec: { unschedulable: null } });
    await clock.settle();
    expect(taints(node())).toEqual([]);
  });
});

describe("a taint that makes pods leave", () => {
  const tainted = (api: ReturnType<typeof world>["api"], value?: string) =>
    api.patch(
      coreV1.Node,
      { name: "n0" },
      { spec: { taints: value === undefined ? null : [{ key: "k", value, effect: "NoExecute" }] } },
    );

  it("does so at once, after a while, or never, as they tolerate it", async () => {
    const { clock, get, create, api } = world();
    const tolerating = (tolerationSeconds?: number) => ({
      tolerations: [
        {
          key: "k",
          operator: "Exists" as const,
          effect: "NoExecute" as const,
          ...(tolerationSeconds !== undefined && { tolerationSeconds }),
        },
      ],
    });
    create("none");
    create("some", tolerating(60));
    create("all", tolerating());
    await clock.settle();
    tainted(api, "v");
    await clock.settle();
    expect([get("none"), get("some"), get("all")].map(Boolean)).toEqual([false, true, true]);
    create("late", tolerating(10));
    await clock.advance(10_000);
    expect(get("late")).toBeUndefined();
    await clock.advance(50_000);
    expect([get("some"), get("all")].map(Boolean)).toEqual([false, true]);
  });

  it("does not if it goes in time", async () => {
    const { clock, get, create, api } = world();
    create("a", { tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }] });
    await clock.settle();
    tainted(api, "v");
    await clock.advance(30_000);
    tainted(api);
    await clock.advance(300_000);
    expect(get("a")).toBeDefined();
  });
});

describe("toleratedSeconds", () => {
  it("is the least of what is tolerated", () => {
    const taint = (key: string): coreV1.Taint => ({ key, effect: "NoExecute" });
    const toleration = (key: string, tolerationSeconds?: number): coreV1.Toleration => ({
      key,
      operator: "Exists",
      ...(tolerationSeconds !== undefined && { tolerationSeconds }),
    });
    expect(toleratedSeconds([], [])).toBeUndefined();
    expect(toleratedSeconds([], [taint("a")])).toBe(0);
    expect(toleratedSeconds([toleration("a")], [taint("a")])).toBeUndefined();
    expect(toleratedSeconds([toleration("a", 5), toleration("b", 3)], [taint("a"), taint("b")])).toBe(3);
    expect(toleratedSeconds([toleration("a", -5)], [taint("a")])).toBe(0);
  });
});

describe("evictionRate", () => {
  it("falls when many nodes are lost at once", () => {
    expect(evictionRate({ ready: 9, notReady: 1 })).toBe(0.1);
    expect(evictionRate({ ready: 1, notReady: 2 })).toBe(0.1);
    expect(evictionRate({ ready: 4, notReady: 6 })).toBe(0);
    expect(evictionRate({ ready: 40, notReady: 60 })).toBe(0.01);
    expect(evictionRate({ ready: 0, notReady: 60 })).toBe(0.1);
  });
});

describe("pods that nobody clears away", () => {
  it("go some time after their node", async () => {
    const { clock, kubelet, get, create, api } = world();
    create("a", {}, { finalizers: ["example.org/f"] });
    create("b", { nodeName: "never" });
    await clock.settle();
    kubelet.removeNode("n0");
    await clock.advance(39_999);
    expect([get("a"), get("b")].map((each) => each?.metadata.deletionTimestamp)).toEqual([undefined, undefined]);
    await clock.advance(1);
    expect(get("b")).toBeUndefined();
    expect(get("a")?.status).toMatchObject({ phase: "Failed" });
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
    });
    void api;
  });

  it("go from a node that is out of service", async () => {
    const { clock, kubelet, get, create, api } = world();
    create("a");
    await clock.settle();
    kubelet.failNode("n0");
    await clock.advance(60_000);
    api.delete(coreV1.Pod, { namespace: "default", name: "a" });
    await clock.advance(60_000);
    expect(get("a")).toBeDefined();
    const present = api.get(coreV1.Node, { name: "n0" }) as coreV1.Node;
    const out: coreV1.Taint = { key: "node.kubernetes.io/out-of-service", value: "shutdown", effect: "NoExecute" };
    api.update(coreV1.Node, { ...present, spec: { ...present.spec, taints: [...(present.spec?.taints ?? []), out] } });
    await clock.advance(20_000);
    expect(get("a")).toBeUndefined();
  });

  it("go, the oldest first, when too many have ended", async () => {
    const { clock, create, api } = world({ terminatedPods: 3 });
    for (let index = 0; index < 5; index++) {
      create(`p${index}`, { restartPolicy: "Never" });
      await clock.advance(2000);
    }
    await clock.advance(60_000);
    expect(api.list(coreV1.Pod, "default").map(({ metadata }) => metadata.name)).toEqual(["p2", "p3", "p4"]);
  });
});
