import { describe, expect, it } from "vitest";
import { objectOf, orderFor, problemOf } from "../testing/orders.ts";
import type { RunOrder } from "./application.ts";
import { flink } from "./flink.ts";
import type { FlinkDeployment } from "./flink-deployment.ts";

const render = (spec: object = {}, order: Partial<RunOrder> = {}) => flink.render(orderFor("flinkSpec", spec, order));
const rendered = (spec: object = {}, order: Partial<RunOrder> = {}) => objectOf(render(spec, order)).spec;

describe("a FlinkDeployment", () => {
  it("is what people said, and what Berth adds", () => {
    expect(objectOf(render())).toEqual({
      apiVersion: "flink.apache.org/v1beta1",
      kind: "FlinkDeployment",
      metadata: { namespace: "default", name: "sample-1" },
      spec: {
        image: "flink:1.19",
        flinkVersion: "v1_19",
        mode: "native",
        flinkConfiguration: {
          "taskmanager.numberOfTaskSlots": "1",
          "slotmanager.number-of-slots.min": "3",
          "slotmanager.number-of-slots.max": "3",
        },
        jobManager: { resource: { cpu: 1, memory: "1600m" } },
        taskManager: {
          replicas: 3,
          resource: { cpu: 0.7, memory: "896m" },
          podTemplate: {
            metadata: {
              labels: {
                "berth.dev/testbed": "lab.main",
                "berth.dev/role": "executor",
                "berth.dev/job": "default.sample",
                "berth.dev/run": "1",
              },
              annotations: { "berth.dev/testbed": "lab/main", "berth.dev/job": "default/sample" },
            },
            spec: {
              priorityClassName: "berth-slot",
              schedulingGates: [{ name: "berth.dev/slot" }],
              containers: [{ name: "flink-main-container", resources: { requests: { cpu: "700m", memory: "896Mi" } } }],
            },
          },
        },
        job: {
          jarURI: "local:///opt/flink/examples/batch/WordCount.jar",
          parallelism: 3,
          state: "running",
          upgradeMode: "stateless",
        },
      },
    });
  });

  it("has so many TaskManagers as there are slots, whatever one of them takes", () => {
    const spec = rendered({
      flinkConfiguration: { taskmanager: { numberOfTaskSlots: 4, network: { ports: [1, 2] } }, rest: true },
      taskManager: { replicas: 9 },
      job: { parallelism: 100, upgradeMode: "savepoint", state: "suspended" },
    });
    expect(spec).toMatchObject({
      taskManager: { replicas: 3 },
      job: { parallelism: 12, upgradeMode: "savepoint", state: "running" },
    });
    expect(spec.flinkConfiguration).toEqual({
      "taskmanager.numberOfTaskSlots": "4",
      "taskmanager.network.ports": [1, 2],
      rest: "true",
      "slotmanager.number-of-slots.min": "12",
      "slotmanager.number-of-slots.max": "12",
    });
  });

  it("says all of a template where it counts, and lays nothing over another container", () => {
    const log = { name: "log", resources: { requests: { cpu: "100m", memory: "96Mi" } } };
    const spec = rendered({
      podTemplate: { metadata: { labels: { team: "x" } }, spec: { containers: [log], nodeSelector: { a: "b" } } },
      taskManager: { podTemplate: { spec: { nodeSelector: { disk: "ssd" } } } },
      jobManager: { resource: { cpu: 0.5 }, podTemplate: { spec: { hostNetwork: true } } },
    });
    expect(spec).not.toHaveProperty("podTemplate");
    expect(spec.jobManager).toEqual({
      resource: { cpu: 0.5, memory: "1600m" },
      podTemplate: {
        metadata: { labels: { team: "x" } },
        spec: { containers: [log], nodeSelector: { a: "b" }, hostNetwork: true },
      },
    });
    expect(spec.taskManager).toMatchObject({
      resource: { cpu: 0.6, memory: "800m" },
      podTemplate: {
        metadata: { labels: { team: "x", "berth.dev/role": "executor" } },
        spec: {
          containers: [
            { name: "flink-main-container", resources: { requests: { cpu: "600m", memory: "800Mi" } } },
            log,
          ],
          nodeSelector: { a: "b", disk: "ssd" },
        },
      },
    });
  });

  it.each([
    [false, [{ name: "a", image: "2", tty: true }]],
    [
      true,
      [
        { name: "b", image: "1" },
        { name: "a", image: "2", tty: true },
      ],
    ],
  ])("merges lists of templates as the operator does; by names: %s", (byName, others) => {
    const containers = byName
      ? [
          { name: "b", image: "1" },
          { name: "a", tty: true },
        ]
      : [{ name: "b", tty: true }];
    const spec = rendered({
      flinkConfiguration: { "kubernetes.operator.pod-template.merge-arrays-by-name": byName },
      podTemplate: { spec: { containers } },
      taskManager: { podTemplate: { spec: { containers: [{ name: "a", image: "2" }] } } },
    });
    expect(spec.taskManager.podTemplate.spec.containers.slice(1)).toEqual(others);
  });

  it("leaves the JobManager's memory to whoever has configured it", () => {
    const spec = rendered({ flinkConfiguration: { "jobmanager.memory.process.size": "2g" } });
    expect(spec.jobManager.resource).toEqual({ cpu: 1 });
  });

  it("gets all devices of its slot", () => {
    const device = {
      "external-resource.gpu.kubernetes.config-key": "nvidia.com/gpu",
      "external-resource.gpu.amount": 1,
    };
    const resources = { cpu: "1", memory: "1Gi", "nvidia.com/gpu": "2" };
    const spec = rendered({ flinkConfiguration: device }, { resources });
    expect(spec.flinkConfiguration["external-resource.gpu.amount"]).toBe("2");
    expect(spec.taskManager.podTemplate.spec.containers[0]?.resources?.limits).toEqual({ "nvidia.com/gpu": "2" });
  });
});

describe("what cannot be", () => {
  it.each<[title: string, spec: object, code: string, says: string]>([
    ["no version", { flinkVersion: undefined }, "INVALID", "flinkSpec.flinkVersion must be given"],
    ["a session cluster", { job: undefined }, "INVALID", "flinkSpec.job must be given"],
    ["another mode", { mode: "standalone" }, "INVALID", 'flinkSpec.mode must be "native"'],
    ["an autoscaler", { flinkConfiguration: { job: { autoscaler: { enabled: true } } } }, "INVALID", "must be off"],
    ["no tasks", { flinkConfiguration: { "taskmanager.numberOfTaskSlots": 0 } }, "INVALID", "a whole number from 1 on"],
    ["nonsense", { taskManager: [] }, "INVALID", "flinkSpec.taskManager must be an object, not []"],
    [
      "too many CPUs",
      { taskManager: { resource: { cpu: 1 } } },
      "TOO_LARGE",
      "resource.cpu asks for 1 of cpu, but a slot has 700m",
    ],
    [
      "too much memory",
      { taskManager: { resource: { memory: "1 gb" } } },
      "TOO_LARGE",
      "asks for 1Gi of memory, but a slot has 896Mi",
    ],
    [
      "too much memory in mebibytes",
      { taskManager: { resource: { memory: "1024m" } } },
      "TOO_LARGE",
      "asks for 1Gi of memory",
    ],
    [
      "memory as Kubernetes writes it",
      { taskManager: { resource: { memory: "1Gi" } } },
      "TOO_LARGE",
      "asks for 1Gi of memory",
    ],
    [
      "storage",
      { taskManager: { resource: { ephemeralStorage: "1Gi" } } },
      "TOO_LARGE",
      "asks for 1Gi of ephemeral-storage",
    ],
  ])("%s", (_title, spec, code, says) => {
    expect(problemOf(render(spec))).toEqual({
      code: `BERTH_APPLICATION_${code}`,
      message: expect.stringContaining(says),
    });
  });

  it.each([
    ["memory", { cpu: "1", memory: "1G" }, "whole mebibytes"],
    ["a CPU", { cpu: "100u", memory: "1Gi" }, "whole thousandths"],
  ])("a slot with a fraction of %s", (_title, resources, says) => {
    expect(problemOf(render({}, { resources }))?.message).toContain(says);
  });
});

describe("how it stands", () => {
  const observe = (state?: string, status: object = {}) =>
    flink.observe({
      metadata: {},
      status: {
        jobStatus: { ...(state !== undefined && { state }), startTime: "1767225600000", updateTime: "1767226200000" },
        lifecycleState: "STABLE",
        jobManagerDeploymentStatus: "READY",
        ...status,
      },
    } as FlinkDeployment);

  it("is pending before anybody has looked at it", () => {
    expect(flink.observe({ metadata: {} } as FlinkDeployment)).toEqual({ phase: "pending" });
  });

  it.each([
    [undefined, "pending"],
    ["INITIALIZING", "pending"],
    ["CREATED", "pending"],
    ["RECONCILING", "pending"],
    ["SUSPENDED", "pending"],
    ["RUNNING", "running"],
    ["RESTARTING", "running"],
    ["FAILING", "running"],
    ["CANCELLING", "running"],
    ["FINISHED", "completed"],
    ["FAILED", "failed"],
    ["CANCELED", "failed"],
    ["NEW", "pending"],
  ])("%s is %s", (state, phase) => {
    expect(observe(state).phase).toBe(phase);
  });

  it("does not take an interruption for the end", () => {
    for (const lifecycleState of ["SUSPENDED", "UPGRADING", "ROLLING_BACK"]) {
      expect(observe("FINISHED", { lifecycleState })).toEqual({ phase: "pending", message: lifecycleState });
    }
  });

  it("has ended although its JobManager is gone or it is being deleted", () => {
    expect(observe("FINISHED", { jobManagerDeploymentStatus: "MISSING" }).phase).toBe("completed");
    expect(observe("FINISHED", { lifecycleState: "DELETING" }).phase).toBe("completed");
  });

  it("tells when, and why", () => {
    const times = { startTime: "2026-01-01T00:00:00Z", endTime: "2026-01-01T00:10:00Z" };
    expect(observe("FINISHED")).toEqual({ phase: "completed", ...times });
    expect(observe("RUNNING")).toEqual({ phase: "running", startTime: times.startTime });
    expect(observe("NEW").message).toBe('the operator says "NEW", which Berth does not know');
    const error = JSON.stringify({ type: "x", message: "no such jar" });
    expect(observe("FAILED", { error })).toEqual({ phase: "failed", message: "no such jar", ...times });
    expect(observe(undefined, { error, lifecycleState: "FAILED" })).toMatchObject({
      phase: "failed",
      message: "no such jar",
    });
    expect(observe("RECONCILING", { error: "null", jobManagerDeploymentStatus: "ERROR" })).toMatchObject({
      phase: "failed",
      message: "null",
    });
  });
});

describe("its executors", () => {
  it.each<[Record<string, string>, boolean]>([
    [{ component: "taskmanager", "berth.dev/role": "executor" }, true],
    [{ component: "jobmanager", "berth.dev/role": "executor" }, false],
    [{ component: "taskmanager" }, false],
  ])("are known by their labels: %j", (labels, expected) => {
    expect(flink.isExecutor({ metadata: { labels } })).toBe(expected);
  });
});
