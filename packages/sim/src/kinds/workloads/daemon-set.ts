/** The rules of daemon sets. */
import type { appsV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { badRequest } from "../../api/refusal.ts";
import type { Rules } from "../../api/resource.ts";
import { checkCountOrPercent, checkNotNegative, checkUnchanged } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { own } from "../common/maps.ts";
import { checkSelector, isEmptySelector } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";
import { amountOf, checkWhole } from "./deployment.ts";
import { checkCollisions, checkLastingTemplate, defaultTemplate, prepareTemplate } from "./template.ts";

type DaemonSet = LooseObject<appsV1.DaemonSet>;
type Spec = Loose<appsV1.DaemonSetSpec>;

/** Which of its templates this is; what was a field in an older version is an annotation in this one. */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

const COUNTS = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
] as const;

export const daemonSetRules: Rules = {
  default: ({ spec, metadata }: DaemonSet) => {
    const generation = own(metadata.annotations, TEMPLATE_GENERATION);
    if (generation !== undefined && !/^[+-]?\d+$/.test(generation)) {
      const problem = `strconv.ParseInt: parsing ${JSON.stringify(generation)}: invalid syntax`;
      throw badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${problem}`);
    }
    if (!spec) return;
    spec.updateStrategy ??= {};
    const { updateStrategy: strategy } = spec;
    strategy.type ||= "RollingUpdate";
    if (strategy.type === "RollingUpdate") {
      strategy.rollingUpdate ??= {};
      strategy.rollingUpdate.maxUnavailable ??= 1;
      strategy.rollingUpdate.maxSurge ??= 0;
    }
    spec.revisionHistoryLimit ??= 10;
    defaultTemplate(spec.template);
  },
  prepareForCreate: (set: DaemonSet) => {
    set.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
    prepareTemplate(set.spec?.template);
    number(set, Math.max(1, templateGeneration(set)));
  },
  validate: ({ spec = {} }: DaemonSet, errors) => checkSpec(spec, errors),
  prepareForUpdate: (set: DaemonSet, before: DaemonSet) => {
    prepareTemplate(set.spec?.template);
    const isChanged = !same(set.spec?.template, before.spec?.template);
    number(set, templateGeneration(before) + (isChanged ? 1 : 0));
  },
  validateUpdate: ({ spec = {} }: DaemonSet, { spec: old = {} }: DaemonSet, errors) => {
    checkUnchanged(same(spec.selector, old.selector), spec.selector, "spec.selector", errors);
    checkSpec(spec, errors);
  },
  validateStatusUpdate: ({ status = {} }: DaemonSet, before: DaemonSet, errors) => {
    for (const name of COUNTS) checkNotNegative(status[name], `status.${name}`, errors);
    checkCollisions(status, before.status ?? {}, errors);
  },
};

function templateGeneration({ metadata }: DaemonSet): number {
  return Number(own(metadata.annotations, TEMPLATE_GENERATION) ?? 0);
}

function number({ metadata }: DaemonSet, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function checkSpec(spec: Spec, errors: FieldErrors): void {
  const { selector, template = {}, minReadySeconds, revisionHistoryLimit } = spec;
  checkSelector(selector, "spec.selector", errors);
  if (selector && isEmptySelector(selector)) {
    errors.invalid("spec.selector", selector, "empty selector is invalid for daemonset");
  }
  checkLastingTemplate(template, selector, "DaemonSet", "spec.template", errors);
  checkNotNegative(minReadySeconds, "spec.minReadySeconds", errors);
  checkStrategy(spec.updateStrategy ?? {}, "spec.updateStrategy", errors);
  checkNotNegative(revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
}

function checkStrategy(strategy: NonNullable<Spec["updateStrategy"]>, field: string, errors: FieldErrors): void {
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") {
    errors.notSupported(field, strategy, ["RollingUpdate", "OnDelete"]);
    return;
  }
  const place = `${field}.rollingUpdate`;
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  for (const [name, value] of [
    ["maxUnavailable", maxUnavailable],
    ["maxSurge", maxSurge],
  ] as const) {
    checkCountOrPercent(value, `${place}.${name}`, errors);
    checkWhole(value, `${place}.${name}`, errors);
  }
  const [unavailable, surge] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0];
  if (unavailable && surge) {
    errors.invalid(`${place}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero");
  } else if (!unavailable && !surge) {
    errors.required(`${place}.maxUnavailable`, "cannot be 0 when maxSurge is 0");
  }
}
