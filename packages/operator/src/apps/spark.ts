/**
 * Spark: a SparkApplication whose operator starts a driver, which asks for executors. Pure.
 *
 * An executor is made in three steps, and each may overwrite the one before: the template; the configuration, in which
 * `sparkConf` gives way to the fields of `executor`; and the operator's webhook, which knows only those fields and may be
 * switched off. So whatever must hold stands in the template, which always counts, and again in the field that could overwrite
 * it. Tolerations and containers, which the webhook would add a second time, stand in the template alone.
 */
import { type coreV1, Quantity } from "@berth/kube";
import { priority } from "../names.ts";
import type { ApplicationAdapter, Observation, RunOrder } from "./application.ts";
import { executorAnnotations, executorLabels, hasExecutorLabel, keyOfJob } from "./labels.ts";
import {
  dividedMemory,
  LEAST_OVERHEAD_MIB,
  type MemoryParts,
  type MemoryWishes,
  sparkMebibytes,
  usualFactor,
  wholeMebibytes,
} from "./memory.ts";
import {
  containersAt,
  forPlacement,
  type PodTemplate,
  templateAt,
  withContainer,
  withReplaced,
} from "./pod-template.ts";
import { countAt, type Fields, objectAt, quantityAt, textAt, textsAt, without } from "./reading.ts";
import { answered, refuse } from "./refusal.ts";
import { type Amounts, amountsOf, fitted, leftFor, requireAtMost, requireLimit } from "./requests.ts";
import { SparkApplication } from "./spark-application.ts";

/** The operator's webhook finds an executor's container by this name, and by no other. */
const CONTAINER = "spark-kubernetes-executor";

export const spark: ApplicationAdapter<SparkApplication> = {
  kind: "spark",
  resource: SparkApplication,
  survivesLoss: true,
  render: (order) => answered(() => applicationFor(order)),
  observe,
  isExecutor: ({ metadata: { labels } }) => labels?.["spark-role"] === "executor" && hasExecutorLabel(labels),
};

function applicationFor(order: RunOrder): SparkApplication {
  const given = objectAt(order.job.spec.sparkSpec, "sparkSpec");
  const executor = objectAt(given.executor, "sparkSpec.executor");
  const conf = textsAt(given.sparkConf, "sparkSpec.sparkConf");
  requireSpark(given, conf);
  const type = required(given, "type");
  const slot = amountsOf(order.resources);
  const path = "sparkSpec.executor.template";

  const whole = withContainer(withSidecars(templateAt(executor.template, path), executor), CONTAINER);
  const container = whole.spec.containers.find(({ name }) => name === CONTAINER) ?? { name: CONTAINER };
  const main = withoutSize(container);
  const left = leftFor(container, whole.spec, slot, `${path}.spec`);
  const template = withReplaced(whole, container, fitted(main, left, slot, `${path}.spec.containers "${CONTAINER}"`));

  const cpu = left.get("cpu") ?? Quantity.zero;
  requireCpu(executor, conf, left);
  const memory = left.get("memory") ?? Quantity.zero;
  const parts = memoryOf(executor, conf, type, given, wholeMebibytes(memory, "Spark"));
  requireMemoryLimit(executor, memory);

  return {
    apiVersion: SparkApplication.apiVersion,
    kind: SparkApplication.kind,
    metadata: { namespace: keyOfJob(order).namespace, name: order.name },
    spec: {
      // Those two would keep it from running, or remove it before Berth has seen how it ended.
      ...without(given, "suspend", "timeToLiveSeconds"),
      type,
      sparkVersion: required(given, "sparkVersion"),
      mainApplicationFile: required(given, "mainApplicationFile"),
      mode: "cluster",
      // Whether a run that failed is tried again is the job's affair.
      restartPolicy: { type: "Never" },
      sparkConf: confFor(order, conf, executor, left),
      driver: objectAt(given.driver, "sparkSpec.driver"),
      executor: {
        deleteOnTermination: true,
        // These are in the template now.
        ...without(executor, "sidecars", "initContainers", "gpu"),
        instances: order.slots.length,
        // Spark counts tasks in whole numbers; a slot may be smaller than one CPU.
        cores: coresOf(executor, conf, cpu),
        coreRequest: cpu.toString(),
        memory: `${parts.heap}m`,
        memoryOverhead: `${parts.overhead}m`,
        labels: { ...textsAt(executor.labels, "sparkSpec.executor.labels"), ...executorLabels(order) },
        annotations: {
          ...textsAt(executor.annotations, "sparkSpec.executor.annotations"),
          ...executorAnnotations(order),
        },
        priorityClassName: priority.slot,
        ...(order.placement.type === "extender" && { schedulerName: order.placement.schedulerName }),
        template: forPlacement(template, order),
      },
    },
  };
}

/** What cannot be had together with a scheduler that decides on each executor. */
function requireSpark(given: Fields, conf: Readonly<Record<string, string>>): void {
  const { enabled } = objectAt(given.dynamicAllocation, "sparkSpec.dynamicAllocation");
  if (
    textAt(enabled, "sparkSpec.dynamicAllocation.enabled") === "true" ||
    isOn(conf, "spark.dynamicAllocation.enabled")
  ) {
    const why = "the scheduler decides how many executors there are, one for each slot";
    refuse("BERTH_APPLICATION_INVALID", `dynamic allocation must be off: ${why}`);
  }
  const batch = textAt(given.batchScheduler, "sparkSpec.batchScheduler");
  if (batch) {
    const why = "the operator would hand executors over to that scheduler, and Berth could not place them";
    refuse("BERTH_APPLICATION_INVALID", `sparkSpec.batchScheduler must not be given, but is "${batch}": ${why}`);
  }
  const mode = textAt(given.mode, "sparkSpec.mode") ?? "cluster";
  if (mode !== "cluster") {
    refuse("BERTH_APPLICATION_INVALID", `sparkSpec.mode must be "cluster", not "${mode}": the driver has to be a pod`);
  }
}

function required(given: Fields, field: "type" | "sparkVersion" | "mainApplicationFile"): string {
  const examples = { type: "Scala", sparkVersion: "3.5.6", mainApplicationFile: "local:///opt/app.jar" };
  const value = textAt(given[field], `sparkSpec.${field}`);
  return value || refuse("BERTH_APPLICATION_INVALID", `sparkSpec.${field} must be given, like "${examples[field]}"`);
}

/** The containers that the webhook would add are put into the template, so that they count even if it is switched off. */
function withSidecars(template: PodTemplate, executor: Fields): PodTemplate {
  const sidecars = containersAt(executor.sidecars, "sparkSpec.executor.sidecars");
  const inits = containersAt(executor.initContainers, "sparkSpec.executor.initContainers");
  const { containers, initContainers = [] } = template.spec;
  const missing = (added: readonly coreV1.Container[], present: readonly coreV1.Container[]) =>
    added.filter(({ name }) => !present.some((each) => each.name === name));
  const allInits = [...initContainers, ...missing(inits, initContainers)];
  return {
    ...template,
    spec: {
      ...template.spec,
      containers: [...containers, ...missing(sidecars, containers)],
      ...(allInits.length > 0 && { initContainers: allInits }),
    },
  };
}

/** Spark overwrites what a template says of these. */
function withoutSize(container: coreV1.Container): coreV1.Container {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const resources = { requests: without(requests, "cpu", "memory"), limits: without(limits, "memory") };
  return { ...container, resources: { ...container.resources, ...resources } };
}

function requireCpu(executor: Fields, conf: Readonly<Record<string, string>>, left: Amounts): void {
  const path =
    executor.coreRequest === undefined ? "spark.kubernetes.executor.request.cores" : "sparkSpec.executor.coreRequest";
  const request = textAt(executor.coreRequest, path) ?? conf["spark.kubernetes.executor.request.cores"];
  if (request !== undefined) requireAtMost(quantityAt(request, path), "cpu", left, path);
  const limit = textAt(executor.coreLimit, "coreLimit") ?? conf["spark.kubernetes.executor.limit.cores"];
  requireLimit(limit, "cpu", left.get("cpu") ?? Quantity.zero, "the limit of an executor's cores");
}

/** Only the webhook knows this limit; it writes "4g" as "4Gi". */
function requireMemoryLimit(executor: Fields, memory: Quantity): void {
  const path = "sparkSpec.executor.memoryLimit";
  const limit = textAt(executor.memoryLimit, path);
  if (limit === undefined) return;
  const binary = limit.replace(
    /^(\d+)([kmgtp])b?$/i,
    (_, digits: string, unit: string) => `${digits}${unit.toUpperCase()}i`,
  );
  requireLimit(binary, "memory", memory, path);
}

function coresOf(executor: Fields, conf: Readonly<Record<string, string>>, cpu: Quantity): number {
  const said = countAt(executor.cores, "sparkSpec.executor.cores");
  const configured = countAt(conf["spark.executor.cores"], 'sparkSpec.sparkConf["spark.executor.cores"]');
  return said ?? configured ?? Math.max(1, Math.floor(cpu.toNumber()));
}

function memoryOf(
  executor: Fields,
  conf: Readonly<Record<string, string>>,
  type: string,
  given: Fields,
  whole: number,
): MemoryParts {
  /** The field, or else the configuration. */
  const said = (field: string, key: string) => {
    const path = executor[field] === undefined ? `sparkSpec.sparkConf["${key}"]` : `sparkSpec.executor.${field}`;
    const text = textAt(executor[field], path) ?? conf[key];
    return text === undefined ? undefined : sparkMebibytes(text, path);
  };
  const configured = (key: string, unit: "b" | "m" = "m") => {
    const text = conf[key];
    return text === undefined ? undefined : sparkMebibytes(text, `sparkSpec.sparkConf["${key}"]`, unit);
  };
  const wishes: MemoryWishes = {
    heap: said("memory", "spark.executor.memory"),
    overhead: said("memoryOverhead", "spark.executor.memoryOverhead"),
    // Of Spark's options this is the one that is in bytes if no unit is given.
    offHeap: isOn(conf, "spark.memory.offHeap.enabled") ? (configured("spark.memory.offHeap.size", "b") ?? 0) : 0,
    python: type === "Python" ? (configured("spark.executor.pyspark.memory") ?? 0) : 0,
    factor: factorOf(given, conf, type),
    leastOverhead: configured("spark.executor.minMemoryOverhead") ?? LEAST_OVERHEAD_MIB,
  };
  return dividedMemory(whole, wishes);
}

/** In the order in which Spark looks. */
function factorOf(given: Fields, conf: Readonly<Record<string, string>>, type: string): number {
  const text =
    conf["spark.executor.memoryOverheadFactor"] ??
    conf["spark.kubernetes.memoryOverheadFactor"] ??
    textAt(given.memoryOverheadFactor, "sparkSpec.memoryOverheadFactor");
  if (!text) return usualFactor(type);
  const factor = Number(text);
  if (Number.isFinite(factor) && factor > 0) return factor;
  return refuse("BERTH_APPLICATION_INVALID", `the memory overhead factor must be a number above 0, not "${text}"`);
}

/** The configuration, with what Berth knows better. */
function confFor(
  { slots, placement }: RunOrder,
  conf: Readonly<Record<string, string>>,
  executor: Fields,
  left: Amounts,
): Record<string, string> {
  const gpu = objectAt(executor.gpu, "sparkSpec.executor.gpu");
  const gpuName = textAt(gpu.name, "sparkSpec.executor.gpu.name");
  if (gpuName) {
    const path = "sparkSpec.executor.gpu";
    requireAtMost(quantityAt(gpu.quantity ?? 0, `${path}.quantity`), gpuName, left, path);
  }
  return {
    // By itself a driver asks for a few at a time, and waits in between; but all the slots are there.
    "spark.kubernetes.allocation.batch.size": String(slots.length),
    ...conf,
    ...devices(conf, left),
    // Also if the image's own configuration has it on.
    "spark.dynamicAllocation.enabled": "false",
    ...(placement.type === "extender" && { "spark.kubernetes.executor.scheduler.name": placement.schedulerName }),
  };
}

/** Devices that Spark is told of, and asks for by itself: all that the slot has. */
function devices(conf: Readonly<Record<string, string>>, left: Amounts): Record<string, string> {
  const amounts: Record<string, string> = {};
  for (const [key, amount] of Object.entries(conf)) {
    const [, device] = /^spark\.executor\.resource\.([^.]+)\.amount$/.exec(key) ?? [];
    const vendor = conf[`spark.executor.resource.${device}.vendor`];
    if (device === undefined || vendor === undefined) continue; // without one Spark says itself what is missing
    const name = `${vendor}/${device}`;
    requireAtMost(quantityAt(amount, key), name, left, key);
    amounts[key] = (left.get(name) ?? Quantity.zero).toString();
  }
  return amounts;
}

function isOn(conf: Readonly<Record<string, string>>, key: string): boolean {
  return conf[key]?.trim().toLowerCase() === "true";
}

type Phase = Observation["phase"];

/** The operator's states. Only COMPLETED and FAILED are ends; on the way to them it may still change its mind. */
const PHASES: Readonly<Record<string, Phase>> = {
  "": "pending",
  SUBMITTED: "pending",
  RUNNING: "running",
  SUCCEEDING: "running",
  FAILING: "running",
  COMPLETED: "completed",
  FAILED: "failed",
  SUBMISSION_FAILED: "pending",
  PENDING_RERUN: "pending",
  INVALIDATING: "pending",
  SUSPENDING: "pending",
  SUSPENDED: "pending",
  RESUMING: "pending",
  // The driver ran, and nobody can tell whether it still does: its node does not answer.
  UNKNOWN: "running",
};

function observe({ status }: SparkApplication): Observation {
  const { state = "", errorMessage } = status?.applicationState ?? {};
  const phase = Object.hasOwn(PHASES, state) ? (PHASES[state] as Phase) : undefined;
  if (!phase) return { phase: "pending", message: `the operator says "${state}", which Berth does not know` };
  const [start, end] = [status?.lastSubmissionAttemptTime, status?.terminationTime];
  const hasEnded = phase === "completed" || phase === "failed";
  const isPlain = phase === "completed" || state === "RUNNING" || state === "";
  const message = errorMessage || (isPlain ? undefined : state);
  return {
    phase,
    ...(message !== undefined && { message }),
    ...(phase !== "pending" && start && { startTime: start }),
    ...(hasEnded && end && { endTime: end }),
  };
}
