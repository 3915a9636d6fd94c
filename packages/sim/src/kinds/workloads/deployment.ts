/** The rules of deployments. */
import type { appsV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkCountOrPercent, checkNotNegative, checkUnchanged, percentOf } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { checkSelector, isEmptySelector, type Selector } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";
import {
  checkCollisions,
  checkLastingTemplate,
  checkReplicaCounts,
  defaultTemplate,
  prepareTemplate,
} from "./template.ts";

type Deployment = LooseObject<appsV1.Deployment>;
type Spec = Loose<appsV1.DeploymentSpec>;

export const deploymentRules: Rules = {
  default: ({ spec }: Deployment) => {
    if (!spec) return;
    spec.replicas ??= 1;
    spec.strategy ??= {};
    const { strategy } = spec;
    strategy.type ||= "RollingUpdate";
    if (strategy.type === "RollingUpdate") {
      strategy.rollingUpdate ??= {};
      strategy.rollingUpdate.maxUnavailable ??= "25%";
      strategy.rollingUpdate.maxSurge ??= "25%";
    }
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    defaultTemplate(spec.template);
  },
  prepareForCreate: (deployment: Deployment) => {
    deployment.status = {};
    prepareTemplate(deployment.spec?.template);
  },
  validate: ({ spec = {} }: Deployment, errors) => checkSpec(spec, errors),
  prepareForUpdate: ({ spec, metadata }: Deployment, before: Deployment) => {
    prepareTemplate(spec?.template);
    // Tools keep what they want in annotations here, so these count as wishes too.
    if (!same(metadata.annotations ?? {}, before.metadata.annotations ?? {})) {
      metadata.generation = (before.metadata.generation ?? 0) + 1;
    }
  },
  validateUpdate: ({ spec = {} }: Deployment, { spec: old = {} }: Deployment, errors) => {
    checkSpec(spec, errors);
    checkUnchanged(same(spec.selector, old.selector), spec.selector, "spec.selector", errors);
  },
  prepareForStatusUpdate: ({ metadata }: Deployment, before: Deployment) => {
    if (before.metadata.labels) metadata.labels = before.metadata.labels;
    else delete metadata.labels;
  },
  validateStatusUpdate: ({ status = {} }: Deployment, before: Deployment, errors) => {
    const counts = ["updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"];
    checkReplicaCounts(status, counts, errors);
    checkCollisions(status, before.status ?? {}, errors);
  },
};

/** A selector that must be there, and select something less than everything. */
export function checkOwnSelector(
  selector: Selector | undefined,
  kind: string,
  field: string,
  errors: FieldErrors,
): void {
  if (!selector) {
    errors.required(field);
    return;
  }
  checkSelector(selector, field, errors);
  if (isEmptySelector(selector)) errors.invalid(field, selector, `empty selector is invalid for ${kind}`);
}

/** A selector that no labels can be compared with is said to be wrong once more. */
export function checkReadable(selector: Selector | undefined, field: string, errors: FieldErrors): boolean {
  const isReadable = errors.causes.every((cause) => !cause.field.startsWith(`${field}.`));
  if (!isReadable) errors.invalid(field, selector, "invalid label selector");
  return isReadable;
}

function checkSpec(spec: Spec, errors: FieldErrors): void {
  const { replicas, selector, template = {}, strategy = {}, minReadySeconds = 0, progressDeadlineSeconds } = spec;
  checkNotNegative(replicas, "spec.replicas", errors);
  checkOwnSelector(selector, "deployment", "spec.selector", errors);
  if (checkReadable(selector, "spec.selector", errors)) {
    checkLastingTemplate(template, selector, "ReplicaSet", "spec.template", errors);
  }
  checkStrategy(strategy, "spec.strategy", errors);
  checkNotNegative(minReadySeconds, "spec.minReadySeconds", errors);
  checkNotNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
  if (progressDeadlineSeconds === undefined) return;
  checkNotNegative(progressDeadlineSeconds, "spec.progressDeadlineSeconds", errors);
  if (progressDeadlineSeconds <= minReadySeconds) {
    const why = "must be greater than minReadySeconds";
    errors.invalid("spec.progressDeadlineSeconds", progressDeadlineSeconds, why);
  }
}

function checkStrategy(strategy: NonNullable<Spec["strategy"]>, field: string, errors: FieldErrors): void {
  const { type, rollingUpdate } = strategy;
  const place = `${field}.rollingUpdate`;
  switch (type) {
    case "Recreate":
      if (rollingUpdate) errors.forbidden(place, "may not be specified when strategy `type` is 'Recreate'");
      break;
    case "RollingUpdate": {
      const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
      checkCountOrPercent(maxUnavailable, `${place}.maxUnavailable`, errors);
      checkCountOrPercent(maxSurge, `${place}.maxSurge`, errors);
      if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
        errors.invalid(`${place}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0");
      }
      checkWhole(maxUnavailable, `${place}.maxUnavailable`, errors);
      break;
    }
    default:
      errors.notSupported(field, strategy, ["Recreate", "RollingUpdate"]);
  }
}

/** A number, or that before a percent sign; of other texts what number there is. */
export function amountOf(value: number | string): number {
  if (typeof value === "number") return value;
  const amount = percentOf(value) ?? Number(value);
  return Number.isInteger(amount) ? amount : 0;
}

/** No more than all. */
export function checkWhole(value: number | string, field: string, errors: FieldErrors): void {
  if ((percentOf(value) ?? 0) > 100) errors.invalid(field, value, "must not be greater than 100%");
}
