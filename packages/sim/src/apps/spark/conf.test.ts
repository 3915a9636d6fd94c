import { describe, expect, it } from "vitest";
import { sparkApplication } from "../testing/app-cluster.ts";
import { type SparkApplicationSpec, withDefaults } from "./application.ts";
import { allocationOf, demandOf, sparkConfOf } from "./conf.ts";
import { mebibytes } from "./memory.ts";

const confOf = (spec: Partial<SparkApplicationSpec>) => {
  const application = sparkApplication("pi", spec);
  return sparkConfOf({ ...application, spec: withDefaults(application.spec) }, "id");
};
const executorOf = (spec: Partial<SparkApplicationSpec>) => demandOf(confOf(spec), "executor", spec.type ?? "Scala");
const planOf = (spec: Partial<SparkApplicationSpec>) => {
  const application = sparkApplication("pi", spec);
  const complete = { ...application, spec: withDefaults(application.spec) };
  return allocationOf(complete, sparkConfOf(complete, "id"));
};

describe("the memory of an executor's pod", () => {
  it.each<[Partial<SparkApplicationSpec>, number]>([
    [{ executor: { memory: "1g" } }, 1408],
    [{ executor: { memory: "4g" } }, 4505],
    [{ executor: { memory: "4g" }, type: "Python" }, 5734],
    [{ executor: {} }, 1408],
    [{ executor: { memory: "512m" } }, 896],
    [{ executor: { memory: "4g", memoryOverhead: "1g" } }, 5120],
    [{ executor: { memory: "4g" }, memoryOverheadFactor: "0.25" }, 5120],
    [{ executor: { memory: "4g" }, sparkConf: { "spark.executor.memoryOverheadFactor": "0.5" } }, 6144],
    [{ executor: { memory: "1g" }, sparkConf: { "spark.executor.minMemoryOverhead": "100m" } }, 1126],
    [{ executor: { memory: "1g" }, sparkConf: { "spark.executor.pyspark.memory": "1g" } }, 1408],
    [{ executor: { memory: "1g" }, type: "Python", sparkConf: { "spark.executor.pyspark.memory": "1g" } }, 2457],
    [
      {
        executor: { memory: "1g" },
        sparkConf: { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "2g" },
      },
      3456,
    ],
    [
      {
        executor: { memory: "1g" },
        sparkConf: { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "2147483648" },
      },
      3456,
    ],
    [{ executor: {}, sparkConf: { "spark.executor.memory": "2g" } }, 2432],
    [{ executor: { memory: "1g" }, sparkConf: { "spark.executor.memory": "2g" } }, 1408],
  ])("%j is %d Mi", (spec, expected) => {
    expect(executorOf(spec).memoryMiB).toBe(expected);
  });

  it.each([
    ["1g", 1024],
    ["1G", 1024],
    ["1gb", 1024],
    ["1048576k", 1024],
    ["1024", 1024],
    ["1073741824b", 1024],
    ["1t", 1024 ** 2],
    ["1500k", 1],
  ])("%s is read as %d Mi", (text, expected) => {
    expect(mebibytes(text)).toBe(expected);
  });

  it.each(["1Gi", "0.5g", "", "-1g", "g", "1 g"])("%j is not read", (text) => {
    expect(() => mebibytes(text)).toThrow("Failed to parse byte string");
  });
});

describe("the CPUs of an executor's pod", () => {
  it("are its cores, unless it requests others", () => {
    expect(executorOf({ executor: { cores: 3 } })).toMatchObject({ cpu: "3", cores: "3", cpuLimit: undefined });
    expect(executorOf({ executor: { cores: 3, coreRequest: "700m", coreLimit: "1200m" } })).toMatchObject({
      cpu: "700m",
      cores: "3",
      cpuLimit: "1200m",
    });
  });
});

describe("how executors are asked for", () => {
  it.each([
    ["3.5.6", 5],
    ["4.0.1", 10],
    ["4.1.0", 10],
    ["4.2.0", 20],
    ["5.0.0", 20],
    ["what", 5],
  ])("Spark %s: %d at a time", (sparkVersion, batchSize) => {
    expect(planOf({ sparkVersion })).toMatchObject({ batchSize, batchDelayMs: 1000 });
  });

  it("can be configured", () => {
    const sparkConf = {
      "spark.kubernetes.allocation.batch.size": "7",
      "spark.kubernetes.allocation.batch.delay": "500ms",
    };
    expect(planOf({ sparkConf })).toMatchObject({ batchSize: 7, batchDelayMs: 500 });
  });

  it("gives up after twice as many failures as there are executors, and not before three", () => {
    expect(planOf({ executor: { instances: 1 } }).maxFailures).toBe(3);
    expect(planOf({ executor: { instances: 10 } }).maxFailures).toBe(20);
    expect(planOf({ sparkConf: { "spark.executor.maxNumFailures": "1" } }).maxFailures).toBe(1);
  });

  it("stays at the first number with dynamic allocation", () => {
    const dynamicAllocation = { enabled: true, initialExecutors: 4, minExecutors: 2, maxExecutors: 9 };
    expect(planOf({ dynamicAllocation, executor: { instances: 1 } })).toMatchObject({ executors: 4, maxFailures: 18 });
  });
});

describe("an application's labels", () => {
  it("go to its pods, but not those of Kueue", () => {
    const labels = { team: "a", "kueue.x-k8s.io/queue-name": "q" };
    const application = sparkApplication("pi", { executor: { labels: { own: "1" } } }, { labels });
    const conf = sparkConfOf({ ...application, spec: withDefaults(application.spec) }, "id");
    expect(conf.get("spark.kubernetes.executor.label.team")).toBe("a");
    expect(conf.get("spark.kubernetes.executor.label.own")).toBe("1");
    expect(conf.get("spark.kubernetes.executor.label.kueue.x-k8s.io/queue-name")).toBeUndefined();
  });
});
