/**
 * Flink: a FlinkDeployment in application mode, whose operator starts a JobManager, which asks for TaskManagers: these are the
 * executors. Pure.
 *
 * How many there are is not said to Flink but follows from what the job needs: its parallelism, divided by the tasks that a
 * TaskManager takes. So the replicas are given, from which the operator computes the parallelism, and bounds for the number of
 * tasks on both sides, since a program may have set a parallelism of its own.
 */
import { type coreV1, kubernetesTime, Quantity } from "@berth/kube";
import type { ApplicationAdapter, Observation, RunOrder } from "./application.ts";
import { type FlinkOptions, flatOptions, optionOf, overlaid } from "./flink-configuration.ts";
import { FlinkDeployment, type FlinkProcess } from "./flink-deployment.ts";
import { hasExecutorLabel, keyOfJob } from "./labels.ts";
import { wholeMebibytes } from "./memory.ts";
import { forPlacement, templateAt, withContainer, withReplaced } from "./pod-template.ts";
import { countAt, type Fields, objectAt, quantityAt, textAt, without } from "./reading.ts";
import { answered, refuse } from "./refusal.ts";
import { type Amounts, amountsOf, fitted, leftFor, requireAtMost } from "./requests.ts";

const CONTAINER = "flink-main-container";
const TASK_SLOTS = "taskmanager.numberOfTaskSlots";

export const flink: ApplicationAdapter<FlinkDeployment> = {
  kind: "flink",
  resource: FlinkDeployment,
  survivesLoss: false,
  render: (order) => answered(() => deploymentFor(order)),
  observe,
  isExecutor: ({ metadata: { labels } }) => labels?.component === "taskmanager" && hasExecutorLabel(labels),
};

function deploymentFor(order: RunOrder): FlinkDeployment {
  const given = objectAt(order.job.spec.flinkSpec, "flinkSpec");
  const options = flatOptions(given.flinkConfiguration, "flinkSpec.flinkConfiguration");
  requireFlink(given, options);
  const job = objectAt(given.job, "flinkSpec.job");
  const taskManager = objectAt(given.taskManager, "flinkSpec.taskManager");
  const slot = amountsOf(order.resources);
  const path = "flinkSpec.taskManager.podTemplate";

  // The operator would lay the common template under this one item by item, and Berth's container over another one.
  const byName = optionOf(options, "kubernetes.operator.pod-template.merge-arrays-by-name") === "true";
  const common = (special: unknown) => overlaid(given.podTemplate, special, byName);
  const whole = withContainer(templateAt(common(taskManager.podTemplate), path), CONTAINER);
  const container = whole.spec.containers.find(({ name }) => name === CONTAINER) ?? { name: CONTAINER };
  const left = leftFor(container, whole.spec, slot, `${path}.spec`);
  const main = fitted(withoutSize(container), left, slot, `${path}.spec.containers "${CONTAINER}"`);
  const template = forPlacement(withReplaced(whole, container, main), order);
  requireTaskManager(taskManager, left);

  const tasks = countAt(optionOf(options, TASK_SLOTS), `flinkSpec.flinkConfiguration["${TASK_SLOTS}"]`) ?? 1;
  const parallelism = order.slots.length * tasks;
  return {
    apiVersion: FlinkDeployment.apiVersion,
    kind: FlinkDeployment.kind,
    metadata: { namespace: keyOfJob(order).namespace, name: order.name },
    spec: {
      ...without(given, "podTemplate"),
      flinkVersion: textAt(given.flinkVersion, "flinkSpec.flinkVersion") ?? "",
      mode: "native",
      flinkConfiguration: {
        ...options,
        ...devices(options, left),
        // Said even if it is the usual: the operator may have been given another one for all.
        [TASK_SLOTS]: String(tasks),
        "slotmanager.number-of-slots.min": String(parallelism),
        "slotmanager.number-of-slots.max": String(parallelism),
      },
      jobManager: jobManagerFor(given, options, common),
      taskManager: {
        ...taskManager,
        replicas: order.slots.length,
        // To Flink "m" is a mebibyte: it asks Kubernetes for exactly so many Mi, and divides them up inside.
        resource: { cpu: cpuOf(left), memory: `${wholeMebibytes(left.get("memory") ?? Quantity.zero, "Flink")}m` },
        podTemplate: template,
      },
      job: {
        ...job,
        parallelism,
        state: "running",
        // A run begins from nothing, unless somebody says otherwise.
        upgradeMode: textAt(job.upgradeMode, "flinkSpec.job.upgradeMode") ?? "stateless",
      },
    },
  };
}

/** What Berth can run, and what leaves it the choice of how many TaskManagers there are. */
function requireFlink(given: Fields, options: FlinkOptions): void {
  const refused = (message: string) => refuse("BERTH_APPLICATION_INVALID", message);
  if (!textAt(given.flinkVersion, "flinkSpec.flinkVersion")) {
    refused('flinkSpec.flinkVersion must be given, like "v1_20"');
  }
  if (given.job === undefined || given.job === null) {
    refused("flinkSpec.job must be given: without one it is a session cluster, which has nothing to do and never ends");
  }
  const mode = textAt(given.mode, "flinkSpec.mode") ?? "native";
  if (mode !== "native") {
    refused(`flinkSpec.mode must be "native", not "${mode}": there TaskManagers do not leave when the job is done`);
  }
  for (const name of ["job.autoscaler.enabled", "kubernetes.operator.job.autoscaler.enabled"]) {
    if (optionOf(options, name) !== "true") continue;
    refused(`${name} must be off: the scheduler decides how many TaskManagers there are, one for each slot`);
  }
}

/** Flink overwrites what a template says of these. */
function withoutSize(container: coreV1.Container): coreV1.Container {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const resources = { requests: without(requests, "cpu", "memory"), limits: without(limits, "cpu", "memory") };
  return { ...container, resources: { ...container.resources, ...resources } };
}

/** What people ask for themselves must fit; they get all of the slot then. */
function requireTaskManager(taskManager: Fields, left: Amounts): void {
  const path = "flinkSpec.taskManager.resource";
  const { cpu, memory, ephemeralStorage } = objectAt(taskManager.resource, path);
  if (cpu !== undefined) requireAtMost(quantityAt(cpu, `${path}.cpu`), "cpu", left, `${path}.cpu`);
  if (memory !== undefined) requireAtMost(flinkAmount(memory, `${path}.memory`), "memory", left, `${path}.memory`);
  if (ephemeralStorage !== undefined) {
    const its = `${path}.ephemeralStorage`;
    requireAtMost(quantityAt(ephemeralStorage, its), "ephemeral-storage", left, its);
  }
}

const UNITS: Readonly<Record<string, string>> = { "": "", b: "", k: "Ki", m: "Mi", g: "Gi", t: "Ti" };

/** Reads an amount as Flink does ("2048m" are mebibytes, "2 gb" gibibytes), or else as Kubernetes does ("2Gi"). */
function flinkAmount(value: unknown, path: string): Quantity {
  const text = textAt(value, path)?.trim() ?? "";
  const [, digits, unit = ""] = /^(\d+)\s*(b|k|kb|m|mb|g|gb|t|tb)?$/.exec(text.toLowerCase()) ?? [];
  return quantityAt(digits === undefined ? text : `${digits}${UNITS[unit.charAt(0)]}`, path);
}

/** Flink wants a number, of which it makes a quantity again. */
function cpuOf(left: Amounts): number {
  const cpu = left.get("cpu") ?? Quantity.zero;
  const number = cpu.toNumber();
  if (cpu.nano % 1_000_000n === 0n && Quantity.parse(number).equals(cpu)) return number;
  return refuse(
    "BERTH_APPLICATION_INVALID",
    `a slot leaves ${cpu} of cpu to a TaskManager: Flink needs whole thousandths`,
  );
}

/** What a JobManager takes if nobody says so; it is not placed, and has no slot that it could fill. */
const USUAL_JOB_MANAGER = { cpu: 1, memory: "1600m" };

function jobManagerFor(given: Fields, options: FlinkOptions, common: (special: unknown) => unknown): FlinkProcess {
  const jobManager = objectAt(given.jobManager, "flinkSpec.jobManager");
  const resource = objectAt(jobManager.resource, "flinkSpec.jobManager.resource");
  const isSaid = Object.keys(options).some((name) => name.startsWith("jobmanager.memory."));
  const usual = isSaid ? { cpu: USUAL_JOB_MANAGER.cpu } : USUAL_JOB_MANAGER;
  const podTemplate = common(jobManager.podTemplate);
  return {
    ...jobManager,
    resource: { ...usual, ...resource },
    ...(podTemplate !== undefined && { podTemplate: objectAt(podTemplate, "flinkSpec.podTemplate") }),
  };
}

/** Devices that Flink is told of, and asks for by itself: all that the slot has. */
function devices(options: FlinkOptions, left: Amounts): Record<string, string> {
  const amounts: Record<string, string> = {};
  for (const key of Object.keys(options)) {
    const [, device] = /^external-resource\.(.+)\.kubernetes\.config-key$/.exec(key) ?? [];
    const name = optionOf(options, key);
    const amountKey = `external-resource.${device}.amount`;
    const amount = optionOf(options, amountKey);
    if (device === undefined || name === undefined || amount === undefined) continue;
    requireAtMost(quantityAt(amount, amountKey), name, left, amountKey);
    amounts[amountKey] = (left.get(name) ?? Quantity.zero).toString();
  }
  return amounts;
}

type Phase = Observation["phase"];

/** Flink's states of a job. While it fails, is cancelled or begins anew by itself it still has its TaskManagers. */
const PHASES: Readonly<Record<string, Phase>> = {
  "": "pending",
  INITIALIZING: "pending",
  CREATED: "pending",
  RECONCILING: "pending",
  SUSPENDED: "pending",
  RUNNING: "running",
  RESTARTING: "running",
  FAILING: "running",
  CANCELLING: "running",
  FINISHED: "completed",
  FAILED: "failed",
  CANCELED: "failed",
};

/** In these the operator has stopped the job to start it again, and calls that FINISHED too. */
const INTERRUPTED = new Set(["SUSPENDED", "UPGRADING", "ROLLING_BACK"]);

function observe({ status }: FlinkDeployment): Observation {
  const { jobStatus, lifecycleState = "", jobManagerDeploymentStatus } = status ?? {};
  const state = jobStatus?.state ?? "";
  const error = errorIn(status?.error);
  const phase = Object.hasOwn(PHASES, state) ? (PHASES[state] as Phase) : undefined;
  const startTime = timeOf(jobStatus?.startTime);
  const endTime = timeOf(jobStatus?.updateTime);
  const started = startTime === undefined ? {} : { startTime };
  const ended = { ...started, ...(endTime !== undefined && { endTime }) };

  // Only the job's own state tells that it has ended: what is finished is called STABLE as what runs is.
  if (phase === "completed" && !INTERRUPTED.has(lifecycleState)) return { phase, ...ended };
  if (phase === "failed") return { phase, message: error ?? state, ...ended };
  // The operator has given up; it would try again only if somebody changed the deployment.
  if (lifecycleState === "FAILED" || jobManagerDeploymentStatus === "ERROR") {
    return { phase: "failed", message: error ?? `the JobManager could not be started (${lifecycleState})`, ...started };
  }
  if (phase === "running") {
    const message = error ?? (state === "RUNNING" ? undefined : state);
    return { phase, ...(message !== undefined && { message }), ...started };
  }
  if (phase === undefined) {
    return { phase: "pending", message: `the operator says "${state}", which Berth does not know` };
  }
  const message = error ?? (INTERRUPTED.has(lifecycleState) ? lifecycleState : state || lifecycleState);
  return { phase: "pending", ...(message !== "" && { message }) };
}

/** The operator writes an error as JSON; people want to read what went wrong. */
function errorIn(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === "string" && message !== "" ? message : text;
  } catch {
    return text;
  }
}

/** Milliseconds since 1970, as text. */
function timeOf(text: string | null | undefined): string | undefined {
  return text && /^\d{1,15}$/.test(text) ? kubernetesTime(Number(text)) : undefined;
}
