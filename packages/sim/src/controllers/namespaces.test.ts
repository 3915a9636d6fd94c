import { batchV1, coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Bootstrap } from "./bootstrap.ts";
import { NamespaceContents } from "./namespace-contents.ts";
import { conditionsOf, NamespaceDeletion } from "./namespace-deletion.ts";
import { testCluster } from "./testing/cluster.ts";

function world() {
  const cluster = testCluster();
  cluster.start(new NamespaceContents(cluster.surroundings("contents"), { rootCertificate: "PEM" }));
  cluster.start(new NamespaceDeletion(cluster.surroundings("deletion")));
  cluster.start(new Bootstrap(cluster.surroundings("bootstrap")));
  const get = (name: string) => cluster.api.get(coreV1.Namespace, { name });
  return { ...cluster, get };
}

describe("a cluster", () => {
  it("has Kubernetes' own namespaces, and the service by which pods find the API", async () => {
    const { clock, api } = world();
    await clock.settle();
    expect(api.list(coreV1.Namespace).map(({ metadata }) => metadata.name)).toEqual([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ]);
    expect(api.get(coreV1.Service, { namespace: "default", name: "kubernetes" })?.spec?.clusterIP).toBe("10.96.0.1");
  });
});

describe("a namespace", () => {
  it("has an account and a certificate, whatever becomes of them", async () => {
    const { clock, api } = world();
    api.create(coreV1.Namespace, { metadata: { name: "mine" } });
    await clock.settle();
    const account = { namespace: "mine", name: "default" };
    const certificate = { namespace: "mine", name: "kube-root-ca.crt" };
    expect(api.get(coreV1.ConfigMap, certificate)?.data).toEqual({ "ca.crt": "PEM" });
    api.delete(coreV1.ServiceAccount, account);
    api.patch(coreV1.ConfigMap, certificate, { data: { "ca.crt": "other" } });
    await clock.settle();
    expect(api.get(coreV1.ServiceAccount, account)).toBeDefined();
    expect(api.get(coreV1.ConfigMap, certificate)?.data).toEqual({ "ca.crt": "PEM" });
  });

  it("goes with everything in it", async () => {
    const { clock, api, get, failures } = world();
    api.create(coreV1.Namespace, { metadata: { name: "mine" } });
    api.create(coreV1.ConfigMap, { metadata: { namespace: "mine", name: "a" } });
    api.create(coreV1.ConfigMap, { metadata: { namespace: "default", name: "b" } });
    await clock.settle();
    api.delete(coreV1.Namespace, { name: "mine" });
    expect(get("mine")?.status?.phase).toBe("Terminating");
    await clock.settle();
    expect(get("mine")).toBeUndefined();
    expect(api.list(coreV1.ConfigMap, "mine")).toEqual([]);
    expect(api.get(coreV1.ConfigMap, { namespace: "default", name: "b" })).toBeDefined();
    expect(failures).toEqual([]);
  });

  it("waits for what is held, and says so", async () => {
    const { clock, api, get } = world();
    api.create(coreV1.Namespace, { metadata: { name: "mine" } });
    const held = api.create(coreV1.ConfigMap, {
      metadata: { namespace: "mine", name: "a", finalizers: ["example.org/f"] },
    });
    api.delete(coreV1.Namespace, { name: "mine" });
    await clock.settle();
    const conditions = get("mine")?.status?.conditions?.filter(({ status }) => status === "True");
    expect(conditions?.map(({ type, reason, message }) => [type, reason, message])).toEqual([
      [
        "NamespaceContentRemaining",
        "SomeResourcesRemain",
        "Some resources are remaining: configmaps. has 1 resource instances",
      ],
      [
        "NamespaceFinalizersRemaining",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: example.org/f in 1 resource instances",
      ],
    ]);
    const present = api.get(coreV1.ConfigMap, { namespace: "mine", name: "a" }) as coreV1.ConfigMap;
    api.update(coreV1.ConfigMap, { ...present, metadata: { ...present.metadata, finalizers: [] } });
    await clock.settle();
    expect(get("mine")).toBeUndefined();
    void held;
  });

  it("is left by its pods first", async () => {
    const { clock, api, get } = world();
    api.create(coreV1.Namespace, { metadata: { name: "mine" } });
    const spec = { containers: [{ name: "c", image: "x" }], nodeName: "n1" };
    api.create(coreV1.Pod, { metadata: { namespace: "mine", name: "p" }, spec });
    api.create(coreV1.ConfigMap, { metadata: { namespace: "mine", name: "a" } });
    api.delete(coreV1.Namespace, { name: "mine" });
    await clock.settle();
    expect(api.get(coreV1.Pod, { namespace: "mine", name: "p" })?.metadata.deletionTimestamp).toBeDefined();
    expect(api.get(coreV1.ConfigMap, { namespace: "mine", name: "a" })).toBeDefined();
    api.delete(coreV1.Pod, { namespace: "mine", name: "p" }, { gracePeriodSeconds: 0 });
    await clock.settle();
    expect(get("mine")).toBeUndefined();
  });

  it("is asked of every kind once", async () => {
    const { clock, api, get } = world();
    api.create(coreV1.Namespace, { metadata: { name: "mine" } });
    const template = { spec: { containers: [{ name: "c", image: "x" }], restartPolicy: "Never" as const } };
    api.create(batchV1.Job, { metadata: { namespace: "mine", name: "j" }, spec: { template } });
    api.delete(coreV1.Namespace, { name: "mine" });
    await clock.settle();
    expect(get("mine")).toBeUndefined();
    expect(api.list(batchV1.Job, "mine")).toEqual([]);
  });
});

describe("conditionsOf", () => {
  it("keeps the time of the last change, and others' conditions", () => {
    const nothing = { resources: new Map<string, number>(), finalizers: new Map<string, number>(), problems: [] };
    const other = { type: "Other", status: "True" };
    const first = conditionsOf([other], { ...nothing, resources: new Map([["pods.", 2]]) }, "T1");
    const second = conditionsOf(first, { ...nothing, resources: new Map([["pods.", 1]]) }, "T2");
    const third = conditionsOf(second, nothing, "T3");
    const of = (conditions: readonly coreV1.NamespaceCondition[]) =>
      conditions.find(({ type }) => type === "NamespaceContentRemaining");
    expect([of(first), of(second), of(third)].map((each) => each?.lastTransitionTime)).toEqual(["T1", "T1", "T3"]);
    expect(third[0]).toEqual(other);
    expect(third).toHaveLength(6);
  });
});
