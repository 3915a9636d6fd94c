/** What namespaces come with, and how they go. */
import { coreV1, isForbidden } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import { eventually, timeless } from "./workload-world.ts";

export const namespaces = suite("namespaces", (it, target) => {
  it("are there from the beginning", async () => {
    const { items } = await target().client.list(coreV1.Namespace);
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(["default", "kube-node-lease", "kube-public", "kube-system"]));
    const service = await target().client.get(coreV1.Service, { namespace: "default", name: "kubernetes" });
    expect(service.metadata.labels).toEqual({ component: "apiserver", provider: "kubernetes" });
    const { clusterIP, ports, type } = service.spec ?? {};
    expect({ clusterIP, type }).toEqual({ clusterIP: "10.96.0.1", type: "ClusterIP" });
    expect(ports).toMatchObject([{ name: "https", port: 443, protocol: "TCP" }]);
  });

  it("have an account and a certificate, which come back", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    const account = { namespace, name: "default" };
    const certificate = { namespace, name: "kube-root-ca.crt" };
    const find = () => client.find(coreV1.ConfigMap, certificate);
    const present = await eventually("a certificate", find);
    expect(Object.keys(present.data ?? {})).toEqual(["ca.crt"]);
    const before = await client.get(coreV1.ServiceAccount, account);
    await client.delete(coreV1.ServiceAccount, account);
    await client.delete(coreV1.ConfigMap, certificate);
    await eventually("another account", async () => {
      const found = await client.find(coreV1.ServiceAccount, account);
      return found && found.metadata.uid !== before.metadata.uid ? found : undefined;
    });
    await eventually("another certificate", find);
  });

  it("go with everything in them", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    await client.create(coreV1.ConfigMap, { metadata: { namespace, name: "a" } });
    await client.create(coreV1.Secret, { metadata: { namespace, name: "b" } });
    const spec = { containers: [{ name: "c", image: "x" }], schedulingGates: [{ name: "conformance.berth.dev/gate" }] };
    await client.create(coreV1.Pod, { metadata: { namespace, name: "c" }, spec });
    await client.delete(coreV1.Namespace, { name: namespace });
    await eventually("its end", async () => {
      return (await client.find(coreV1.Namespace, { name: namespace })) ? undefined : true;
    });
    expect((await client.list(coreV1.ConfigMap, { namespace })).items).toEqual([]);
  });

  it("that are to go take nothing in, and say what they wait for", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    await eventually("a certificate", () => client.find(coreV1.ConfigMap, { namespace, name: "kube-root-ca.crt" }));
    const finalizers = ["conformance.berth.dev/held"];
    await client.create(coreV1.ConfigMap, { metadata: { namespace, name: "held", finalizers } });
    await client.delete(coreV1.Namespace, { name: namespace });
    const waiting = await eventually("what it waits for", async () => {
      const found = await client.get(coreV1.Namespace, { name: namespace });
      const isSaid = found.status?.conditions?.some(
        ({ type, status }) => type === "NamespaceFinalizersRemaining" && status === "True",
      );
      return isSaid ? found : undefined;
    });
    expect(waiting.status?.phase).toBe("Terminating");
    expect(waiting.spec?.finalizers).toEqual(["kubernetes"]);
    const condition = (type: string, status: string, reason: string, message: string) => ({
      ...{ type, status, reason, message, lastTransitionTime: "TIME" },
    });
    expect(timeless(waiting.status?.conditions)).toEqual([
      condition(
        "NamespaceDeletionDiscoveryFailure",
        "False",
        "ResourcesDiscovered",
        "All resources successfully discovered",
      ),
      condition(
        "NamespaceDeletionGroupVersionParsingFailure",
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
      ),
      condition(
        "NamespaceDeletionContentFailure",
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
      ),
      condition(
        "NamespaceContentRemaining",
        "True",
        "SomeResourcesRemain",
        "Some resources are remaining: configmaps. has 1 resource instances",
      ),
      condition(
        "NamespaceFinalizersRemaining",
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: conformance.berth.dev/held in 1 resource instances",
      ),
    ]);
    const late = client.create(coreV1.ConfigMap, { metadata: { namespace, name: "late" } });
    const refusal = await late.catch((error: unknown) => error);
    expect(isForbidden(refusal)).toBe(true);
    expect(String(refusal)).toContain(`because it is being terminated`);
    await client.patch(coreV1.ConfigMap, { namespace, name: "held" }, { merge: { metadata: { finalizers: null } } });
    await eventually("its end", async () => {
      return (await client.find(coreV1.Namespace, { name: namespace })) ? undefined : true;
    });
  });
});
