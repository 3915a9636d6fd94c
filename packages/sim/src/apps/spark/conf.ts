/**
 * From a SparkApplication to Spark's own configuration: what the operator hands to `spark-submit`. Pods are made of this
 * configuration, not of the application, as in reality. Pure.
 */
import { driverNameOf, isDynamic, label, type SparkApplication, type SparkPodSpec } from "./application.ts";
import { isAmount, mebibytes, overheadFactor, overheadOf } from "./memory.ts";
import { SubmissionError } from "./submission-error.ts";

export type SparkConf = ReadonlyMap<string, string>;

/** @param application - With its defaults. */
export function sparkConfOf({ metadata, spec, ...rest }: SparkApplication, submissionId: string): SparkConf {
  const conf = new Map<string, string>();
  const set = (key: string, value: string | number | boolean | undefined) => {
    if (value !== undefined) conf.set(key, String(value));
  };
  const setAll = (prefix: string, values: Readonly<Record<string, string>> | undefined) => {
    for (const [key, value] of Object.entries(values ?? {})) set(`${prefix}${key}`, value);
  };
  const name = metadata.name ?? "";

  set("spark.app.name", name);
  set("spark.kubernetes.namespace", metadata.namespace);
  set("spark.kubernetes.container.image", spec.image);
  set("spark.kubernetes.container.image.pullPolicy", spec.imagePullPolicy);
  if (spec.imagePullSecrets?.length)
    set("spark.kubernetes.container.image.pullSecrets", spec.imagePullSecrets.join(","));
  set("spark.kubernetes.memoryOverheadFactor", spec.memoryOverheadFactor || undefined);
  setAll("", spec.sparkConf);
  setAll("spark.hadoop.", spec.hadoopConf);
  set("spark.kubernetes.driver.pod.name", driverNameOf({ metadata, spec, ...rest }));

  const labels = ownLabels(metadata.labels);
  for (const [role, pod] of [
    ["driver", spec.driver],
    ["executor", spec.executor],
  ] as const) {
    setPod(set, role, pod, spec.image);
    const prefix = `spark.kubernetes.${role}.label.`;
    set(`${prefix}${label.appName}`, name);
    set(`${prefix}${label.launchedByOperator}`, true);
    if (pod.template === undefined) set(`${prefix}${label.mutatedByOperator}`, true);
    set(`${prefix}${label.submissionId}`, submissionId);
    setAll(prefix, labels);
    setAll(prefix, pod.labels);
    setAll(`spark.kubernetes.${role}.annotation.`, pod.annotations);
  }
  setAll("spark.kubernetes.driverEnv.", spec.driver.envVars);
  setAll("spark.executorEnv.", spec.executor.envVars);
  set("spark.executor.instances", spec.executor.instances);
  set("spark.kubernetes.executor.deleteOnTermination", spec.executor.deleteOnTermination);
  setAll("spark.kubernetes.node.selector.", spec.nodeSelector);
  if (spec.dynamicAllocation?.enabled) {
    set("spark.dynamicAllocation.enabled", true);
    set("spark.dynamicAllocation.initialExecutors", spec.dynamicAllocation.initialExecutors);
    set("spark.dynamicAllocation.minExecutors", spec.dynamicAllocation.minExecutors);
    set("spark.dynamicAllocation.maxExecutors", spec.dynamicAllocation.maxExecutors);
  }
  return conf;
}

/** An application's labels go to its pods, but for those of Kueue, which would queue each of them. */
function ownLabels(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("kueue.x-k8s.io/")));
}

function setPod(
  set: (key: string, value: string | number | undefined) => void,
  role: "driver" | "executor",
  pod: SparkPodSpec,
  image: string | undefined,
): void {
  set(`spark.kubernetes.${role}.container.image`, pod.image || image || undefined);
  set(`spark.${role}.cores`, pod.cores);
  set(`spark.kubernetes.${role}.request.cores`, pod.coreRequest);
  set(`spark.kubernetes.${role}.limit.cores`, pod.coreLimit);
  set(`spark.${role}.memory`, pod.memory);
  set(`spark.${role}.memoryOverhead`, pod.memoryOverhead);
  set(`spark.kubernetes.authenticate.${role}.serviceAccountName`, pod.serviceAccount);
  set(`spark.${role}.extraJavaOptions`, pod.javaOptions);
}

/** The values of all keys with a prefix, by what follows it. */
export function withPrefix(conf: SparkConf, prefix: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, value] of conf) if (key.startsWith(prefix)) found[key.slice(prefix.length)] = value;
  return found;
}

/** What a process asks Kubernetes for. */
export interface Demand {
  readonly cpu: string;
  readonly cpuLimit: string | undefined;
  readonly cores: string;
  /** Of the program. */
  readonly heapMiB: number;
  /** Of the pod: request and limit. */
  readonly memoryMiB: number;
}

/** Throws a `SubmissionError` for amounts that Spark cannot read. */
export function demandOf(conf: SparkConf, role: "driver" | "executor", type: string): Demand {
  const isPython = type === "Python";
  const cores = conf.get(`spark.${role}.cores`) ?? "1";
  if (!/^\d{1,9}$/.test(cores)) throw new SubmissionError(`spark.${role}.cores should be int, but was ${cores}`);
  const heapMiB = heapOf(conf.get(`spark.${role}.memory`) ?? "1g", role);
  const given = conf.get(`spark.${role}.memoryOverheadFactor`) ?? conf.get("spark.kubernetes.memoryOverheadFactor");
  const overhead = overheadOf(heapMiB, {
    overhead: conf.get(`spark.${role}.memoryOverhead`),
    factor: overheadFactor(given, !isPython && type !== "R"),
    least: conf.get(`spark.${role}.minMemoryOverhead`),
  });
  const executorOnly =
    role === "driver"
      ? 0
      : (conf.get("spark.memory.offHeap.enabled") === "true"
          ? mebibytes(conf.get("spark.memory.offHeap.size") ?? "0", "b")
          : 0) + (isPython ? mebibytes(conf.get("spark.executor.pyspark.memory") ?? "0") : 0);
  return {
    cpu: conf.get(`spark.kubernetes.${role}.request.cores`) ?? cores,
    cpuLimit: conf.get(`spark.kubernetes.${role}.limit.cores`),
    cores,
    heapMiB,
    memoryMiB: heapMiB + overhead + executorOnly,
  };
}

/** `spark-submit` checks these two before all others, and says no more about it. */
function heapOf(amount: string, role: "driver" | "executor"): number {
  const heapMiB = isAmount(amount) ? mebibytes(amount) : 0;
  if (heapMiB > 0) return heapMiB;
  throw new SubmissionError(`${role === "driver" ? "Driver" : "Executor"} memory must be a positive number`);
}

/** How the driver asks for its executors. */
export interface AllocationPlan {
  readonly executors: number;
  readonly batchSize: number;
  readonly batchDelayMs: number;
  /** More failed executors than this, and the driver gives up. */
  readonly maxFailures: number;
  readonly deleteOnTermination: boolean;
}

/** @param application - With its defaults. */
export function allocationOf({ spec }: SparkApplication, conf: SparkConf): AllocationPlan {
  const number = (key: string, otherwise: number) => {
    const value = Number(conf.get(key) ?? otherwise);
    return Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
  };
  const instances = number("spark.executor.instances", isDynamic(spec) ? 0 : 2);
  const executors = isDynamic(spec)
    ? Math.max(
        instances,
        number("spark.dynamicAllocation.initialExecutors", 0),
        number("spark.dynamicAllocation.minExecutors", 0),
      )
    : instances;
  const failing = isDynamic(spec) ? number("spark.dynamicAllocation.maxExecutors", Number.MAX_SAFE_INTEGER) : instances;
  return {
    executors,
    batchSize: Math.max(1, number("spark.kubernetes.allocation.batch.size", usualBatch(spec.sparkVersion))),
    batchDelayMs: delayOf(conf.get("spark.kubernetes.allocation.batch.delay")),
    maxFailures: number("spark.executor.maxNumFailures", Math.max(3, 2 * failing)),
    deleteOnTermination: conf.get("spark.kubernetes.executor.deleteOnTermination") !== "false",
  };
}

/** 5 up to Spark 3, 10 in 4.0 and 4.1, 20 from 4.2 on. */
function usualBatch(version: string): number {
  const [major = 3, minor = 0] = version.split(".").map(Number);
  if (!(major >= 4)) return 5;
  return major === 4 && minor < 2 ? 10 : 20;
}

function delayOf(given = "1s"): number {
  const [, digits, unit = "ms"] = /^(\d{1,9})(ms|s|m|min)?$/.exec(given.trim()) ?? [];
  const milliseconds = Number(digits) * (unit === "ms" ? 1 : unit === "s" ? 1000 : 60_000);
  return milliseconds > 0 ? milliseconds : 1000;
}
