import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { HostPort } from "../placement/host-ports.ts";
import { amountsOf, nothing, podRequests } from "../placement/resources.ts";
import { rejection } from "./admission.ts";

const node: coreV1.Node = {
  metadata: { name: "n1", labels: { zone: "a", cpus: "8" } },
  status: { allocatable: { cpu: "8", memory: "32Gi", pods: "110", "example.org/gpu": "1" } },
};
const pod = (spec: Partial<coreV1.PodSpec> = {}, requests: Record<string, string> = {}): coreV1.Pod => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", resources: { requests } }], ...spec },
});
interface Used {
  readonly cpu?: number;
  readonly pods?: number;
  readonly ports?: readonly HostPort[];
}
const reject = (given: coreV1.Pod, { cpu = 0, pods = 0, ports = [] }: Used = {}, on: coreV1.Node = node) =>
  rejection(given, podRequests(given).requests, on, {
    allocatable: amountsOf(on.status?.allocatable),
    used: { ...nothing(), cpu },
    pods,
    ports,
  });

describe("rejection", () => {
  it("takes what fits, to the last thousandth", () => {
    expect(reject(pod({}, { cpu: "1500m", memory: "2Gi" }), { cpu: 6500 })).toBeUndefined();
    expect(reject(pod({}, { cpu: "1501m" }), { cpu: 6500 })).toEqual({
      reason: "OutOfcpu",
      message: "Node didn't have enough resource: cpu, requested: 1501, used: 6500, capacity: 8000",
    });
  });

  it("words each lack as the real one does", () => {
    expect(reject(pod({}, { memory: "33Gi" }))?.reason).toBe("OutOfmemory");
    expect(reject(pod(), { pods: 110 })).toMatchObject({
      reason: "OutOfpods",
      message: "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110",
    });
    expect(reject(pod({}, { "example.org/gpu": "2" }))?.reason).toBe("OutOfexample.org/gpu");
    expect(reject(pod({}, { "ephemeral-storage": "1Gi" }))?.reason).toBe("OutOfephemeral-storage");
    // What no node has is not the node's to give.
    expect(reject(pod({}, { "example.org/other": "2" }))).toBeUndefined();
  });

  it("refuses pods that belong elsewhere, or whose port is taken", () => {
    expect(reject(pod({ nodeSelector: { zone: "b" } }))).toEqual({
      reason: "NodeAffinity",
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    });
    const web = pod({ containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 8080 }] }] });
    const port = (protocol: string, ip: string) => ({ protocol, ip, port: 8080 });
    expect(reject(web)).toBeUndefined();
    expect(reject(web, { ports: [port("TCP", "0.0.0.0")] })?.reason).toBe("NodePorts");
    expect(reject(web, { ports: [port("TCP", "10.0.0.1")] })?.reason).toBe("NodePorts");
    expect(reject(web, { ports: [port("UDP", "0.0.0.0")] })).toBeUndefined();
    expect(reject(pod({ os: { name: "windows" } }))?.reason).toBe("PodOSNotSupported");
  });

  it("refuses pods that would have to leave at once", () => {
    const tainted = { ...node, spec: { taints: [{ key: "a", effect: "NoExecute" as const }] } };
    expect(reject(pod(), {}, tainted)?.reason).toBe("TaintToleration");
    expect(reject(pod({ tolerations: [{ key: "a", operator: "Exists" }] }), {}, tainted)).toBeUndefined();
    const warned = { ...node, spec: { taints: [{ key: "a", effect: "NoSchedule" as const }] } };
    expect(reject(pod(), {}, warned)).toBeUndefined();
  });
});
