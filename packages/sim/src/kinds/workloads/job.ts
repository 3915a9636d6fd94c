/** The rules of jobs. */
import type { batchV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkUnchanged, INT32 } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { isEmptyMap, own } from "../common/maps.ts";
import { checkSelector, compiledSelector, textsOf } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";
import type { PodSpec, PodTemplate } from "../pod/types.ts";
import { checkJobSpec } from "./job-spec.ts";
import { checkJobStatus } from "./job-status.ts";
import { defaultTemplate, prepareTemplate } from "./template.ts";

export type Job = LooseObject<batchV1.Job>;
export type JobSpec = Loose<batchV1.JobSpec>;

const UID = "batch.kubernetes.io/controller-uid";
const NAME = "batch.kubernetes.io/job-name";
const OLD_UID = "controller-uid";
const OLD_NAME = "job-name";

export const jobRules: Rules = {
  default: (job: Job) => {
    const { spec, metadata } = job;
    if (!spec) return;
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : INT32;
    spec.completionMode ??= "NonIndexed";
    spec.suspend ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
    spec.manualSelector ??= false;
    for (const rule of spec.podFailurePolicy?.rules ?? []) {
      for (const pattern of rule.onPodConditions ?? []) pattern.status ||= "True";
    }
    const labels = textsOf(spec.template?.metadata?.labels);
    // The very same map: what the template gets later, the job gets.
    if (labels && isEmptyMap(metadata.labels)) metadata.labels = labels;
    defaultTemplate(spec.template);
  },
  prepareForCreate: (job: Job) => {
    job.status = {};
    if (!job.spec?.manualSelector) generateSelector(job);
    prepareTemplate(job.spec?.template);
  },
  validate: (job: Job, errors) => {
    checkJob(job, errors);
    // What is stored is read with its defaults; only the labels that the server made come too late for the first time.
    const labels = textsOf(job.spec?.template?.metadata?.labels);
    if (labels && isEmptyMap(job.metadata.labels)) job.metadata.labels = labels;
  },
  prepareForUpdate: ({ spec }: Job) => prepareTemplate(spec?.template),
  validateUpdate: (job: Job, before: Job, errors) => {
    checkJob(job, errors);
    checkChanges(job.spec ?? {}, before, errors);
  },
  validateStatusUpdate: (job: Job, before: Job, errors) => checkJobStatus(job, before, errors),
  fields: ({ status = {} }: Job) => ({ "status.successful": String(status.succeeded ?? 0) }),
};

/** A job finds its pods by its uid, which nobody else has. */
function generateSelector(job: Job): void {
  const { name = "", uid = "" } = job.metadata;
  job.spec ??= {};
  job.spec.template ??= {};
  job.spec.template.metadata ??= {};
  job.spec.template.metadata.labels ??= {};
  job.spec.selector ??= {};
  job.spec.selector.matchLabels ??= {};
  const { labels } = job.spec.template.metadata;
  for (const [key, value] of [
    [OLD_NAME, name],
    [NAME, name],
    [OLD_UID, uid],
    [UID, uid],
  ] as const) {
    if (own(labels, key) === undefined) labels[key] = value;
  }
  if (own(job.spec.selector.matchLabels, UID) === undefined) job.spec.selector.matchLabels[UID] = uid;
}

function checkJob({ metadata, spec = {} }: Job, errors: FieldErrors): void {
  const { name = "", uid = "" } = metadata;
  const { selector, template = {}, completions } = spec;
  if (!spec.manualSelector && selector) {
    const expected = { [OLD_UID]: uid, [OLD_NAME]: name, [UID]: uid, [NAME]: name };
    for (const [key, value] of Object.entries(expected)) checkLabel(template, key, value, errors);
    if (compiledSelector(selector)?.matches(expected) === false) {
      errors.invalid("spec.selector", selector, "`selector` not auto-generated");
    }
  }
  checkJobSpec(spec, "spec", errors);
  if (!selector) errors.required("spec.selector");
  else checkSelector(selector, "spec.selector", errors);
  const labels = textsOf(template.metadata?.labels);
  // No selector at all selects nothing.
  if (!selector || compiledSelector(selector)?.matches(labels) === false) {
    errors.invalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`");
  }
  if (spec.completionMode === "Indexed" && completions !== undefined && completions > 0) {
    const longest = `${name}-${completions - 1}`;
    if (nameProblems(longest, "label").length > 0) {
      errors.invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${longest}`);
    }
  }
}

function checkLabel({ metadata = {} }: PodTemplate, key: string, expected: string, errors: FieldErrors): void {
  const field = `spec.template.metadata.labels[${key}]`;
  const value = own(metadata.labels, key);
  if (value === undefined) errors.required(field, `must be '${expected}'`);
  else if (value !== expected) errors.invalid(field, metadata.labels, `must be '${expected}'`);
}

/** What cannot change once the job is there. */
const FIXED = [
  "selector",
  "completionMode",
  "podFailurePolicy",
  "backoffLimitPerIndex",
  "managedBy",
  "successPolicy",
] as const;

function checkChanges(spec: JobSpec, before: Job, errors: FieldErrors): void {
  const { spec: old = {} } = before;
  for (const name of FIXED) checkUnchanged(same(spec[name], old[name]), spec[name], `spec.${name}`, errors);
  const { completions } = spec;
  if (spec.completionMode !== "Indexed") {
    checkUnchanged(completions === old.completions, completions, "spec.completions", errors);
  } else if (completions !== undefined && completions !== old.completions && completions !== spec.parallelism) {
    errors.invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism");
  }
  checkTemplateChange(spec.template ?? {}, before, errors);
}

/** A job that is suspended, and has nothing running, may be told where its pods go and what they get. */
function checkTemplateChange(template: PodTemplate, { spec: old = {}, status = {} }: Job, errors: FieldErrors): void {
  const before = old.template ?? {};
  const isSuspended = status.conditions?.some(({ type, status: now }) => type === "Suspended" && now === "True");
  const isIdle = old.suspend === true && (!status.startTime || isSuspended) && !status.active;
  if (!isIdle) {
    checkUnchanged(same(template, before), template, "spec.template", errors);
    return;
  }
  const [rest, fixed] = [unplaced(template.spec ?? {}), unplaced(before.spec ?? {})];
  checkUnchanged(same(rest, fixed), template.spec, "spec.template.spec", errors);
}

/** The spec without what says where pods go, and what their containers get. */
function unplaced({ nodeSelector: _n, tolerations: _t, schedulingGates: _g, affinity, ...spec }: PodSpec): PodSpec {
  const { nodeAffinity: _a, ...others } = affinity ?? {};
  const withoutResources = (list: PodSpec["containers"]) =>
    list?.map(({ resources: _r, ...container }) => container) ?? [];
  return {
    ...spec,
    ...(!isEmptyMap(others) && { affinity: others }),
    containers: withoutResources(spec.containers),
    initContainers: withoutResources(spec.initContainers),
  };
}
