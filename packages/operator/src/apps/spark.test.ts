import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { objectOf, orderFor, problemOf } from "../testing/orders.ts";
import type { RunOrder } from "./application.ts";
import { spark } from "./spark.ts";
import type { SparkApplication } from "./spark-application.ts";

const render = (spec: object = {}, order: Partial<RunOrder> = {}) => spark.render(orderFor("sparkSpec", spec, order));
const rendered = (spec: object = {}, order: Partial<RunOrder> = {}) => objectOf(render(spec, order)).spec;
const executorOf = (executor: object, order: Partial<RunOrder> = {}) => rendered({ executor }, order).executor;

describe("a SparkApplication", () => {
  it("is what people said, and what Berth adds", () => {
    expect(objectOf(render())).toEqual({
      apiVersion: "sparkoperator.k8s.io/v1beta2",
      kind: "SparkApplication",
      metadata: { namespace: "default", name: "sample-1" },
      spec: {
        type: "Scala",
        sparkVersion: "3.5.6",
        image: "spark:3.5.6",
        mainClass: "org.apache.spark.examples.SparkPi",
        mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
        mode: "cluster",
        restartPolicy: { type: "Never" },
        sparkConf: { "spark.dynamicAllocation.enabled": "false", "spark.kubernetes.allocation.batch.size": "3" },
        driver: {},
        executor: {
          instances: 3,
          cores: 1,
          coreRequest: "700m",
          memory: "512m",
          memoryOverhead: "384m",
          deleteOnTermination: true,
          labels: expect.objectContaining({ "berth.dev/role": "executor" }),
          annotations: { "berth.dev/testbed": "lab/main", "berth.dev/job": "default/sample" },
          priorityClassName: "berth-slot",
          template: {
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
              containers: [
                {
                  name: "spark-kubernetes-executor",
                  resources: { requests: { cpu: "700m", memory: "896Mi" } },
                },
              ],
            },
          },
        },
      },
    });
  });

  it("keeps what people said elsewhere", () => {
    const env = [{ name: "A", value: "b" }];
    const template = {
      metadata: { labels: { team: "x" } },
      spec: {
        nodeSelector: { disk: "ssd" },
        priority: 7,
        schedulingGates: [{ name: "example.org/quota" }],
        tolerations: [{ key: "a" }],
        containers: [
          { name: "log" },
          { name: "spark-kubernetes-executor", env, resources: { requests: { memory: "9Gi" } } },
        ],
      },
    };
    const toleration = { key: "example.org/slots", operator: "Exists" as const };
    const { template: made, ...executor } = executorOf(
      { template, deleteOnTermination: false, affinity: { a: 1 }, labels: { other: "y" }, priorityClassName: "low" },
      { tolerations: [toleration, { key: "a", operator: "Equal" }] },
    );
    expect(executor).toMatchObject({
      deleteOnTermination: false,
      affinity: { a: 1 },
      labels: { other: "y", "berth.dev/run": "1" },
      priorityClassName: "berth-slot",
    });
    expect(made).toMatchObject({
      metadata: { labels: { team: "x", "berth.dev/role": "executor" } },
      spec: {
        nodeSelector: { disk: "ssd" },
        schedulingGates: [{ name: "example.org/quota" }, { name: "berth.dev/slot" }],
        tolerations: [{ key: "a" }, toleration],
        containers: [{ name: "log" }, { name: "spark-kubernetes-executor", env }],
      },
    });
    expect(made.spec).not.toHaveProperty("priority");
  });

  it("is not to be restarted, suspended or removed by its operator", () => {
    const spec = rendered({ restartPolicy: { type: "Always" }, suspend: true, timeToLiveSeconds: 5, mode: "cluster" });
    expect(spec.restartPolicy).toEqual({ type: "Never" });
    expect(spec).not.toHaveProperty("suspend");
    expect(spec).not.toHaveProperty("timeToLiveSeconds");
  });

  it("names a second scheduler in all three places where it could be overwritten", () => {
    const placement = { type: "extender", schedulerName: "berth" } as const;
    const { sparkConf, executor } = rendered({ executor: { schedulerName: "other" } }, { placement });
    expect(sparkConf["spark.kubernetes.executor.scheduler.name"]).toBe("berth");
    expect(executor.schedulerName).toBe("berth");
    expect(executor.template.spec).toMatchObject({ schedulerName: "berth" });
  });
});

describe("an executor", () => {
  it.each<[cpu: string, executor: object, conf: Record<string, unknown>, cores: number]>([
    ["700m", {}, {}, 1],
    ["2500m", {}, {}, 2],
    ["700m", { cores: 4 }, { "spark.executor.cores": "3" }, 4],
    ["700m", {}, { "spark.executor.cores": 3 }, 3],
  ])("with %s, %j and %j runs %4$d tasks at a time", (cpu, executor, sparkConf, cores) => {
    const made = rendered({ executor, sparkConf }, { resources: { cpu, memory: "1Gi" } });
    expect(made.executor).toMatchObject({ cores, coreRequest: cpu });
  });

  it.each<[title: string, spec: object, memory: string, overhead: string]>([
    ["Python needs more beside the heap", { type: "Python" }, "1463m", "585m"],
    ["a factor", { memoryOverheadFactor: "0.5" }, "1365m", "683m"],
    [
      "a factor of Spark's own",
      { memoryOverheadFactor: "0.5", sparkConf: { "spark.executor.memoryOverheadFactor": 1 } },
      "1024m",
      "1024m",
    ],
    ["an overhead", { executor: { memoryOverhead: "1g" } }, "1024m", "1024m"],
    ["an overhead in the configuration", { sparkConf: { "spark.executor.memoryOverhead": "1000" } }, "1048m", "1000m"],
    ["a heap", { executor: { memory: "1g" } }, "1024m", "1024m"],
    [
      "off-heap memory",
      { sparkConf: { "spark.memory.offHeap.enabled": true, "spark.memory.offHeap.size": "536870912" } },
      "1152m",
      "384m",
    ],
    ["off-heap memory that is off", { sparkConf: { "spark.memory.offHeap.size": "1g" } }, "1664m", "384m"],
    ["workers of Python", { type: "Python", sparkConf: { "spark.executor.pyspark.memory": "512m" } }, "1097m", "439m"],
    ["workers of Python, but no Python", { sparkConf: { "spark.executor.pyspark.memory": "512m" } }, "1664m", "384m"],
  ])("divides 2Gi: %s", (_title, spec, memory, memoryOverhead) => {
    expect(rendered(spec, { resources: { cpu: "1", memory: "2Gi" } }).executor).toMatchObject({
      memory,
      memoryOverhead,
    });
  });

  it("leaves its sidecars what they ask for, wherever they stand, and has them in the template", () => {
    const sidecar = { name: "log", image: "log", resources: { requests: { cpu: "100m", memory: "64Mi" } } };
    const template = { spec: { containers: [{ ...sidecar, name: "metrics" }] } };
    const executor = executorOf({ sidecars: [sidecar], template }, { resources: { cpu: "1", memory: "1Gi" } });
    expect(executor).toMatchObject({ coreRequest: "800m", memory: "512m", memoryOverhead: "384m" });
    expect(executor).not.toHaveProperty("sidecars");
    expect(executor.template.spec.containers.map(({ name }) => name)).toEqual([
      "spark-kubernetes-executor",
      "metrics",
      "log",
    ]);
  });

  it("gets all devices of its slot", () => {
    const resources = { cpu: "1", memory: "1Gi", "nvidia.com/gpu": "2" };
    const sparkConf = { "spark.executor.resource.gpu.amount": "1", "spark.executor.resource.gpu.vendor": "nvidia.com" };
    const made = rendered({ sparkConf, executor: { gpu: { name: "nvidia.com/gpu", quantity: 1 } } }, { resources });
    expect(made.sparkConf["spark.executor.resource.gpu.amount"]).toBe("2");
    expect(made.executor).not.toHaveProperty("gpu");
    const gpus = { "nvidia.com/gpu": "2" };
    expect(made.executor.template.spec.containers[0]?.resources).toMatchObject({ requests: gpus, limits: gpus });
  });

  it("asks for exactly its slot, or is refused", () => {
    const amount = fc.option(
      fc.integer({ min: 0, max: 6000 }).map((mebibytes) => `${mebibytes}m`),
      { nil: undefined },
    );
    const size = fc.integer({ min: 0, max: 8000 });
    fc.assert(
      fc.property(
        fc.record({
          whole: size,
          sidecar: fc.integer({ min: 0, max: 300 }),
          memory: amount,
          overhead: amount,
          offHeap: amount,
          workers: amount,
        }),
        fc.constantFrom("Scala", "Python", "R"),
        fc.option(fc.double({ min: 0.01, max: 2, noNaN: true }), { nil: undefined }),
        ({ whole, sidecar, memory, overhead, offHeap, workers }, type, factor) => {
          const result = render(
            {
              type,
              ...(factor !== undefined && { memoryOverheadFactor: String(factor) }),
              sparkConf: {
                ...(offHeap && { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": offHeap }),
                ...(workers && { "spark.executor.pyspark.memory": workers }),
              },
              executor: {
                ...(memory && { memory }),
                ...(overhead && { memoryOverhead: overhead }),
                sidecars: [{ name: "log", resources: { requests: { memory: `${sidecar}Mi` } } }],
              },
            },
            { resources: { cpu: "1", memory: `${whole}Mi` } },
          );
          if ("problem" in result) return;
          const { executor } = result.object.spec;
          const parts = [
            executor.memory,
            executor.memoryOverhead,
            offHeap ?? "0",
            type === "Python" ? (workers ?? "0") : "0",
          ];
          const sum = parts.reduce((total, part) => total + Number.parseInt(part, 10), sidecar);
          expect(sum).toBe(whole);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("what cannot be", () => {
  it.each<[title: string, spec: object, code: string, says: string]>([
    ["dynamic allocation", { dynamicAllocation: { enabled: true } }, "INVALID", "dynamic allocation must be off"],
    [
      "dynamic allocation in the configuration",
      { sparkConf: { "spark.dynamicAllocation.enabled": true } },
      "INVALID",
      "dynamic allocation must be off",
    ],
    ["another scheduler", { batchScheduler: "volcano" }, "INVALID", "sparkSpec.batchScheduler must not be given"],
    ["a driver elsewhere", { mode: "client" }, "INVALID", 'sparkSpec.mode must be "cluster"'],
    ["no type", { type: undefined }, "INVALID", "sparkSpec.type must be given"],
    ["no version", { sparkVersion: "" }, "INVALID", "sparkSpec.sparkVersion must be given"],
    ["no program", { mainApplicationFile: null }, "INVALID", "sparkSpec.mainApplicationFile must be given"],
    ["a node", { executor: { template: { spec: { nodeName: "n1" } } } }, "INVALID", "spec.nodeName must not be given"],
    [
      "resources of the pod",
      { executor: { template: { spec: { resources: {} } } } },
      "INVALID",
      "spec.resources must not be given",
    ],
    ["nonsense", { executor: "many" }, "INVALID", 'sparkSpec.executor must be an object, not "many"'],
    [
      "nonsense in a list",
      { executor: { sidecars: [3] } },
      "INVALID",
      "sparkSpec.executor.sidecars[0] must be an object, not 3",
    ],
    ["memory as Kubernetes writes it", { executor: { memory: "1Gi" } }, "INVALID", 'like "512m" or "4g", not "1Gi"'],
    ["a factor of nothing", { memoryOverheadFactor: "0" }, "INVALID", "must be a number above 0"],
    [
      "too much memory",
      { executor: { memory: "1g" } },
      "TOO_LARGE",
      "a slot leaves 896 MiB of memory to an executor of Spark, which needs 1024 heap + 384 overhead = 1408 MiB",
    ],
    [
      "too much memory for Python",
      { type: "Python", executor: { memory: "640m" } },
      "TOO_LARGE",
      "640 heap + 384 overhead = 1024 MiB (the overhead is 0.4 × heap, and at least 384)",
    ],
    [
      "too many cores",
      { executor: { coreRequest: "1" } },
      "TOO_LARGE",
      "sparkSpec.executor.coreRequest asks for 1 of cpu, but a slot has 700m",
    ],
    [
      "a device",
      { executor: { gpu: { name: "nvidia.com/gpu", quantity: 1 } } },
      "TOO_LARGE",
      "asks for 1 of nvidia.com/gpu, but a slot has 0",
    ],
    [
      "too low a limit",
      { executor: { coreLimit: "500m" } },
      "TOO_SMALL",
      "allows 500m of cpu, but an executor has to ask for 700m",
    ],
    [
      "too low a limit of memory",
      { executor: { memoryLimit: "512m" } },
      "TOO_SMALL",
      "allows 512Mi of memory, but an executor has to ask for 896Mi",
    ],
  ])("%s", (_title, spec, code, says) => {
    expect(problemOf(render(spec))).toEqual({
      code: `BERTH_APPLICATION_${code}`,
      message: expect.stringContaining(says),
    });
  });
});

describe("how it stands", () => {
  const observe = (state?: string, more: object = {}) =>
    spark.observe({
      metadata: {},
      ...(state !== undefined && {
        status: {
          applicationState: { state, ...more },
          lastSubmissionAttemptTime: "2026-01-01T00:00:00Z",
          terminationTime: "2026-01-01T00:10:00Z",
        },
      }),
    } as SparkApplication);

  it.each([
    [undefined, "pending"],
    ["", "pending"],
    ["SUBMITTED", "pending"],
    ["RUNNING", "running"],
    ["SUCCEEDING", "running"],
    ["FAILING", "running"],
    ["UNKNOWN", "running"],
    ["COMPLETED", "completed"],
    ["FAILED", "failed"],
    ["SUBMISSION_FAILED", "pending"],
    ["PENDING_RERUN", "pending"],
    ["INVALIDATING", "pending"],
    ["SUSPENDING", "pending"],
    ["SUSPENDED", "pending"],
    ["RESUMING", "pending"],
    ["toString", "pending"],
  ])("%s is %s", (state, phase) => {
    expect(observe(state).phase).toBe(phase);
  });

  it("tells when, and why", () => {
    const startTime = "2026-01-01T00:00:00Z";
    expect(observe("RUNNING")).toEqual({ phase: "running", startTime });
    expect(observe("COMPLETED")).toEqual({ phase: "completed", startTime, endTime: "2026-01-01T00:10:00Z" });
    expect(observe("FAILED", { errorMessage: "exit code 3" })).toMatchObject({
      phase: "failed",
      message: "exit code 3",
    });
    expect(observe("NEW")).toEqual({ phase: "pending", message: 'the operator says "NEW", which Berth does not know' });
  });
});

describe("its executors", () => {
  it.each<[Record<string, string> | undefined, boolean]>([
    [{ "spark-role": "executor", "berth.dev/role": "executor" }, true],
    [{ "spark-role": "driver", "berth.dev/role": "executor" }, false],
    [{ "spark-role": "executor" }, false],
    [undefined, false],
  ])("are known by their labels: %j", (labels, expected) => {
    expect(spark.isExecutor({ metadata: { ...(labels && { labels }) } })).toBe(expected);
  });
});
