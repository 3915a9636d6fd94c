import { coreV1, discoveryV1, policyV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Kubelet } from "../kubelet/kubelet.ts";
import { DisruptionBudgetController } from "./disruption-budget.ts";
import { EventExpiry } from "./event-expiry.ts";
import { Recorder } from "./recorder.ts";
import { ResourceQuotaController } from "./resource-quota.ts";
import { EndpointController } from "./service/endpoint-controller.ts";
import { pod, testCluster } from "./testing/cluster.ts";

function world() {
  const cluster = testCluster();
  const kubelet = cluster.start(new Kubelet(cluster.surroundings("kubelet")));
  cluster.start(new EndpointController(cluster.surroundings("endpoints")));
  cluster.start(new DisruptionBudgetController(cluster.surroundings("budgets")));
  cluster.start(new ResourceQuotaController(cluster.surroundings("quotas")));
  kubelet.addNode({ name: "n1", labels: { "topology.kubernetes.io/zone": "z1" } });
  const { api } = cluster;
  const create = (name: string, spec: Partial<coreV1.PodSpec> = {}, labels: Record<string, string> = { app: "web" }) =>
    api.create(coreV1.Pod, pod(name, { nodeName: "n1", restartPolicy: "Always", ...spec }, { labels }));
  return { ...cluster, create };
}

describe("a Service", () => {
  const service = ({ api }: ReturnType<typeof world>) =>
    api.create(coreV1.Service, {
      metadata: { name: "web", namespace: "default", labels: { l: "m" } },
      spec: {
        selector: { app: "web" },
        ports: [{ name: "http", port: 80, targetPort: "http" }],
        clusterIP: "10.96.0.9",
      },
    });
  const serving = { containers: [{ name: "c", image: "x", ports: [{ name: "http", containerPort: 8080 }] }] };
  const slices = ({ api }: ReturnType<typeof world>) => api.list(discoveryV1.EndpointSlice, "default");

  it("lists its pods, ready or not, as long as they can be reached", async () => {
    const cluster = world();
    const { clock, api, create, failures } = cluster;
    create("before", serving);
    service(cluster);
    create("after", serving);
    create("other", serving, { app: "db" });
    await clock.settle();
    expect(slices(cluster)).toHaveLength(1);
    const [slice] = slices(cluster);
    expect(slice).toMatchObject({
      addressType: "IPv4",
      metadata: {
        labels: {
          l: "m",
          "kubernetes.io/service-name": "web",
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        },
        ownerReferences: [{ kind: "Service", name: "web" }],
      },
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    });
    expect(slice?.endpoints?.map(({ targetRef }) => targetRef?.name)).toEqual(["before", "after"]);
    expect(slice?.endpoints?.[0]).toMatchObject({
      addresses: ["10.128.0.2"],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "n1",
      zone: "z1",
    });
    const endpoints = api.get(coreV1.Endpoints, { namespace: "default", name: "web" });
    expect(endpoints?.subsets?.[0]?.addresses).toHaveLength(2);
    api.delete(coreV1.Pod, { namespace: "default", name: "before" });
    await clock.settle();
    expect(slices(cluster)[0]?.endpoints?.map(({ targetRef }) => targetRef?.name)).toEqual(["after"]);
    api.patch(coreV1.Pod, { namespace: "default", name: "after" }, { metadata: { labels: { app: "db" } } });
    await clock.settle();
    expect(slices(cluster)[0]?.endpoints ?? []).toEqual([]);
    expect(failures).toEqual([]);
  });

  it("with many pods has several lists", async () => {
    const cluster = world();
    const { clock, create, api } = cluster;
    api.patch(coreV1.Node, { name: "n1" }, { status: { allocatable: { pods: "1000" } } }, "status");
    service(cluster);
    for (let index = 0; index < 205; index++) create(`p${index}`, serving);
    await clock.settle();
    expect(
      slices(cluster)
        .map(({ endpoints }) => endpoints?.length ?? 0)
        .toSorted(),
    ).toEqual([100, 100, 5]);
  });
});

describe("a disruption budget", () => {
  const budget = ({ api }: ReturnType<typeof world>, spec: policyV1.PodDisruptionBudgetSpec) =>
    api.create(policyV1.PodDisruptionBudget, {
      metadata: { name: "b", namespace: "default" },
      spec: { selector: { matchLabels: { app: "web" } }, ...spec },
    });
  const status = ({ api }: ReturnType<typeof world>) =>
    api.get(policyV1.PodDisruptionBudget, { namespace: "default", name: "b" })?.status;

  it("says how many pods may go", async () => {
    const cluster = world();
    const { clock, create, api } = cluster;
    budget(cluster, { minAvailable: 2 });
    await clock.settle();
    expect(status(cluster)).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0, desiredHealthy: 2 });
    for (const name of ["a", "b", "c"]) create(name);
    await clock.settle();
    expect(status(cluster)).toMatchObject({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
      conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }],
    });
    api.delete(coreV1.Pod, { namespace: "default", name: "a" });
    await clock.settle();
    expect(status(cluster)).toMatchObject({
      currentHealthy: 2,
      disruptionsAllowed: 0,
      conditions: [{ status: "False", reason: "InsufficientPods" }],
    });
  });
});

describe("a quota", () => {
  it("says how much is used", async () => {
    const { clock, api, create } = world();
    api.create(coreV1.ResourceQuota, {
      metadata: { name: "q", namespace: "default" },
      spec: { hard: { pods: "10", "requests.cpu": "4", "requests.memory": "8Gi", "count/configmaps": "5" } },
    });
    const asking = { requests: { cpu: "500m", memory: "1Gi" } };
    for (const name of ["a", "b"]) create(name, { containers: [{ name: "c", image: "x", resources: asking }] });
    api.create(coreV1.ConfigMap, { metadata: { name: "c", namespace: "default" } });
    await clock.settle();
    const used = () => api.get(coreV1.ResourceQuota, { namespace: "default", name: "q" })?.status?.used;
    expect(used()).toEqual({ pods: "2", "requests.cpu": "1", "requests.memory": "2Gi", "count/configmaps": "1" });
    api.delete(coreV1.Pod, { namespace: "default", name: "a" });
    await clock.settle();
    expect(used()).toMatchObject({ pods: "1", "requests.cpu": "500m" });
  });
});

describe("events", () => {
  it("go an hour after they were last written", async () => {
    const { clock, api, ...cluster } = testCluster();
    cluster.start(new EventExpiry(cluster.surroundings("expiry")));
    const recorder = new Recorder(cluster.surroundings("x"), "tester");
    const about = api.create(coreV1.Pod, pod("a"));
    const reasons = () => api.list(coreV1.Event, "default").map(({ reason }) => reason);
    recorder.tell(about, { reason: "Once", message: "m" });
    recorder.tell(about, { reason: "Twice", message: "m" });
    await clock.advance(1_800_000);
    recorder.tell(about, { reason: "Twice", message: "m" });
    await clock.advance(1_799_999);
    expect(reasons()).toEqual(["Once", "Twice"]);
    await clock.advance(1);
    expect(reasons()).toEqual(["Twice"]);
    await clock.advance(1_800_000);
    expect(reasons()).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
