/** The rules of horizontal pod autoscalers, as far as anybody meets them. */
import type { autoscalingV2 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkNotNegative, checkOneOf } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { isNegative, isPositive } from "../common/quantities.ts";

type Autoscaler = LooseObject<autoscalingV2.HorizontalPodAutoscaler>;
type ScalingRules = Loose<autoscalingV2.HPAScalingRules>;
type Metric = Loose<autoscalingV2.MetricSpec>;

const percent = (value: number) => ({ type: "Percent", value, periodSeconds: 15 });

export const autoscalerRules: Rules = {
  generation: false,
  default: ({ spec }: Autoscaler) => {
    if (!spec) return;
    spec.minReplicas ??= 1;
    if (!spec.metrics?.length) {
      const target = { type: "Utilization", averageUtilization: 80 };
      spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    }
    if (!spec.behavior) return;
    const up: ScalingRules = { stabilizationWindowSeconds: 0, selectPolicy: "Max" };
    up.policies = [{ type: "Pods", value: 4, periodSeconds: 15 }, percent(100)];
    spec.behavior.scaleUp = { ...up, ...spec.behavior.scaleUp };
    spec.behavior.scaleDown = { selectPolicy: "Max", policies: [percent(100)], ...spec.behavior.scaleDown };
  },
  prepareForCreate: (autoscaler: Autoscaler) => {
    autoscaler.status = { desiredReplicas: 0 };
  },
  validate: (autoscaler: Autoscaler, errors) => checkAutoscaler(autoscaler, errors),
  validateUpdate: (autoscaler: Autoscaler, _before, errors) => checkAutoscaler(autoscaler, errors),
  validateStatusUpdate: ({ status = {} }: Autoscaler, _before, errors) => {
    checkNotNegative(status.currentReplicas, "status.currentReplicas", errors);
    checkNotNegative(status.desiredReplicas, "status.desiredReplicas", errors);
  },
};

function checkAutoscaler({ spec = {} }: Autoscaler, errors: FieldErrors): void {
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {}, metrics = [], behavior } = spec;
  if (minReplicas !== undefined && minReplicas < 1) {
    errors.invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1");
  }
  if (maxReplicas === 0) errors.required("spec.maxReplicas", "must be set and greater than 0");
  else if (maxReplicas < 0) errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1");
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`");
  }
  checkReference(scaleTargetRef, true, "spec.scaleTargetRef", errors);
  for (const [index, metric] of metrics.entries()) checkMetric(metric, `spec.metrics[${index}]`, errors);
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas";
    errors.forbidden("spec.metrics", why);
  }
  if (behavior?.scaleUp) checkScaling(behavior.scaleUp, "spec.behavior.scaleUp", errors);
  if (behavior?.scaleDown) checkScaling(behavior.scaleDown, "spec.behavior.scaleDown", errors);
}

function checkReference(
  reference: Loose<autoscalingV2.CrossVersionObjectReference>,
  needsGroup: boolean,
  field: string,
  errors: FieldErrors,
): void {
  for (const name of ["kind", "name"] as const) {
    const value = reference[name];
    if (!value) errors.required(`${field}.${name}`);
    else for (const problem of nameProblems(value, "segment")) errors.invalid(`${field}.${name}`, value, problem);
  }
  const { apiVersion = "" } = reference;
  const parts = apiVersion.split("/");
  const why =
    parts.length > 2
      ? `unexpected GroupVersion string: ${apiVersion}`
      : needsGroup && (parts.length < 2 || !parts[0])
        ? "apiVersion must specify API group"
        : undefined;
  if (why) errors.invalid(`${field}.apiVersion`, apiVersion, why);
}

/** Which field says more about a metric of a type, in the order in which the first one found counts. */
const SOURCES = {
  Object: "object",
  External: "external",
  Pods: "pods",
  Resource: "resource",
  ContainerResource: "containerResource",
} as const;
const TYPES = Object.keys(SOURCES).sort();

function checkMetric(metric: Metric, field: string, errors: FieldErrors): void {
  const { type = "" } = metric;
  const present = Object.values(SOURCES).filter((source) => metric[source]);
  const expected = Object.hasOwn(SOURCES, type) ? SOURCES[type as keyof typeof SOURCES] : undefined;
  if (type === "") errors.required(`${field}.type`, "must specify a metric source type");
  if (!expected) errors.notSupported(`${field}.type`, type, TYPES);
  const [first] = present;
  if (first) checkSource(metric, first, `${field}.${first}`, errors);
  if (expected && !metric[expected]) {
    errors.required(`${field}.${expected}`, "must populate information for the given metric source");
  }
  if (present.length === 1) return;
  for (const other of present) {
    if (other !== expected) errors.forbidden(`${field}.${other}`, "must populate the given metric source only");
  }
}

function checkSource(
  metric: Metric,
  source: (typeof SOURCES)[keyof typeof SOURCES],
  field: string,
  errors: FieldErrors,
): void {
  const { object, external, pods, resource, containerResource: part } = metric;
  if (source === "object") checkReference(object?.describedObject ?? {}, false, `${field}.describedObject`, errors);
  const named = { object, external, pods }[source as "object"];
  if (named) {
    const { name } = named.metric ?? {};
    if (!name) errors.required(`${field}.metric.name`, "must specify a metric name");
    else for (const problem of nameProblems(name, "segment")) errors.invalid(`${field}.metric.name`, name, problem);
  } else if (!(source === "resource" ? resource : part)?.name) {
    errors.required(`${field}.name`, "must specify a resource name");
  }
  if (source === "containerResource" && !part?.container) {
    errors.required(`${field}.container`, "must specify a container");
  }
  const { target = {} } = metric[source] ?? {};
  checkTarget(target, `${field}.target`, errors);
  const { value, averageValue, averageUtilization } = target;
  if (named) {
    const neither = value === undefined && averageValue === undefined;
    if (source === "pods" ? averageValue === undefined : neither) {
      errors.required(`${field}.target.averageValue`, "must set either a target value or averageValue");
    }
    if (source === "external" && value !== undefined && averageValue !== undefined) {
      const why = "may not set both a target value for metric and a per-pod target";
      errors.forbidden(`${field}.target.value`, why);
    }
  } else if (averageUtilization === undefined && averageValue === undefined) {
    const why = "must set either a target raw value or a target utilization";
    errors.required(`${field}.target.averageUtilization`, why);
  } else if (averageUtilization !== undefined && averageValue !== undefined) {
    const why = "may not set both a target raw value and a target utilization";
    errors.forbidden(`${field}.target.averageValue`, why);
  }
}

function checkTarget(target: Loose<autoscalingV2.MetricTarget>, field: string, errors: FieldErrors): void {
  const { type = "", value, averageValue, averageUtilization } = target;
  if (type === "") errors.required(`${field}.type`, "must specify a metric target type");
  if (!["Utilization", "Value", "AverageValue"].includes(type)) {
    errors.invalid(`${field}.type`, type, "must be either Utilization, Value, or AverageValue");
  }
  if (value !== undefined && !isPositive(value)) errors.invalid(`${field}.value`, value, "must be positive");
  if (averageValue !== undefined && !isPositive(averageValue)) {
    errors.invalid(`${field}.averageValue`, averageValue, "must be positive");
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.invalid(`${field}.averageUtilization`, averageUtilization, "must be greater than 0");
  }
}

function checkScaling(rules: ScalingRules, field: string, errors: FieldErrors): void {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules;
  const window = `${field}.stabilizationWindowSeconds`;
  if (seconds !== undefined && seconds < 0) errors.invalid(window, seconds, "must be greater than or equal to zero");
  if (seconds !== undefined && seconds > 3600) errors.invalid(window, seconds, "must be less than or equal to 3600");
  if (selectPolicy !== undefined) {
    checkOneOf(selectPolicy, ["Disabled", "Max", "Min"], `${field}.selectPolicy`, errors);
  }
  if (policies.length === 0) errors.required(`${field}.policies`, "must specify at least one Policy");
  for (const [index, { type, value = 0, periodSeconds = 0 }] of policies.entries()) {
    const place = `${field}.policies[${index}]`;
    checkOneOf(type, ["Percent", "Pods"], `${place}.type`, errors);
    if (value <= 0) errors.invalid(`${place}.value`, value, "must be greater than zero");
    if (periodSeconds <= 0) errors.invalid(`${place}.periodSeconds`, periodSeconds, "must be greater than zero");
    if (periodSeconds > 1800) {
      errors.invalid(`${place}.periodSeconds`, periodSeconds, "must be less than or equal to 1800");
    }
  }
  if (isNegative(tolerance)) errors.invalid(`${field}.tolerance`, tolerance, "must be greater than or equal to 0");
}
