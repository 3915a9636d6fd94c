/** What `kubectl get` shows of whatever makes pods, scales them or guards them. Pure. */
import type { AnyObject, JsonObject } from "../../api/json.ts";
import { anyTextAt, at, conditionAt, itemsAt, lengthAt, numberAt, textAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { humanDuration, since } from "./ages.ts";
import {
  age,
  column,
  containerColumns,
  labelsText,
  name,
  numbers,
  selectorColumn,
  selectorText,
  wide,
} from "./common.ts";

const spec = (object: AnyObject, field: string) => numberAt(object, "spec", field);
const status = (object: AnyObject, field: string) => numberAt(object, "status", field);
const templateColumns = containerColumns("spec", "template");

export const replicaSetColumns: readonly Column[] = [
  name,
  numbers("Desired", (object) => spec(object, "replicas")),
  numbers("Current", (object) => status(object, "replicas")),
  numbers("Ready", (object) => status(object, "readyReplicas")),
  age,
  ...templateColumns,
  selectorColumn("spec", "selector"),
];

/** Its selector is a plain map. */
export const replicationControllerColumns: readonly Column[] = [
  ...replicaSetColumns.slice(0, -1),
  wide("Selector", (object) => labelsText(at(object, "spec", "selector"))),
];

export const deploymentColumns: readonly Column[] = [
  name,
  column("Ready", (object) => `${status(object, "readyReplicas")}/${spec(object, "replicas")}`),
  column("Up-to-date", (object) => status(object, "updatedReplicas")),
  column("Available", (object) => status(object, "availableReplicas")),
  age,
  ...templateColumns,
  wide("Selector", (object) => selectorText(at(object, "spec", "selector"))),
];

export const statefulSetColumns: readonly Column[] = [
  name,
  column("Ready", (object) => `${status(object, "readyReplicas")}/${spec(object, "replicas")}`),
  age,
  ...templateColumns,
];

export const daemonSetColumns: readonly Column[] = [
  name,
  numbers("Desired", (object) => status(object, "desiredNumberScheduled")),
  numbers("Current", (object) => status(object, "currentNumberScheduled")),
  numbers("Ready", (object) => status(object, "numberReady")),
  numbers("Up-to-date", (object) => status(object, "updatedNumberScheduled")),
  numbers("Available", (object) => status(object, "numberAvailable")),
  column("Node Selector", (object) => labelsText(at(object, "spec", "template", "spec", "nodeSelector"))),
  age,
  ...templateColumns,
  selectorColumn("spec", "selector"),
];

export const controllerRevisionColumns: readonly Column[] = [
  name,
  column("Controller", ({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (!owner) return "<none>";
    const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : "";
    return `${owner.kind}${group}`.toLowerCase() + `/${owner.name}`;
  }),
  column("Revision", (object) => numberAt(object, "revision")),
  age,
];

const JOB_WORDS = ["Complete", "Failed", "Terminating", "Suspended", "FailureTarget", "SuccessCriteriaMet"];

function jobStatus(job: AnyObject): string {
  const is = (word: string) =>
    word === "Terminating" ? job.metadata.deletionTimestamp !== undefined : conditionAt(job, word) === "True";
  return JOB_WORDS.find(is) ?? "Running";
}

function jobCompletions(job: AnyObject): string {
  const succeeded = status(job, "succeeded");
  const completions = at(job, "spec", "completions");
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = spec(job, "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: AnyObject, now: number): string {
  const [start, end] = [textAt(job, "status", "startTime"), textAt(job, "status", "completionTime")];
  if (!start) return "";
  return end ? humanDuration(Date.parse(end) - Date.parse(start)) : since(start, now);
}

export const jobColumns: readonly Column[] = [
  name,
  column("Status", jobStatus),
  column("Completions", jobCompletions),
  column("Duration", jobDuration),
  age,
  ...templateColumns,
  selectorColumn("spec", "selector"),
];

export const cronJobColumns: readonly Column[] = [
  name,
  column("Schedule", (object) => textAt(object, "spec", "schedule")),
  column("Timezone", (object) => textAt(object, "spec", "timeZone") || "<none>"),
  column("Suspend", (object) => {
    const suspend = at(object, "spec", "suspend");
    return suspend === undefined ? "<unset>" : suspend === true ? "True" : "False";
  }),
  numbers("Active", (object) => lengthAt(object, "status", "active")),
  column("Last Schedule", (object, now) => {
    const last = textAt(object, "status", "lastScheduleTime");
    return last ? since(last, now) : "<none>";
  }),
  age,
  ...containerColumns("spec", "jobTemplate", "spec", "template"),
  selectorColumn("spec", "jobTemplate", "spec", "selector"),
];

export const podDisruptionBudgetColumns: readonly Column[] = [
  name,
  column("Min Available", (object) => anyTextAt(object, "spec", "minAvailable") ?? "N/A"),
  column("Max Unavailable", (object) => anyTextAt(object, "spec", "maxUnavailable") ?? "N/A"),
  numbers("Allowed Disruptions", (object) => status(object, "disruptionsAllowed")),
  age,
];

/** The part of a metric that says what it is about, by its type. */
const METRIC_SOURCES: Readonly<Record<string, string>> = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource",
};

function metricText(metric: JsonObject, current: JsonObject | undefined): string {
  const type = textAt(metric, "type");
  const source = METRIC_SOURCES[type];
  if (source === undefined) return "<unknown type>";
  const [target, present] = [at(metric, source, "target"), at(current, source, "current")];
  const named = type === "Resource" || type === "ContainerResource";
  const prefix = named ? `${textAt(metric, source, "name")}: ` : "";
  const average = anyTextAt(target, "averageValue");
  if (average !== undefined) {
    const suffix = type === "External" || type === "Object" ? " (avg)" : "";
    return `${prefix}${anyTextAt(present, "averageValue") ?? "<unknown>"}/${average}${suffix}`;
  }
  if (!named) return `${anyTextAt(present, "value") ?? "<unknown>"}/${anyTextAt(target, "value") ?? "0"}`;
  const percent = (value: unknown, otherwise: string) => (typeof value === "number" ? `${value}%` : otherwise);
  const used = percent(at(present, "averageUtilization"), "<unknown>");
  return `${prefix}${used}/${percent(at(target, "averageUtilization"), "<auto>")}`;
}

/** Version 1 knows one metric only, in a field of its own. */
function metricsText(autoscaler: AnyObject): string {
  const target = at(autoscaler, "spec", "targetCPUUtilizationPercentage");
  const metrics = itemsAt(autoscaler, "spec", "metrics");
  if (typeof target === "number") {
    const current = at(autoscaler, "status", "currentCPUUtilizationPercentage");
    return `cpu: ${typeof current === "number" ? `${current}%` : "<unknown>"}/${target}%`;
  }
  if (metrics.length === 0) return "<none>";
  const current = itemsAt(autoscaler, "status", "currentMetrics");
  const texts = metrics.map((metric, index) => metricText(metric, current[index]));
  const shown = texts.slice(0, 2).join(", ");
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}

export const autoscalerColumns: readonly Column[] = [
  name,
  column("Reference", (object) => {
    const target = at(object, "spec", "scaleTargetRef");
    return `${textAt(target, "kind")}/${textAt(target, "name")}`;
  }),
  column("Targets", metricsText),
  column("MinPods", (object) => anyTextAt(object, "spec", "minReplicas") ?? "<unset>"),
  column("MaxPods", (object) => spec(object, "maxReplicas")),
  column("Replicas", (object) => status(object, "currentReplicas")),
  age,
];
