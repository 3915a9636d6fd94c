import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { podInfo, podObject } from "../scheduler/testing/samples.ts";
import { isExtended, isLess, isScalar, podRequests, UNSAID_CPU, UNSAID_MEMORY } from "./resources.ts";

const container = (name: string, requests: Record<string, string>, more: Partial<coreV1.Container> = {}) => ({
  name,
  resources: { requests },
  ...more,
});
const always = { restartPolicy: "Always" };

describe("what a pod asks for", () => {
  it("is the sum of its containers", () => {
    const pod = podObject({
      spec: {
        containers: [
          container("a", { cpu: "700m", memory: "896Mi", "ephemeral-storage": "1Gi" }),
          container("b", { cpu: "1", "example.org/gpu": "2" }),
        ],
      },
    });
    expect(podRequests(pod).requests).toEqual({
      cpu: 1700,
      memory: 896 * 1024 ** 2,
      storage: 1024 ** 3,
      scalars: new Map([["example.org/gpu", 2]]),
    });
  });

  it("is what the largest init container needs, if that is more", () => {
    const containers = [container("main", { cpu: "1", memory: "2Gi" })];
    const initContainers = [container("a", { cpu: "3" }), container("b", { cpu: "2", memory: "1Gi" })];
    expect(podRequests(podObject({ spec: { containers, initContainers } })).requests).toMatchObject({
      cpu: 3000,
      memory: 2 * 1024 ** 3,
    });
  });

  it("counts sidecars beside the containers, and beside init containers that start after them", () => {
    const containers = [container("main", { cpu: "3" })];
    const sidecar = container("sidecar", { cpu: "1" }, always);
    const init = container("init", { cpu: "4" });
    const requests = (...initContainers: coreV1.Container[]) =>
      podRequests(podObject({ spec: { containers, initContainers } })).requests.cpu;
    expect(requests(init, sidecar)).toBe(4000);
    expect(requests(sidecar, init)).toBe(5000);
  });

  it("includes the overhead", () => {
    const spec = { overhead: { cpu: "250m" } };
    expect(podRequests(podObject({ requests: { cpu: "1" }, spec })).requests.cpu).toBe(1250);
  });

  it("is what is said for the pod as a whole, if anything is", () => {
    const spec = { resources: { requests: { cpu: "2" } } };
    const { requests, scoreCpu, nonZeroCpu } = podRequests(
      podObject({ requests: { cpu: "500m", memory: "1Gi" }, spec }),
    );
    expect([requests.cpu, requests.memory, nonZeroCpu]).toEqual([2000, 1024 ** 3, 2000]);
    // Only the score of free resources does not look at it.
    expect(scoreCpu).toBe(500);
  });

  it("counts something for what is not said, where nodes are compared", () => {
    const { requests, nonZeroCpu, nonZeroMemory } = podRequests(
      podObject({ spec: { containers: [container("a", {}), container("b", { cpu: "0" })] } }),
    );
    expect(requests).toMatchObject({ cpu: 0, memory: 0 });
    expect([nonZeroCpu, nonZeroMemory]).toEqual([UNSAID_CPU, 2 * UNSAID_MEMORY]);
  });

  it("is the most of what is wanted and what is given while a container is resized", () => {
    const resources = { requests: { cpu: "3" } };
    const allocatedResources = { cpu: "2" };
    const containerStatuses = [{ name: "main", resources, allocatedResources } as unknown as coreV1.ContainerStatus];
    const sample = { requests: { cpu: "1" }, status: { containerStatuses } };
    expect(podRequests(podObject(sample)).requests.cpu).toBe(3000);
    const conditions = [{ type: "PodResizePending", status: "True", reason: "Infeasible" }];
    const infeasible = { requests: { cpu: "4" }, status: { containerStatuses, conditions } };
    expect(podRequests(podObject(infeasible)).requests.cpu).toBe(3000);
  });
});

it("tells which resources are counted, and which are somebody's own", () => {
  const names = [
    "cpu",
    "example.org/gpu",
    "hugepages-2Mi",
    "kubernetes.io/thing",
    "attachable-volumes-x",
    "requests.a/b",
  ];
  expect(names.filter(isScalar)).toEqual([
    "example.org/gpu",
    "hugepages-2Mi",
    "kubernetes.io/thing",
    "attachable-volumes-x",
  ]);
  expect(names.filter(isExtended)).toEqual(["example.org/gpu"]);
});

it("notices when somebody asks for less of anything", () => {
  const [more, less] = [
    podInfo({ requests: { cpu: "2", "a/b": "2" } }),
    podInfo({ requests: { cpu: "2", "a/b": "1" } }),
  ];
  expect(isLess(less.requests, more.requests)).toBe(true);
  expect(isLess(more.requests, less.requests)).toBe(false);
  expect(isLess(more.requests, more.requests)).toBe(false);
});
