import { appsV1, coreV1 } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Kubelet } from "../../kubelet/kubelet.ts";
import { GarbageCollector } from "../garbage-collector/garbage-collector.ts";
import { ReplicaSetController } from "../replica-set.ts";
import { bindPods, testCluster } from "../testing/cluster.ts";
import { DeploymentController } from "./deployment-controller.ts";
import { fenceposts, replicasOf } from "./deployment-facts.ts";
import { rescaled } from "./rollout.ts";

function world() {
  const cluster = testCluster();
  const kubelet = cluster.start(new Kubelet(cluster.surroundings("kubelet"), { startMs: 1000 }));
  cluster.start(new ReplicaSetController(cluster.surroundings("sets")));
  cluster.start(new DeploymentController(cluster.surroundings("deployments")));
  cluster.start(new GarbageCollector(cluster.surroundings("gc")));
  kubelet.addNode({ name: "n1" });
  bindPods(cluster, "n1");
  const { api } = cluster;
  const key = { namespace: "default", name: "d" };
  const create = (spec: Partial<appsV1.DeploymentSpec> = {}) =>
    api.create(appsV1.Deployment, {
      metadata: key,
      spec: {
        selector: { matchLabels: { app: "d" } },
        template: { metadata: { labels: { app: "d" } }, spec: { containers: [{ name: "main", image: "v1" }] } },
        ...spec,
      },
    });
  const get = () => api.get(appsV1.Deployment, key) as appsV1.Deployment;
  const update = (spec: Partial<appsV1.DeploymentSpec>) => {
    const present = get();
    api.update(appsV1.Deployment, { ...present, spec: { ...(present.spec as appsV1.DeploymentSpec), ...spec } });
  };
  const setImage = (image: string) =>
    update({ template: { metadata: { labels: { app: "d" } }, spec: { containers: [{ name: "main", image }] } } });
  const sets = () => api.list(appsV1.ReplicaSet, "default");
  const pods = () => api.list(coreV1.Pod, "default").filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const images = () =>
    pods()
      .map(({ spec }) => spec?.containers[0]?.image ?? "")
      .toSorted();
  return { ...cluster, create, get, update, setImage, sets, pods, images };
}

const progressing = ({ status }: appsV1.Deployment) => status?.conditions?.find(({ type }) => type === "Progressing");

describe("a Deployment", () => {
  it("makes a set, the set makes pods, and it says when all are there", async () => {
    const { clock, create, get, sets, pods, failures } = world();
    create({ replicas: 3 });
    await clock.settle();
    expect(sets()).toHaveLength(1);
    const [set] = sets();
    const hash = set?.metadata.labels?.["pod-template-hash"];
    expect(set?.metadata.name).toBe(`d-${hash}`);
    expect(set?.spec?.selector).toEqual({ matchLabels: { app: "d", "pod-template-hash": hash } });
    expect(set?.metadata.annotations).toEqual({
      "deployment.kubernetes.io/revision": "1",
      "deployment.kubernetes.io/desired-replicas": "3",
      "deployment.kubernetes.io/max-replicas": "4",
    });
    expect(get().status).toMatchObject({ replicas: 3, updatedReplicas: 3, unavailableReplicas: 3 });
    expect(progressing(get())?.reason).toBe("ReplicaSetUpdated");
    await clock.advance(2000);
    expect(pods()).toHaveLength(3);
    expect(get().status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
    expect(get().status?.unavailableReplicas).toBeUndefined();
    expect(progressing(get())).toMatchObject({
      status: "True",
      reason: "NewReplicaSetAvailable",
      message: `ReplicaSet "d-${hash}" has successfully progressed.`,
    });
    expect(get().metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("1");
    expect(failures).toEqual([]);
  });

  it("rolls a new template out without losing too many pods", async () => {
    const { clock, create, get, setImage, sets, pods, images, api } = world();
    create({ replicas: 4, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await clock.advance(2000);
    const seen: [total: number, ready: number][] = [];
    api.onChange(coreV1.Pod, () => {
      const ready = pods().filter(({ status }) =>
        status?.conditions?.some((c) => c.type === "Ready" && c.status === "True"),
      );
      seen.push([pods().length, ready.length]);
    });
    setImage("v2");
    await clock.advance(60_000);
    expect(images()).toEqual(["v2", "v2", "v2", "v2"]);
    expect(Math.max(...seen.map(([total]) => total))).toBeLessThanOrEqual(5);
    expect(Math.min(...seen.map(([, ready]) => ready))).toBeGreaterThanOrEqual(3);
    expect(sets().map(replicasOf).toSorted()).toEqual([0, 4]);
    expect(get().metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("2");
    expect(get().status).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
  });

  it("returns to an old template by its old set, with a new revision", async () => {
    const { clock, create, setImage, sets, images } = world();
    create({ replicas: 2 });
    await clock.advance(5000);
    setImage("v2");
    await clock.advance(10_000);
    setImage("v1");
    await clock.advance(10_000);
    expect(images()).toEqual(["v1", "v1"]);
    expect(sets()).toHaveLength(2);
    const first = sets().find(({ spec }) => spec?.template?.spec?.containers[0]?.image === "v1");
    expect(first?.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "3",
      "deployment.kubernetes.io/revision-history": "1",
    });
  });

  it("that recreates its pods never has old and new at once", async () => {
    const { clock, create, setImage, images, api } = world();
    create({ replicas: 2, strategy: { type: "Recreate" } });
    await clock.advance(2000);
    const mixtures = new Set<string>();
    api.onChange(coreV1.Pod, () => {
      const all = api.list(coreV1.Pod, "default").map(({ spec }) => spec?.containers[0]?.image);
      mixtures.add([...new Set(all)].toSorted().join("+"));
    });
    setImage("v2");
    await clock.advance(10_000);
    expect(images()).toEqual(["v2", "v2"]);
    expect([...mixtures].some((mixture) => mixture === "v1+v2")).toBe(false);
  });

  it("can be scaled, also while it is paused", async () => {
    const { clock, create, update, setImage, pods, images, get } = world();
    create({ replicas: 2 });
    await clock.advance(2000);
    update({ replicas: 5 });
    await clock.advance(2000);
    expect(pods()).toHaveLength(5);
    update({ paused: true });
    setImage("v2");
    await clock.advance(2000);
    expect(images()).toEqual(["v1", "v1", "v1", "v1", "v1"]);
    expect(progressing(get())?.reason).toBe("DeploymentPaused");
    update({ replicas: 3 });
    await clock.advance(2000);
    expect(images()).toEqual(["v1", "v1", "v1"]);
    update({ paused: false });
    await clock.advance(30_000);
    expect(images()).toEqual(["v2", "v2", "v2"]);
  });

  it("says when it does not get on", async () => {
    const { clock, create, setImage, get, api } = world();
    create({ replicas: 1, progressDeadlineSeconds: 60 });
    await clock.advance(2000);
    api.patch(coreV1.Node, { name: "n1" }, {}); // nothing
    const never = { exec: { command: ["true"] }, initialDelaySeconds: 100_000 };
    const present = get();
    const container = { name: "main", image: "v2", readinessProbe: never };
    api.update(appsV1.Deployment, {
      ...present,
      spec: {
        ...(present.spec as appsV1.DeploymentSpec),
        template: { metadata: { labels: { app: "d" } }, spec: { containers: [container] } },
      },
    });
    await clock.advance(120_000);
    expect(progressing(get())).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    setImage("v3");
    await clock.advance(30_000);
    expect(progressing(get())).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
  });

  it("keeps as many old sets as it is told to", async () => {
    const { clock, create, setImage, sets } = world();
    create({ replicas: 1, revisionHistoryLimit: 2 });
    for (let version = 2; version < 7; version++) {
      await clock.advance(10_000);
      setImage(`v${version}`);
    }
    await clock.advance(10_000);
    expect(sets()).toHaveLength(3);
  });

  it("goes with its sets and pods", async () => {
    const { clock, create, sets, api } = world();
    create({ replicas: 2 });
    await clock.advance(2000);
    api.delete(appsV1.Deployment, { namespace: "default", name: "d" });
    await clock.advance(2000);
    expect(sets()).toEqual([]);
    expect(api.list(coreV1.Pod, "default")).toEqual([]);
  });
});

describe("a ReplicaSet", () => {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "main", image: "x" }] } };
  const make = ({ api }: ReturnType<typeof world>, replicas: number) =>
    api.create(appsV1.ReplicaSet, {
      metadata: { name: "s", namespace: "default" },
      spec: { replicas, selector: { matchLabels: { a: "b" } }, template },
    });

  it("replaces pods that go or fail", async () => {
    const cluster = world();
    const { clock, api, pods } = cluster;
    make(cluster, 2);
    await clock.advance(2000);
    const names = pods().map(({ metadata }) => metadata.name ?? "");
    api.delete(coreV1.Pod, { namespace: "default", name: names[0] ?? "" });
    await clock.advance(2000);
    expect(pods()).toHaveLength(2);
    expect(pods().map(({ metadata }) => metadata.name)).not.toContain(names[0]);
  });

  it("takes in pods that fit, and lets those go that do not any more", async () => {
    const cluster = world();
    const { clock, api, pods } = cluster;
    const metadata = { name: "own", namespace: "default", labels: { a: "b" } };
    api.create(coreV1.Pod, { metadata, spec: { containers: [{ name: "main", image: "mine" }] } });
    make(cluster, 2);
    await clock.advance(2000);
    expect(pods()).toHaveLength(2);
    expect(pods().find((each) => each.metadata.name === "own")?.metadata.ownerReferences?.[0]).toMatchObject({
      kind: "ReplicaSet",
      name: "s",
      controller: true,
    });
    api.patch(coreV1.Pod, { namespace: "default", name: "own" }, { metadata: { labels: { a: "other" } } });
    await clock.advance(2000);
    expect(pods()).toHaveLength(3);
    expect(pods().find((each) => each.metadata.name === "own")?.metadata.ownerReferences ?? []).toEqual([]);
    api.patch(coreV1.Pod, { namespace: "default", name: "own" }, { metadata: { labels: { a: "b" } } });
    await clock.advance(2000);
    expect(pods()).toHaveLength(2);
  });

  it("deletes first who has come the least far", async () => {
    const cluster = world();
    const { clock, api, pods } = cluster;
    make(cluster, 1);
    await clock.advance(5000);
    const [old] = pods();
    api.patch(appsV1.ReplicaSet, { namespace: "default", name: "s" }, { spec: { replicas: 3 } });
    await clock.advance(5000);
    api.patch(appsV1.ReplicaSet, { namespace: "default", name: "s" }, { spec: { replicas: 1 } });
    await clock.advance(5000);
    expect(pods().map(({ metadata }) => metadata.uid)).toEqual([old?.metadata.uid]);
  });

  it("counts pods as available when they have been ready for long enough", async () => {
    const cluster = world();
    const { clock, api } = cluster;
    make(cluster, 1);
    api.patch(appsV1.ReplicaSet, { namespace: "default", name: "s" }, { spec: { minReadySeconds: 30 } });
    const status = () => api.get(appsV1.ReplicaSet, { namespace: "default", name: "s" })?.status;
    await clock.advance(10_000);
    expect(status()).toMatchObject({ readyReplicas: 1 });
    expect(status()?.availableReplicas).toBeUndefined();
    await clock.advance(30_000);
    expect(status()).toMatchObject({ availableReplicas: 1 });
  });
});

describe("rescaled", () => {
  const set = (name: string, replicas: number, most: number): appsV1.ReplicaSet => ({
    metadata: {
      name,
      creationTimestamp: `2020-01-01T00:00:0${name.at(-1)}Z`,
      annotations: { "deployment.kubernetes.io/max-replicas": String(most) },
    },
    spec: { replicas, selector: {} },
    status: { replicas },
  });

  it("shares the change out, and never has more than may be", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 5 }),
        (sizes, replicas, maxSurge) => {
          const total = sizes.reduce((sum, size) => sum + size, 0);
          const sets = sizes.map((size, index) => set(`s${index}`, size, total));
          const deployment: appsV1.Deployment = {
            metadata: { name: "d" },
            spec: {
              replicas,
              selector: {},
              template: {},
              strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable: 1 } },
            },
            status: { replicas: total },
          };
          const after = rescaled(deployment, sets.at(-1), sets.slice(0, -1));
          const sum = after.reduce((all, [, size]) => all + size, 0);
          for (const [, size] of after) expect(size).toBeGreaterThanOrEqual(0);
          expect(sum).toBe(replicas === 0 ? 0 : replicas + fenceposts(deployment).surge);
        },
      ),
    );
  });
});
