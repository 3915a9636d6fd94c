/** What a job is to do: whether it makes sense. A cron job's template has the same. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems } from "../../api/names.ts";
import { checkNotNegative, checkOneOf, checkQualified } from "../common/formats.ts";
import { readIndexes } from "./indexes.ts";
import type { JobSpec } from "./job.ts";
import { checkTemplate } from "./template.ts";

const MOST_PARALLEL = 100_000;
const MANY_COMPLETIONS = 100_000;
const MOST_OF_MANY = 10_000;
const MOST_RULES = 20;

const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const;

export function checkJobSpec(spec: JobSpec, field: string, errors: FieldErrors): void {
  for (const name of COUNTS) checkNotNegative(spec[name], `${field}.${name}`, errors);
  const { maxFailedIndexes, backoffLimitPerIndex, managedBy, completionMode, podFailurePolicy, successPolicy } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.required(`${field}.backoffLimitPerIndex`, "when maxFailedIndexes is specified");
  }
  if (managedBy !== undefined) checkManager(managedBy, `${field}.managedBy`, errors);
  if (completionMode !== undefined) {
    checkOneOf(completionMode, ["NonIndexed", "Indexed"], `${field}.completionMode`, errors);
  }
  if (completionMode === "Indexed") checkIndexed(spec, field, errors);
  if (completionMode === undefined || completionMode === "NonIndexed") {
    for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"] as const) {
      if (spec[name] !== undefined) errors.invalid(`${field}.${name}`, spec[name], "requires indexed completion mode");
    }
  }
  if (podFailurePolicy) checkFailurePolicy(spec, `${field}.podFailurePolicy.rules`, errors);
  if (successPolicy) {
    if (completionMode !== "Indexed") {
      errors.invalid(`${field}.successPolicy`, successPolicy, "requires indexed completion mode");
    } else checkSuccessPolicy(spec, `${field}.successPolicy.rules`, errors);
  }
  if (spec.podReplacementPolicy !== undefined) {
    const supported = podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
    checkOneOf(spec.podReplacementPolicy, supported, `${field}.podReplacementPolicy`, errors);
  }
  checkTemplate(spec.template ?? {}, `${field}.template`, errors);
  checkRestartPolicy(spec, `${field}.template.spec.restartPolicy`, errors);
}

function checkRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string, errors: FieldErrors): void {
  const policy = template?.spec?.restartPolicy ?? "";
  if (policy === "Always" || policy === "") errors.required(field, 'valid values: "OnFailure", "Never"');
  else if (policy !== "OnFailure" && policy !== "Never") errors.notSupported(field, policy, ["OnFailure", "Never"]);
  else if (podFailurePolicy && policy !== "Never") {
    errors.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

const URL_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

function checkManager(manager: string, field: string, errors: FieldErrors): void {
  const slash = manager.indexOf("/");
  const [host, path] = [manager.slice(0, slash), manager.slice(slash + 1)];
  if (manager === "") errors.required(field);
  else if (slash <= 0 || path === "") {
    errors.invalid(field, manager, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else {
    for (const problem of nameProblems(host, "subdomain")) errors.invalid(field, host, problem);
    if (!URL_PATH.test(path)) {
      errors.invalid(field, path, `Invalid path (regex used for validation is '${URL_PATH.source.slice(1, -1)}')`);
    }
  }
  if (manager.length > 63) errors.tooLong(field, 63);
}

function checkIndexed(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const atMost = (limit: number, name: string, value: number | undefined, more = "") => {
    if (value === undefined || value <= limit) return;
    errors.invalid(`${field}.${name}`, value, `must be less than or equal to ${limit}${more}`);
  };
  if (completions === undefined) errors.required(`${field}.completions`, "when completion mode is Indexed");
  atMost(MOST_PARALLEL, "parallelism", parallelism, " when completion mode is Indexed");
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    errors.invalid(`${field}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions");
  }
  atMost(MOST_PARALLEL, "maxFailedIndexes", maxFailedIndexes);
  if ((completions ?? 0) <= MANY_COMPLETIONS || backoffLimitPerIndex === undefined) return;
  const many = ` when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    const why = `must be specified when completions is above ${MANY_COMPLETIONS}`;
    errors.required(`${field}.maxFailedIndexes`, why);
  }
  atMost(MOST_OF_MANY, "parallelism", parallelism, many);
  atMost(MOST_OF_MANY, "maxFailedIndexes", maxFailedIndexes, many);
}

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];

function checkFailurePolicy(spec: JobSpec, field: string, errors: FieldErrors): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  if (rules.length > MOST_RULES) errors.tooMany(field, rules.length, MOST_RULES);
  const { containers, initContainers } = spec.template?.spec ?? {};
  const names = [...(containers ?? []), ...(initContainers ?? [])].map(({ name = "" }) => name);
  for (const [index, { action = "", onExitCodes, onPodConditions = [] }] of rules.entries()) {
    const place = `${field}[${index}]`;
    if (action === "") errors.required(`${place}.action`, `valid values: ${quoted(ACTIONS)}`);
    else if (action === "FailIndex") {
      if (spec.backoffLimitPerIndex === undefined) {
        errors.invalid(`${place}.action`, action, "requires the backoffLimitPerIndex to be set");
      }
    } else checkOneOf(action, ACTIONS, `${place}.action`, errors);
    if (onExitCodes) checkExitCodes(onExitCodes, names, `${place}.onExitCodes`, errors);
    checkConditions(onPodConditions, `${place}.onPodConditions`, errors);
    if (onExitCodes && onPodConditions.length > 0) {
      errors.invalidValue(place, "specifying both OnExitCodes and OnPodConditions is not supported");
    } else if (!onExitCodes && onPodConditions.length === 0) {
      errors.invalidValue(place, "specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
}

type FailureRule = NonNullable<NonNullable<JobSpec["podFailurePolicy"]>["rules"]>[number];

function checkExitCodes(
  { operator = "", containerName, values }: NonNullable<FailureRule["onExitCodes"]>,
  names: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  const codes = values ?? [];
  if (operator === "") errors.required(`${field}.operator`, `valid values: ${quoted(["In", "NotIn"])}`);
  else checkOneOf(operator, ["In", "NotIn"], `${field}.operator`, errors);
  if (containerName !== undefined && !names.includes(containerName)) {
    const why = "must be one of the container or initContainer names in the pod template";
    errors.invalid(`${field}.containerName`, containerName, why);
  }
  const place = `${field}.values`;
  if (codes.length === 0) errors.invalid(place, codes, "at least one value is required");
  else if (codes.length > 255) errors.tooMany(place, codes.length, 255);
  const seen = new Set<number>();
  for (const [index, code] of codes.entries()) {
    if (operator === "In" && code === 0) {
      errors.invalid(`${place}[${index}]`, code, "must not be 0 for the In operator");
    }
    if (seen.has(code)) errors.duplicate(`${place}[${index}]`, code);
    seen.add(code);
  }
  if (codes.some((code, index) => index > 0 && (codes[index - 1] ?? 0) > code)) {
    errors.invalid(place, codes, "must be ordered");
  }
}

const STATUSES = ["False", "True", "Unknown"];

function checkConditions(
  patterns: NonNullable<FailureRule["onPodConditions"]>,
  field: string,
  errors: FieldErrors,
): void {
  if (patterns.length > MOST_RULES) errors.tooMany(field, patterns.length, MOST_RULES);
  for (const [index, { type = "", status }] of patterns.entries()) {
    checkQualified(type, `${field}[${index}].type`, errors);
    checkOneOf(status, STATUSES, `${field}[${index}].status`, errors);
  }
}

function checkSuccessPolicy(spec: JobSpec, field: string, errors: FieldErrors): void {
  const rules = spec.successPolicy?.rules ?? [];
  const { completions = 0 } = spec;
  if (rules.length === 0) {
    errors.required(field, "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.length > MOST_RULES) errors.tooMany(field, rules.length, MOST_RULES);
  for (const [index, { succeededCount, succeededIndexes }] of rules.entries()) {
    const place = `${field}[${index}]`;
    if (succeededCount === undefined && succeededIndexes === undefined) {
      errors.required(place, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let total = 0;
    if (succeededIndexes !== undefined) {
      if (succeededIndexes.length > 64 * 1024) errors.tooLong(`${place}.succeededIndexes`, 64 * 1024);
      const { count, problem } = readIndexes(succeededIndexes, completions);
      total = count;
      if (problem) {
        const why = `error parsing succeededIndexes: ${problem}`;
        errors.invalid(`${place}.succeededIndexes`, succeededIndexes, why);
      }
    }
    if (succeededCount === undefined) continue;
    checkNotNegative(succeededCount, `${place}.succeededCount`, errors);
    const atMost = "must be less than or equal to";
    if (succeededCount > completions) {
      const why = `${atMost} ${completions} (the number of specified completions)`;
      errors.invalid(`${place}.succeededCount`, succeededCount, why);
    }
    if (succeededIndexes !== undefined && succeededCount > total) {
      const why = `${atMost} ${total} (the number of indexes in the specified succeededIndexes field)`;
      errors.invalid(`${place}.succeededCount`, succeededCount, why);
    }
  }
}

/** As Go prints a list of texts. */
function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
