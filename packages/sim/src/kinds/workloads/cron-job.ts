/** The rules of cron jobs. */
import type { batchV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkChoice, checkNotNegative } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { isZone, scheduleProblem } from "./cron-schedule.ts";
import { checkJobSpec } from "./job-spec.ts";
import { defaultTemplate, prepareTemplate } from "./template.ts";

type CronJob = LooseObject<batchV1.CronJob>;
type Spec = Loose<batchV1.CronJobSpec>;

/** What a job's name adds to a cron job's. */
const SUFFIX_LENGTH = 11;

export const cronJobRules: Rules = {
  default: ({ spec }: CronJob) => {
    if (!spec) return;
    spec.concurrencyPolicy ||= "Allow";
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    const job = spec.jobTemplate?.spec;
    for (const rule of job?.podFailurePolicy?.rules ?? []) {
      for (const pattern of rule.onPodConditions ?? []) pattern.status ||= "True";
    }
    defaultTemplate(job?.template);
  },
  prepareForCreate: (job: CronJob) => {
    job.status = {};
    prepareTemplate(job.spec?.jobTemplate?.spec?.template);
  },
  validate: ({ spec = {}, metadata }: CronJob, errors) => {
    checkSpec(spec, undefined, errors);
    const longest = 63 - SUFFIX_LENGTH;
    if ((metadata.name ?? "").length > longest) {
      errors.invalid("metadata.name", metadata.name, `must be no more than ${longest} characters`);
    }
  },
  prepareForUpdate: ({ spec }: CronJob) => prepareTemplate(spec?.jobTemplate?.spec?.template),
  validateUpdate: ({ spec = {} }: CronJob, before: CronJob, errors) => checkSpec(spec, before.spec ?? {}, errors),
};

function checkSpec(spec: Spec, before: Spec | undefined, errors: FieldErrors): void {
  const { schedule = "", timeZone, jobTemplate = {}, concurrencyPolicy } = spec;
  if (schedule === "") errors.required("spec.schedule");
  else {
    const problem = scheduleProblem(schedule);
    if (problem) errors.invalid("spec.schedule", schedule, problem);
    checkNoZone(spec, before?.schedule?.includes("TZ") ?? false, errors);
  }
  checkNotNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds", errors);
  if (timeZone !== undefined && timeZone !== before?.timeZone) checkZone(timeZone, "spec.timeZone", errors);
  checkChoice(concurrencyPolicy, ["Allow", "Forbid", "Replace"], "spec.concurrencyPolicy", errors);
  const { spec: job = {} } = jobTemplate;
  checkJobSpec(job, "spec.jobTemplate.spec", errors);
  if (job.selector) errors.invalid("spec.jobTemplate.spec.selector", job.selector, "`selector` will be auto-generated");
  if (job.manualSelector) {
    errors.notSupported("spec.jobTemplate.spec.manualSelector", job.manualSelector, ["nil", "false"]);
  }
  checkNotNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit", errors);
  checkNotNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit", errors);
}

/** A zone has a field of its own. @param allowed - Whether it stood in the schedule before. */
function checkNoZone({ schedule = "", timeZone }: Spec, allowed: boolean, errors: FieldErrors): void {
  if (!schedule.includes("TZ")) return;
  if (!allowed) {
    const why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
    errors.invalid("spec.schedule", schedule, why);
  } else if (timeZone !== undefined) {
    errors.invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

function checkZone(zone: string, field: string, errors: FieldErrors): void {
  if (zone === "") {
    errors.invalid(field, zone, "timeZone must be nil or non-empty string");
    return;
  }
  const wrong = (part: string) => part === "." || part === ".." || part.startsWith("-") || !ZONE_PART.test(part);
  if (zone.split("/").some(wrong)) {
    errors.invalid(field, zone, `unknown time zone ${zone}`);
    return;
  }
  if (zone.toLowerCase() === "local") {
    const why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    errors.invalid(field, zone, why);
  }
  if (!isZone(zone)) errors.invalid(field, zone, `unknown time zone ${zone}`);
}
