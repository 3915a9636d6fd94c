/** What becomes of DaemonSets, StatefulSets, Services and disruption budgets. */
import { appsV1, coreV1, discoveryV1, policyV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import { eventually, timeless, WorkloadWorld } from "./workload-world.ts";

const { DaemonSet, StatefulSet } = appsV1;
const labels = { app: "set" };

export const sets = suite("sets", (it, target) => {
  const inWorld = (name: string, test: (world: WorkloadWorld) => Promise<void>) =>
    it(name, () => WorkloadWorld.in(target(), test));
  const template = (world: WorkloadWorld, spec: Partial<coreV1.PodSpec> = {}): coreV1.PodTemplateSpec => {
    const made = world.template({}, { restartPolicy: "Always", terminationGracePeriodSeconds: 0, ...spec });
    return { ...made, metadata: { ...made.metadata, labels } };
  };
  const ready = (pods: readonly coreV1.Pod[]) =>
    pods.filter(({ status }) => status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"));

  inWorld("of daemons have a pod on each node that they are for", async (world) => {
    const { client, namespace } = world;
    const spec = { selector: { matchLabels: labels }, template: template(world) };
    await client.create(DaemonSet, { metadata: { name: "d", namespace }, spec });
    const set = await world.until(DaemonSet, "d", ({ status }) => status?.numberAvailable === 1);
    const { observedGeneration: _, ...status } = timeless(set.status) ?? {};
    expect(status).toEqual({
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberReady: 1,
      numberAvailable: 1,
      numberMisscheduled: 0,
    });
    const [pod] = await world.pods();
    expect(pod?.metadata.name).toMatch(/^d-[a-z0-9]{5}$/);
    expect(pod?.spec?.affinity?.nodeAffinity).toEqual({
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [world.node] }] }],
      },
    });
    const { tolerations = [] } = pod?.spec ?? {};
    expect(tolerations.map(({ key, effect, operator }) => [key, effect, operator]).toSorted()).toEqual([
      ["node.kubernetes.io/disk-pressure", "NoSchedule", "Exists"],
      ["node.kubernetes.io/memory-pressure", "NoSchedule", "Exists"],
      ["node.kubernetes.io/not-ready", "NoExecute", "Exists"],
      ["node.kubernetes.io/pid-pressure", "NoSchedule", "Exists"],
      ["node.kubernetes.io/unreachable", "NoExecute", "Exists"],
      ["node.kubernetes.io/unschedulable", "NoSchedule", "Exists"],
    ]);
    await client.patch(
      DaemonSet,
      { namespace, name: "d" },
      {
        merge: { spec: { template: { spec: { nodeSelector: { nowhere: "at-all" } } } } },
      },
    );
    await eventually("no pods", async () => ((await world.pods()).length === 0 ? true : undefined));
    await world.until(DaemonSet, "d", (found) => found.status?.desiredNumberScheduled === 0);
  });

  inWorld("of daemons are rolled out anew, pod by pod", async (world) => {
    const { client, namespace } = world;
    const spec = { selector: { matchLabels: labels }, template: template(world) };
    await client.create(DaemonSet, { metadata: { name: "d", namespace }, spec });
    await world.until(DaemonSet, "d", ({ status }) => status?.numberAvailable === 1);
    await world.target.kubectl(["-n", namespace, "set", "image", "daemonset/d", "main=busybox:2"]);
    const done = await world.target.kubectl(["-n", namespace, "rollout", "status", "daemonset/d", "--timeout=60s"]);
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('daemon set "d" successfully rolled out')]);
    expect((await world.pods()).map((pod) => pod.spec?.containers[0]?.image)).toEqual(["busybox:2"]);
  });

  inWorld("of numbered pods make them one after the other, and keep their names", async (world) => {
    const { client, namespace } = world;
    const spec = { replicas: 2, serviceName: "s", selector: { matchLabels: labels }, template: template(world) };
    await client.create(StatefulSet, { metadata: { name: "s", namespace }, spec });
    const set = await world.until(
      StatefulSet,
      "s",
      ({ status }) => status?.currentReplicas === 2 && status.readyReplicas === 2,
    );
    const { currentRevision, updateRevision, observedGeneration: _, ...status } = timeless(set.status) ?? {};
    expect(currentRevision).toBe(updateRevision);
    expect(currentRevision).toMatch(/^s-[a-z0-9]{8,10}$/);
    expect(status).toEqual({
      ...{
        replicas: 2,
        readyReplicas: 2,
        availableReplicas: 2,
        currentReplicas: 2,
        updatedReplicas: 2,
        collisionCount: 0,
      },
    });
    const pods = await world.pods();
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(["s-0", "s-1"]);
    expect(pods[1]).toMatchObject({
      metadata: {
        labels: {
          app: "set",
          "apps.kubernetes.io/pod-index": "1",
          "controller-revision-hash": currentRevision,
          "statefulset.kubernetes.io/pod-name": "s-1",
        },
      },
      spec: { hostname: "s-1", subdomain: "s" },
    });
    await client.delete(coreV1.Pod, { namespace, name: "s-0" });
    await eventually("another s-0", async () => {
      const found = await client.find(coreV1.Pod, { namespace, name: "s-0" });
      return found && found.metadata.uid !== pods[0]?.metadata.uid ? found : undefined;
    });
    await client.patch(StatefulSet, { namespace, name: "s" }, { merge: { spec: { replicas: 1 } } });
    await eventually("one pod", async () => {
      const names = (await world.pods()).map(({ metadata }) => metadata.name);
      return names.length === 1 && names[0] === "s-0" ? true : undefined;
    });
  });

  inWorld("behind a Service are listed with their addresses", async (world) => {
    const { client, namespace } = world;
    const container = { name: "main", image: "busybox", ports: [{ name: "http", containerPort: 8080 }] };
    const spec = {
      replicas: 2,
      selector: { matchLabels: labels },
      template: template(world, { containers: [container] }),
    };
    await client.create(coreV1.Service, {
      metadata: { name: "web", namespace, labels: { team: "a" } },
      spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
    });
    await client.create(appsV1.Deployment, { metadata: { name: "web", namespace }, spec });
    const slice = await eventually("two endpoints", async () => {
      const { items } = await client.list(discoveryV1.EndpointSlice, { namespace });
      return items.find(
        ({ endpoints }) => (endpoints ?? []).filter(({ conditions }) => conditions?.ready).length === 2,
      );
    });
    expect(slice.metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
    expect(slice.metadata.labels).toEqual({
      team: "a",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      "kubernetes.io/service-name": "web",
    });
    expect(slice.metadata.ownerReferences).toMatchObject([{ kind: "Service", name: "web", controller: true }]);
    expect([slice.addressType, slice.ports]).toEqual(["IPv4", [{ name: "http", port: 8080, protocol: "TCP" }]]);
    const pods = await world.pods();
    const byName = (a: { name?: string }, b: { name?: string }) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1);
    const listed = slice.endpoints?.map(({ addresses, conditions, nodeName, targetRef }) => ({
      ...{ name: targetRef?.name ?? "", addresses, conditions, nodeName, kind: targetRef?.kind, uid: targetRef?.uid },
    }));
    expect(listed?.toSorted(byName)).toEqual(
      pods.map(({ metadata, status }) => ({
        name: metadata.name,
        addresses: [status?.podIP],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: world.node,
        kind: "Pod",
        uid: metadata.uid,
      })),
    );
    const endpoints = await eventually("endpoints of the old kind", async () => {
      const found = await client.find(coreV1.Endpoints, { namespace, name: "web" });
      return found?.subsets?.[0]?.addresses?.length === 2 ? found : undefined;
    });
    expect(endpoints.subsets?.[0]?.ports).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
    await client.patch(appsV1.Deployment, { namespace, name: "web" }, { merge: { spec: { replicas: 0 } } });
    await eventually("no endpoints", async () => {
      const { items } = await client.list(discoveryV1.EndpointSlice, { namespace });
      return items.every(({ endpoints: all }) => (all ?? []).length === 0) ? true : undefined;
    });
  });

  inWorld("with a budget say how many may go, and no more can be evicted", async (world) => {
    const { client, namespace } = world;
    const spec = { replicas: 2, selector: { matchLabels: labels }, template: template(world) };
    await client.create(appsV1.Deployment, { metadata: { name: "web", namespace }, spec });
    await eventually("two pods", async () => (ready(await world.pods()).length === 2 ? true : undefined));
    await client.create(policyV1.PodDisruptionBudget, {
      metadata: { name: "b", namespace },
      spec: { maxUnavailable: 0, selector: { matchLabels: labels } },
    });
    const budget = await world.until(policyV1.PodDisruptionBudget, "b", ({ status }) => status?.expectedPods === 2);
    expect(timeless(budget.status)).toEqual({
      observedGeneration: 1,
      currentHealthy: 2,
      desiredHealthy: 2,
      expectedPods: 2,
      disruptionsAllowed: 0,
      conditions: [
        {
          type: "DisruptionAllowed",
          observedGeneration: 1,
          status: "False",
          reason: "InsufficientPods",
          message: "",
          lastTransitionTime: "TIME",
        },
      ],
    });
    const [pod] = await world.pods();
    const name = pod?.metadata.name ?? "";
    const eviction = JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } });
    const evict = () =>
      world.target.http("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
        body: eviction,
        headers: { "content-type": "application/json" },
      });
    expect((await evict()).status).toBe(429);
    await client.patch(
      policyV1.PodDisruptionBudget,
      { namespace, name: "b" },
      { merge: { spec: { maxUnavailable: 1 } } },
    );
    await world.until(policyV1.PodDisruptionBudget, "b", ({ status }) => status?.disruptionsAllowed === 1);
    expect((await evict()).status).toBe(201);
    await eventually("its end", async () => ((await client.find(coreV1.Pod, { namespace, name })) ? undefined : true));
  });
});
