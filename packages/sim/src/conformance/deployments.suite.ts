/** What becomes of Deployments and ReplicaSets, and what kubectl says of their roll-outs. */
import { appsV1, coreV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import { eventually, timeless, WorkloadWorld } from "./workload-world.ts";

const { Deployment, ReplicaSet } = appsV1;

export const deployments = suite("deployments", (it, target) => {
  const inWorld = (name: string, test: (world: WorkloadWorld) => Promise<void>) =>
    it(name, () => WorkloadWorld.in(target(), test));
  const deployment = (world: WorkloadWorld, spec: Partial<appsV1.DeploymentSpec> = {}): appsV1.Deployment => {
    const labels = { app: "web" };
    const template = world.template({}, { restartPolicy: "Always", terminationGracePeriodSeconds: 0 });
    return {
      metadata: { name: "web", namespace: world.namespace },
      spec: {
        selector: { matchLabels: labels },
        template: { ...template, metadata: { ...template.metadata, labels } },
        ...spec,
      },
    };
  };
  const isDone = ({ metadata, spec, status }: appsV1.Deployment) =>
    status?.observedGeneration === metadata.generation &&
    status?.updatedReplicas === spec?.replicas &&
    status?.replicas === spec?.replicas &&
    status?.availableReplicas === spec?.replicas &&
    status?.conditions?.some(({ reason }) => reason === "NewReplicaSetAvailable") === true;
  const setsOf = async (world: WorkloadWorld) =>
    (await world.client.list(ReplicaSet, { namespace: world.namespace })).items;

  inWorld("make a set with a hash in its name, and say when its pods are there", async (world) => {
    await world.client.create(Deployment, deployment(world, { replicas: 2 }));
    const { metadata, status } = await world.until(Deployment, "web", isDone);
    expect(metadata.annotations).toEqual({ "deployment.kubernetes.io/revision": "1" });
    const [set] = await setsOf(world);
    const hash = set?.metadata.labels?.["pod-template-hash"];
    expect(hash).toMatch(/^[a-z0-9]{8,10}$/);
    expect(timeless(status)).toEqual({
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
      conditions: [
        {
          ...{ type: "Available", status: "True", lastUpdateTime: "TIME", lastTransitionTime: "TIME" },
          reason: "MinimumReplicasAvailable",
          message: "Deployment has minimum availability.",
        },
        {
          ...{ type: "Progressing", status: "True", lastUpdateTime: "TIME", lastTransitionTime: "TIME" },
          reason: "NewReplicaSetAvailable",
          message: `ReplicaSet "web-${hash}" has successfully progressed.`,
        },
      ],
    });
    expect(set?.metadata).toMatchObject({
      name: `web-${hash}`,
      labels: { app: "web", "pod-template-hash": hash },
      annotations: {
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
        "deployment.kubernetes.io/revision": "1",
      },
    });
    expect(set?.spec?.selector).toEqual({ matchLabels: { app: "web", "pod-template-hash": hash } });
    expect(timeless(set?.status)).toEqual({
      observedGeneration: 1,
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
    });
    for (const pod of await world.pods()) {
      expect(pod.metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
      expect(pod.metadata.labels).toEqual({ app: "web", "pod-template-hash": hash });
      expect(pod.metadata.ownerReferences).toMatchObject([
        { kind: "ReplicaSet", name: `web-${hash}`, controller: true },
      ]);
    }
    const told = await world.told("Deployment", "web", "ScalingReplicaSet");
    expect(told).toEqual([`Normal ScalingReplicaSet: Scaled up replica set web-${hash} from 0 to 2`]);
  });

  inWorld("roll out, and back, and again, as kubectl asks", async (world) => {
    const { namespace } = world;
    const kubectl = (...args: string[]) => world.target.kubectl(["-n", namespace, ...args]);
    await world.client.create(Deployment, deployment(world, { replicas: 2 }));
    await world.until(Deployment, "web", isDone);
    await kubectl("set", "image", "deployment/web", "main=busybox:2");
    const status = await kubectl("rollout", "status", "deployment/web", "--timeout=60s");
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringContaining('deployment "web" successfully rolled out'),
    ]);
    const images = async () => (await world.pods()).map(({ spec }) => spec?.containers[0]?.image);
    await eventually("new pods only", async () => {
      const all = await images();
      return all.length === 2 && all.every((image) => image === "busybox:2") ? all : undefined;
    });
    const history = await kubectl("rollout", "history", "deployment/web");
    expect(
      history.stdout
        .trim()
        .split("\n")
        .map((line) => line.trim().split(/\s+/)[0]),
    ).toEqual(["deployment.apps/web", "REVISION", "1", "2"]);
    expect((await kubectl("rollout", "undo", "deployment/web")).stdout).toContain("rolled back");
    await eventually("old pods only", async () => {
      const all = await images();
      return all.length === 2 && all.every((image) => image === "busybox") ? all : undefined;
    });
    const { metadata } = await world.until(Deployment, "web", isDone);
    expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
    const sets = await setsOf(world);
    const current = sets.find(({ spec }) => spec?.replicas === 2);
    expect(current?.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "3",
      "deployment.kubernetes.io/revision-history": "1",
    });
    const before = (await world.pods()).map((pod) => pod.metadata.uid);
    expect((await kubectl("rollout", "restart", "deployment/web")).code).toBe(0);
    await eventually("other pods", async () => {
      const pods = await world.pods();
      return pods.length === 2 && pods.every((pod) => !before.includes(pod.metadata.uid)) ? pods : undefined;
    });
  });

  inWorld("are scaled, and shrink by who has come the least far", async (world) => {
    const { client, namespace } = world;
    await client.create(Deployment, deployment(world, { replicas: 1 }));
    await world.until(Deployment, "web", isDone);
    const [first] = await world.pods();
    await world.nextSecond();
    const scale = (replicas: number) =>
      world.target.kubectl(["-n", namespace, "scale", "deployment/web", `--replicas=${replicas}`]);
    await scale(3);
    await world.until(Deployment, "web", isDone);
    expect(await world.pods()).toHaveLength(3);
    await scale(1);
    await eventually("one pod", async () => ((await world.pods()).length === 1 ? true : undefined));
    expect((await world.pods())[0]?.metadata.uid).toBe(first?.metadata.uid);
    const told = await world.told("Deployment", "web", "ScalingReplicaSet", 3);
    expect(told.map((line) => line.replace(/web-\S+/, "SET"))).toEqual([
      "Normal ScalingReplicaSet: Scaled up replica set SET from 0 to 1",
      "Normal ScalingReplicaSet: Scaled up replica set SET from 1 to 3",
      "Normal ScalingReplicaSet: Scaled down replica set SET from 3 to 1",
    ]);
  });

  inWorld("replace pods that go, and take in and let go those whose labels say so", async (world) => {
    const { client, namespace } = world;
    await client.create(Deployment, deployment(world, { replicas: 1 }));
    await world.until(Deployment, "web", isDone);
    const [pod] = await world.pods();
    const name = pod?.metadata.name ?? "";
    await client.patch(coreV1.Pod, { namespace, name }, { merge: { metadata: { labels: { app: "other" } } } });
    const other = await eventually("another pod", async () => {
      return (await world.pods()).find(({ metadata, status }) => metadata.name !== name && status?.phase === "Running");
    });
    const released = await client.get(coreV1.Pod, { namespace, name });
    expect(released.metadata.ownerReferences).toBeUndefined();
    await client.patch(coreV1.Pod, { namespace, name }, { merge: { metadata: { labels: { app: "web" } } } });
    await eventually("one pod", async () => ((await world.pods()).length === 1 ? true : undefined));
    expect([name, other.metadata.name]).toContain((await world.pods())[0]?.metadata.name);
  });

  inWorld("that recreate their pods never have old and new at once", async (world) => {
    const { client, namespace } = world;
    await client.create(Deployment, deployment(world, { replicas: 2, strategy: { type: "Recreate" } }));
    await world.until(Deployment, "web", isDone);
    await world.target.kubectl(["-n", namespace, "set", "image", "deployment/web", "main=busybox:2"]);
    await eventually("new pods", async () => {
      const images = new Set((await world.pods()).map(({ spec }) => spec?.containers[0]?.image));
      expect(images.size).toBeLessThanOrEqual(1);
      return images.has("busybox:2") ? true : undefined;
    });
  });

  inWorld("go with their sets and pods, or wait for them", async (world) => {
    const { client, namespace } = world;
    await client.create(Deployment, deployment(world, { replicas: 1 }));
    await world.until(Deployment, "web", isDone);
    await client.delete(Deployment, { namespace, name: "web" }, { propagationPolicy: "Foreground" });
    await world.gone(Deployment, "web");
    expect(await setsOf(world)).toEqual([]);
    expect(await world.pods()).toEqual([]);
  });
});
