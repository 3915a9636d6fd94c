/** From a FlinkDeployment to Flink's own configuration, and to what follows from it: how many, and how large. Pure. */
import { Quantity } from "@berth/kube";
import { isObject } from "../../api/json.ts";
import type { FlinkDeploymentSpec } from "./deployment.ts";

export type FlinkConf = ReadonlyMap<string, string>;

/** Deeper than this nothing is nested on purpose. */
const DEEPEST = 16;

export function flinkConfOf({ flinkConfiguration = {} }: FlinkDeploymentSpec): FlinkConf {
  const conf = new Map<string, string>();
  const add = (prefix: string, value: unknown, depth: number) => {
    if (isObject(value) && depth < DEEPEST) {
      for (const [key, each] of Object.entries(value)) add(prefix === "" ? key : `${prefix}.${key}`, each, depth + 1);
    } else if (value !== null && typeof value !== "object") conf.set(prefix, String(value));
  };
  add("", flinkConfiguration, 0);
  return conf;
}

/** How many tasks one TaskManager runs at a time. */
export function slotsOf(conf: FlinkConf): number {
  return wholeNumber(conf.get("taskmanager.numberOfTaskSlots"), 1);
}

/** How many tasks run at a time: replicas, if given, count more than parallelism. */
export function parallelismOf({ job, taskManager }: FlinkDeploymentSpec, conf: FlinkConf): number {
  if (taskManager?.replicas) return taskManager.replicas * slotsOf(conf);
  return job?.parallelism || wholeNumber(conf.get("parallelism.default"), 1);
}

/** How many TaskManagers that takes; none for a session cluster, which asks for them when it gets a job. */
export function taskManagersOf(spec: FlinkDeploymentSpec): number {
  if (!spec.job) return 0;
  const conf = flinkConfOf(spec);
  return Math.ceil(parallelismOf(spec, conf) / slotsOf(conf));
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  const number = Number(text);
  return text !== undefined && Number.isSafeInteger(number) && number >= 1 && number <= 1e6 ? number : otherwise;
}

/** What a process asks Kubernetes for. */
export interface FlinkResources {
  readonly requests: Record<string, string>;
  readonly limits: Record<string, string>;
}

const USUAL = {
  jobmanager: { memory: "1600m", cpu: "1.0" },
  taskmanager: { memory: "1728m", cpu: undefined },
} as const;

/** Memory is exactly what was asked for: Flink divides it up inside. */
export function resourcesOf(spec: FlinkDeploymentSpec, component: "jobmanager" | "taskmanager"): FlinkResources {
  const conf = flinkConfOf(spec);
  const { resource = {} } = (component === "jobmanager" ? spec.jobManager : spec.taskManager) ?? {};
  const usual = USUAL[component];
  const memory = mebibytes(resource.memory ?? conf.get(`${component}.memory.process.size`) ?? usual.memory);
  const cpu = resource.cpu ?? positive(conf.get(`kubernetes.${component}.cpu.amount`) ?? usual.cpu, slotsOf(conf));
  const memoryLimit = Math.floor(memory * positive(conf.get(`kubernetes.${component}.memory.limit-factor`), 1));
  const cpuLimit = cpu * positive(conf.get(`kubernetes.${component}.cpu.limit-factor`), 1);
  return {
    requests: { memory: `${memory}Mi`, cpu: canonical(cpu) },
    limits: { memory: `${memoryLimit}Mi`, cpu: canonical(cpuLimit) },
  };
}

function positive(text: string | undefined, otherwise: number): number {
  const number = Number(text);
  return text !== undefined && Number.isFinite(number) && number > 0 ? number : otherwise;
}

/** "500m" for 0.5, as the API server would write it. */
function canonical(cpu: number): string {
  return Quantity.parse(cpu.toFixed(3)).toString();
}

const UNITS = new Map([
  ["", 1],
  ["b", 1],
  ["bytes", 1],
  ...["k", "kb", "kibibytes"].map((unit) => [unit, 2 ** 10] as const),
  ...["m", "mb", "mebibytes"].map((unit) => [unit, 2 ** 20] as const),
  ...["g", "gb", "gibibytes"].map((unit) => [unit, 2 ** 30] as const),
  ...["t", "tb", "tebibytes"].map((unit) => [unit, 2 ** 40] as const),
]);

/** Reads an amount of memory as Flink does ("2048m" is 2048 MiB), or else as Kubernetes does ("2Gi"). */
export function mebibytes(amount: string): number {
  const [, digits, unit = ""] = /^(\d{1,15})\s*([a-z]*)$/.exec(amount.trim().toLowerCase()) ?? [];
  const factor = UNITS.get(unit);
  if (digits !== undefined && factor !== undefined) return Math.floor((Number(digits) * factor) / 2 ** 20);
  return Math.floor(Number(Quantity.parse(amount.trim()).nano / 1_000_000_000n) / 2 ** 20);
}

/** A duration as Flink writes it: "30 s", "30000", "1 min". */
export function milliseconds(text: string | undefined, otherwise: number): number {
  const [, digits, unit = "ms"] = /^(\d{1,12})\s*(ms|s|sec|m|min|h|d)?$/.exec(text?.trim() ?? "") ?? [];
  if (digits === undefined) return otherwise;
  const factors: Record<string, number> = {
    ms: 1,
    s: 1000,
    sec: 1000,
    m: 60_000,
    min: 60_000,
    h: 3_600_000,
    d: 86_400_000,
  };
  return Number(digits) * (factors[unit] ?? 1);
}
