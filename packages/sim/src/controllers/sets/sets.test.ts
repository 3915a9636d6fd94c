import { appsV1, coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Kubelet } from "../../kubelet/kubelet.ts";
import { testCluster } from "../testing/cluster.ts";
import { DaemonSetController } from "./daemon-set.ts";
import { StatefulSetController } from "./stateful-set.ts";

const template = (image: string): coreV1.PodTemplateSpec => ({
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "main", image }] },
});

function world(nodes: number) {
  const cluster = testCluster();
  const kubelet = cluster.start(new Kubelet(cluster.surroundings("kubelet"), { startMs: 1000 }));
  cluster.start(new DaemonSetController(cluster.surroundings("daemons")));
  cluster.start(new StatefulSetController(cluster.surroundings("stateful")));
  const { api, server } = cluster;
  // Daemons' pods say where they want to go; all others go to the first node.
  api.onChange(coreV1.Pod, ({ type, object }) => {
    if (type !== "ADDED") return;
    const terms =
      object.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    const nodeName = terms?.[0]?.matchFields?.[0]?.values?.[0] ?? "n0";
    queueMicrotask(() => {
      const key = `${object.metadata.namespace}/${object.metadata.name}`;
      const present = server.store.collection("/pods").get(key) as coreV1.Pod | undefined;
      if (!present || present.metadata.deletionTimestamp !== undefined) return;
      const spec = { containers: [], ...present.spec, nodeName };
      server.store.put("/pods", { ...present, metadata: { ...present.metadata }, spec });
    });
  });
  for (let index = 0; index < nodes; index++) kubelet.addNode({ name: `n${index}` });
  const pods = () => api.list(coreV1.Pod, "default");
  return { ...cluster, kubelet, pods };
}

describe("a DaemonSet", () => {
  const create = ({ api }: ReturnType<typeof world>, spec: Partial<coreV1.PodSpec> = {}) =>
    api.create(appsV1.DaemonSet, {
      metadata: { name: "d", namespace: "default" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { ...template("v1"), spec: { containers: [{ name: "main", image: "v1" }], ...spec } },
      },
    });

  it("has a pod on each node, those that come later included", async () => {
    const cluster = world(3);
    const { clock, api, kubelet, pods, failures } = cluster;
    create(cluster);
    await clock.advance(2000);
    expect(
      pods()
        .map(({ spec }) => spec?.nodeName)
        .toSorted(),
    ).toEqual(["n0", "n1", "n2"]);
    kubelet.addNode({ name: "n3" });
    await clock.advance(2000);
    const status = api.get(appsV1.DaemonSet, { namespace: "default", name: "d" })?.status;
    expect(status).toMatchObject({
      desiredNumberScheduled: 4,
      currentNumberScheduled: 4,
      numberReady: 4,
      numberAvailable: 4,
      updatedNumberScheduled: 4,
      numberMisscheduled: 0,
    });
    expect(failures).toEqual([]);
  });

  it("has none where it does not belong, and leaves where it does not any more", async () => {
    const cluster = world(3);
    const { clock, api, pods } = cluster;
    api.patch(coreV1.Node, { name: "n1" }, { metadata: { labels: { disk: "ssd" } } });
    api.patch(coreV1.Node, { name: "n2" }, { metadata: { labels: { disk: "ssd" } } });
    api.patch(coreV1.Node, { name: "n2" }, { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
    create(cluster, { nodeSelector: { disk: "ssd" } });
    await clock.advance(2000);
    expect(pods().map(({ spec }) => spec?.nodeName)).toEqual(["n1"]);
    api.patch(coreV1.Node, { name: "n1" }, { metadata: { labels: { disk: null } } });
    await clock.advance(2000);
    expect(pods()).toEqual([]);
  });

  it("rolls a new template out, node by node", async () => {
    const cluster = world(3);
    const { clock, api, pods } = cluster;
    create(cluster);
    await clock.advance(2000);
    let fewest = 3;
    api.onChange(coreV1.Pod, () => {
      const ready = pods().filter(({ status }) =>
        status?.conditions?.some((c) => c.type === "Ready" && c.status === "True"),
      );
      fewest = Math.min(fewest, ready.length);
    });
    api.patch(appsV1.DaemonSet, { namespace: "default", name: "d" }, { spec: { template: template("v2") } });
    await clock.advance(30_000);
    expect(pods().map(({ spec }) => spec?.containers[0]?.image)).toEqual(["v2", "v2", "v2"]);
    expect(fewest).toBe(2);
  });
});

describe("a StatefulSet", () => {
  const create = ({ api }: ReturnType<typeof world>, spec: Partial<appsV1.StatefulSetSpec> = {}) =>
    api.create(appsV1.StatefulSet, {
      metadata: { name: "s", namespace: "default" },
      spec: { replicas: 3, serviceName: "s", selector: { matchLabels: { a: "b" } }, template: template("v1"), ...spec },
    });

  it("makes its pods one after the other, each with its name and its claims", async () => {
    const cluster = world(1);
    const { clock, api, pods, failures } = cluster;
    create(cluster, {
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    });
    await clock.settle();
    expect(pods().map(({ metadata }) => metadata.name)).toEqual(["s-0"]);
    await clock.advance(10_000);
    expect(pods().map(({ metadata }) => metadata.name)).toEqual(["s-0", "s-1", "s-2"]);
    expect(pods()[1]).toMatchObject({
      metadata: { labels: { "statefulset.kubernetes.io/pod-name": "s-1", "apps.kubernetes.io/pod-index": "1" } },
      spec: { hostname: "s-1", subdomain: "s" },
    });
    expect(api.list(coreV1.PersistentVolumeClaim, "default").map(({ metadata }) => metadata.name)).toEqual([
      "data-s-0",
      "data-s-1",
      "data-s-2",
    ]);
    expect(api.get(appsV1.StatefulSet, { namespace: "default", name: "s" })?.status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
    expect(failures).toEqual([]);
  });

  it("shrinks from the end, and replaces who goes by one of the same name", async () => {
    const cluster = world(1);
    const { clock, api, pods } = cluster;
    create(cluster, { podManagementPolicy: "Parallel" });
    await clock.advance(5000);
    const second = pods()[1]?.metadata.uid;
    api.delete(coreV1.Pod, { namespace: "default", name: "s-1" });
    await clock.advance(5000);
    expect(pods().map(({ metadata }) => metadata.name)).toEqual(["s-0", "s-1", "s-2"]);
    expect(pods()[1]?.metadata.uid).not.toBe(second);
    api.patch(appsV1.StatefulSet, { namespace: "default", name: "s" }, { spec: { replicas: 1 } });
    await clock.advance(5000);
    expect(pods().map(({ metadata }) => metadata.name)).toEqual(["s-0"]);
  });

  it("rolls a new template out from the last pod to the first", async () => {
    const cluster = world(1);
    const { clock, api, pods } = cluster;
    create(cluster);
    await clock.advance(10_000);
    const order: string[] = [];
    api.onChange(coreV1.Pod, ({ type, object }) => {
      if (type === "ADDED") order.push(object.metadata.name ?? "");
    });
    api.patch(appsV1.StatefulSet, { namespace: "default", name: "s" }, { spec: { template: template("v2") } });
    await clock.advance(60_000);
    expect(order).toEqual(["s-2", "s-1", "s-0"]);
    expect(pods().map(({ spec }) => spec?.containers[0]?.image)).toEqual(["v2", "v2", "v2"]);
    const { status } = api.get(appsV1.StatefulSet, { namespace: "default", name: "s" }) ?? {};
    expect(status?.currentRevision).toBe(status?.updateRevision);
  });
});
