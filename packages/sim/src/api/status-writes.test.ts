import { coreV1, type Kind, type KubernetesObject, SeededRandom, VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { builtinResources } from "../kinds/builtin.ts";
import { ApiServer } from "./api-server.ts";
import { LocalApi } from "./local-api.ts";

function local(): LocalApi {
  const server = new ApiServer({ clock: new VirtualClock(), random: new SeededRandom("same") });
  for (const resource of builtinResources()) server.resources.add(resource);
  return new LocalApi(server, "test");
}

const pod: coreV1.Pod = {
  metadata: { name: "x", namespace: "n", labels: { a: "b" }, annotations: { c: "d" } },
  spec: { containers: [{ name: "main", image: "i", resources: { limits: { cpu: "0.5" } } }], nodeName: "m" },
};
const node: coreV1.Node = { metadata: { name: "x" }, spec: { podCIDR: "10.0.0.0/24" } };
const service: coreV1.Service = {
  metadata: { name: "x", namespace: "n" },
  spec: { type: "LoadBalancer", ports: [{ port: 80 }], clusterIP: "10.96.0.9" },
};

const writes: [title: string, kind: Kind<never>, object: KubernetesObject, status: object][] = [
  ["a pod", coreV1.Pod as Kind<never>, pod, { phase: "Running", podIP: "10.0.0.1", containerStatuses: [] }],
  ["a pod, fields that nobody knows", coreV1.Pod as Kind<never>, pod, { phase: "Failed", nonsense: 1 }],
  ["a node, whose capacity is completed", coreV1.Node as Kind<never>, node, { capacity: { cpu: "1000m", pods: "3" } }],
  ["a service", coreV1.Service as Kind<never>, service, { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } }],
];

describe("the status of an object that is sent back as it was read", () => {
  it.each(writes)("is understood as that of one that was written anew: %s", (_title, kind, object, status) => {
    const results = [
      (stored: KubernetesObject) => ({ ...stored, status }),
      (stored: KubernetesObject) => ({ ...JSON.parse(JSON.stringify(stored)), status }),
    ].map((changed) => {
      const api = local();
      const stored = api.create(kind, object as never) as KubernetesObject;
      return api.updateStatus(kind, changed(stored) as never);
    });
    expect(results[0]).toEqual(results[1]);
    expect(results[0]).toHaveProperty("status");
  });

  it("does not share what its writer may still change", () => {
    const api = local();
    const stored = api.create(coreV1.Pod, pod);
    const status = { phase: "Running" as const, conditions: [{ type: "Ready", status: "True" as const }] };
    api.updateStatus(coreV1.Pod, { ...stored, status });
    status.conditions.length = 0;
    expect(api.get(coreV1.Pod, { namespace: "n", name: "x" })?.status?.conditions).toHaveLength(1);
  });

  it("is refused if the object has changed meanwhile", () => {
    const api = local();
    const stored = api.create(coreV1.Pod, pod);
    api.updateStatus(coreV1.Pod, { ...stored, status: { phase: "Running" } });
    expect(() => api.updateStatus(coreV1.Pod, { ...stored, status: { phase: "Failed" } })).toThrow(/modified/);
  });

  it("leaves everything else as it was", () => {
    const api = local();
    const stored = api.create(coreV1.Pod, pod);
    const after = api.updateStatus(coreV1.Pod, { ...stored, status: { phase: "Running" } });
    expect(after.spec).toBe(stored.spec);
    expect(after.metadata).toEqual({ ...stored.metadata, resourceVersion: after.metadata.resourceVersion });
  });
});
