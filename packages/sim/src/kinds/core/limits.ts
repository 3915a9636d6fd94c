/** The rules of what a namespace may have: quotas and ranges of limits. */
import type { coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { uuid } from "../../api/metadata.ts";
import { qualifiedNameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkUnchanged } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { own } from "../common/maps.ts";
import { isLess, quantityOf, type ResourceList, roundResources } from "../common/quantities.ts";
import {
  allowsOvercommit,
  checkContainerResourceName,
  checkQuotaResourceName,
  checkResourceName,
  isQuotaName,
} from "../common/resource-names.ts";
import { same } from "../common/semantic.ts";
import { checkAmount } from "../pod/resources.ts";

type ResourceQuota = LooseObject<coreV1.ResourceQuota>;
type QuotaSpec = Loose<coreV1.ResourceQuotaSpec>;
type LimitRange = LooseObject<coreV1.LimitRange>;
type Limit = Loose<coreV1.LimitRangeItem>;

export const resourceQuotaRules: Rules = {
  generation: false,
  default: ({ spec }: ResourceQuota) => roundResources(spec?.hard),
  defaultStatus: ({ status }: ResourceQuota) => {
    roundResources(status?.hard);
    roundResources(status?.used);
  },
  prepareForCreate: (quota: ResourceQuota) => {
    quota.status = {};
  },
  validate: ({ spec = {} }: ResourceQuota, errors) => checkQuota(spec, errors),
  validateUpdate: ({ spec = {} }: ResourceQuota, { spec: old = {} }: ResourceQuota, errors) => {
    checkQuota(spec, errors);
    const isSame = same([...new Set(spec.scopes)].sort(), [...new Set(old.scopes)].sort());
    checkUnchanged(isSame, spec.scopes ?? [], "spec.scopes", errors);
  },
  validateStatusUpdate: ({ status = {} }: ResourceQuota, _before, errors) => {
    checkAmounts(status.hard, "status.hard", errors);
    checkAmounts(status.used, "status.used", errors);
  },
};

function checkAmounts(list: ResourceList | undefined, field: string, errors: FieldErrors): void {
  for (const name in list) {
    checkQuotaResourceName(name, `${field}[${name}]`, errors);
    checkAmount(name, list[name] as string, `${field}[${name}]`, errors);
  }
}

const POD_RESOURCES = ["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
/** Which pods or claims a quota counts, and which resources that makes sense for. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  Terminating: POD_RESOURCES,
  NotTerminating: POD_RESOURCES,
  NotBestEffort: POD_RESOURCES,
  PriorityClass: POD_RESOURCES,
  CrossNamespacePodAffinity: POD_RESOURCES,
  BestEffort: ["pods"],
  VolumeAttributesClass: ["persistentvolumeclaims", "requests.storage"],
};
const EXCLUSIVE = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

function checkQuota(spec: QuotaSpec, errors: FieldErrors): void {
  checkAmounts(spec.hard, "spec.hard", errors);
  const unfit = (scope: string) =>
    Object.keys(spec.hard ?? {}).filter((name) => isQuotaName(name) && own(SCOPES, scope)?.includes(name) === false);
  const { scopes = [], scopeSelector } = spec;
  for (const scope of scopes) {
    if (own(SCOPES, scope) === undefined) errors.invalid("spec.scopes", scopes, "unsupported scope");
    for (const _ of unfit(scope)) errors.invalid("spec.scopes", scopes, "unsupported scope applied to resource");
  }
  checkExclusive(scopes, "spec.scopes", scopes, errors);
  if (!scopeSelector) return;
  const place = "spec.scopeSelector.matchExpressions";
  const requirements = scopeSelector.matchExpressions ?? [];
  for (const { scopeName = "", operator = "", values = [] } of requirements) {
    if (own(SCOPES, scopeName) === undefined) errors.invalid(`${place}.scopeName`, scopeName, "unsupported scope");
    for (const _ of unfit(scopeName)) errors.invalid(place, scopeSelector, "unsupported scope applied to resource");
    const needsExists = scopeName !== "PriorityClass" && scopeName !== "VolumeAttributesClass";
    if (needsExists && own(SCOPES, scopeName) && operator !== "Exists") {
      const scope = "ResourceQuotaScope";
      const list = ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort"].map((name) => scope + name);
      const why = `must be 'Exists' when scope is any of ${list.join(", ")} or ${scope}CrossNamespacePodAffinity`;
      errors.invalid(`${place}.operator`, operator, why);
    }
    checkScopeOperator(operator, values, place, errors);
  }
  const named = requirements.map(({ scopeName = "" }) => scopeName);
  checkExclusive(named, place, scopes, errors);
}

function checkExclusive(scopes: readonly string[], field: string, shown: readonly string[], errors: FieldErrors): void {
  for (const [one, other] of EXCLUSIVE) {
    if (scopes.includes(one) && scopes.includes(other)) errors.invalid(field, shown, "conflicting scopes");
  }
}

function checkScopeOperator(operator: string, values: readonly string[], field: string, errors: FieldErrors): void {
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      errors.required(`${field}.values`, why);
    }
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) {
      const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      errors.invalid(`${field}.values`, values, why);
    }
  } else errors.invalid(`${field}.operator`, operator, "not a valid selector operator");
}

const LISTS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

export const limitRangeRules: Rules = {
  default: ({ spec }: LimitRange) => {
    for (const limit of spec?.limits ?? []) {
      if (limit.type === "Container") defaultLimit(limit);
      for (const list of LISTS) roundResources(limit[list]);
    }
  },
  prepareForCreate: ({ metadata }: LimitRange, { random }) => {
    if (!metadata.name) metadata.name = uuid(random);
  },
  validate: (range: LimitRange, errors) => checkLimitRange(range, errors),
  validateUpdate: (range: LimitRange, _before, errors) => checkLimitRange(range, errors),
};

/** The most is the default, and the default what is asked for; else the least is. */
function defaultLimit(limit: Limit): void {
  const fill = (from: ResourceList | undefined, to: "default" | "defaultRequest") => {
    for (const name in from) {
      limit[to] ??= {};
      if (own(limit[to], name) === undefined) limit[to][name] = from[name] as string;
    }
  };
  fill(limit.max, "default");
  fill(limit.default, "defaultRequest");
  fill(limit.min, "defaultRequest");
}

function checkLimitRange({ spec = {} }: LimitRange, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, limit] of (spec.limits ?? []).entries()) {
    const { type = "" } = limit;
    const place = `spec.limits[${index}]`;
    checkType(type, `${place}.type`, errors);
    if (seen.has(type)) errors.duplicate(`${place}.type`, type);
    seen.add(type);
    const names = new Set<string>();
    for (const list of LISTS) {
      if (type === "Pod" && (list === "default" || list === "defaultRequest")) {
        if (limit[list]) errors.forbidden(`${place}.${list}`, "may not be specified when `type` is 'Pod'");
        continue;
      }
      for (const name in limit[list]) {
        const check = type === "Pod" || type === "Container" ? checkContainerResourceName : checkResourceName;
        check(name, `${place}.${list}[${name}]`, errors);
        names.add(name);
      }
    }
    if (type === "PersistentVolumeClaim" && !own(limit.min, "storage") && !own(limit.max, "storage")) {
      const why = "either minimum or maximum storage value is required, but neither was provided";
      errors.required(`${place}.limits`, why);
    }
    for (const name of names) checkOrder(limit, name, place, errors);
  }
}

function checkType(type: string, field: string, errors: FieldErrors): void {
  const problems = qualifiedNameProblems(type);
  for (const problem of problems) errors.invalid(field, type, problem);
  if (problems.length > 0 || type.includes("/")) return;
  if (!["Pod", "Container", "PersistentVolumeClaim"].includes(type)) {
    errors.invalid(field, type, "must be a standard limit type or fully qualified");
  }
}

/** Which of two must not be more than the other: where that is said, of what, and in which words. */
function checkOrder(limit: Limit, name: string, field: string, errors: FieldErrors): void {
  const isPod = limit.type === "Pod";
  const [min, max, ratio] = [own(limit.min, name), own(limit.max, name), own(limit.maxLimitRequestRatio, name)];
  const [usual, asked] = isPod ? [] : [own(limit.default, name), own(limit.defaultRequest, name)];
  const ordered = (
    low: string | undefined,
    high: string | undefined,
    list: (typeof LISTS)[number],
    shown: string | undefined,
    words: readonly [low: string, high: string],
  ) => {
    if (low === undefined || high === undefined || !isLess(high, low)) return;
    errors.invalid(`${field}.${list}[${name}]`, shown, `${words[0]} ${low} is greater than ${words[1]} ${high}`);
  };
  ordered(min, max, "min", min, ["min value", "max value"]);
  ordered(min, asked, "defaultRequest", asked, ["min value", "default request value"]);
  ordered(asked, max, "defaultRequest", asked, ["default request value", "max value"]);
  ordered(asked, usual, "defaultRequest", asked, ["default request value", "default limit value"]);
  ordered(min, usual, "default", min, ["min value", "default value"]);
  ordered(usual, max, "default", max, ["default value", "max value"]);
  const place = `${field}.maxLimitRequestRatio[${name}]`;
  if (ratio !== undefined && isLess(ratio, "1")) errors.invalid(place, ratio, `ratio ${ratio} is less than 1`);
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const limitRatio = quantityOf(max).toNumber() / quantityOf(min).toNumber();
    if (quantityOf(ratio).toNumber() > limitRatio) {
      errors.invalid(place, ratio, `ratio ${ratio} is greater than max/min = ${limitRatio.toFixed(6)}`);
    }
  }
  if (!allowsOvercommit(name) && usual !== undefined && asked !== undefined && !quantityOf(usual).equals(asked)) {
    const why = `default value ${usual} must equal to defaultRequest value ${asked} in ${name}`;
    errors.invalid(`${field}.defaultRequest[${name}]`, asked, why);
  }
}
