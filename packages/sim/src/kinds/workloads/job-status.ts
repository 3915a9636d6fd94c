/** What may be written to the status of a job. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkNotNegative } from "../common/formats.ts";
import { same } from "../common/semantic.ts";
import { overlap, readIndexes } from "./indexes.ts";
import type { Job } from "./job.ts";

type Status = NonNullable<Job["status"]>;

const CONDITIONS = "status.conditions";

export function checkJobStatus(job: Job, before: Job, errors: FieldErrors): void {
  const { status = {} } = job;
  const { status: old = {} } = before;
  for (const name of ["active", "succeeded", "failed", "ready", "terminating"] as const) {
    checkNotNegative(status[name], `status.${name}`, errors);
  }
  checkUncounted(status, errors);
  checkConditions(job, before, errors);
  checkTimes(job, before, errors);
  checkEnd(job, before, errors);
  checkIndexes(job, before, errors);
  const { failed = 0, succeeded = 0, active = 0, ready } = status;
  if (ready !== undefined && ready > active && (ready !== old.ready || active !== (old.active ?? 0))) {
    errors.invalid("status.ready", ready, "cannot set more ready pods than active");
  }
  if (failed < (old.failed ?? 0)) errors.invalid("status.failed", failed, "cannot decrease the failed counter");
  const { completionMode, completions, parallelism } = job.spec ?? {};
  const isElastic = completionMode === "Indexed" && completions === parallelism;
  if (!isElastic && succeeded < (old.succeeded ?? 0)) {
    errors.invalid("status.succeeded", succeeded, "cannot decrease the succeeded counter");
  }
}

function has({ conditions }: Status, type: string): boolean {
  return conditions?.some((each) => each.type === type && each.status === "True") ?? false;
}

const isFinished = (status: Status) => has(status, "Complete") || has(status, "Failed");

/** Pods that have ended and are not counted yet. */
function checkUncounted({ uncountedTerminatedPods: pods }: Status, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    for (const [index, uid] of (pods?.[list] ?? []).entries()) {
      const field = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") errors.invalid(field, uid, "must not be empty");
      else if (seen.has(uid)) errors.duplicate(field, uid);
      seen.add(uid);
    }
  }
}

/** What goes before what, and what excludes what: [if, then not]. */
function checkConditions({ status = {}, spec = {} }: Job, { status: old = {} }: Job, errors: FieldErrors): void {
  const changed = (...types: string[]) => types.some((type) => has(status, type) !== has(old, type));
  const refuse = (why: string) => errors.invalidValue(CONDITIONS, why);
  const [complete, failed] = [has(status, "Complete"), has(status, "Failed")];
  const [failing, succeeding] = [has(status, "FailureTarget"), has(status, "SuccessCriteriaMet")];
  if (complete && failed && changed("Complete", "Failed"))
    refuse("cannot set Complete=True and Failed=true conditions");
  if (complete && failing && changed("Complete", "FailureTarget")) {
    refuse("cannot set Complete=True and FailureTarget=true conditions");
  }
  const indexesChanged = status.failedIndexes !== old.failedIndexes;
  if (failed && !failing && (changed("Failed") || indexesChanged)) {
    refuse("cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if (complete && !succeeding && changed("Complete", "SuccessCriteriaMet")) {
    refuse("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
  if (succeeding && failed) refuse("cannot set SuccessCriteriaMet=True and Failed=true conditions");
  if (succeeding && failing) refuse("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  if (spec.successPolicy && !succeeding && complete) {
    refuse("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (has(old, type) && !has(status, type)) refuse(`cannot disable the terminal ${type}=True condition`);
  }
  if (has(old, "SuccessCriteriaMet") && !succeeding) refuse("cannot disable the SuccessCriteriaMet=True condition");
  if (has(old, "Complete") && !has(old, "SuccessCriteriaMet") && succeeding) {
    refuse("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}

function checkTimes({ status = {}, spec = {} }: Job, { status: old = {} }: Job, errors: FieldErrors): void {
  const { startTime, completionTime } = status;
  const field = "status.completionTime";
  const complete = has(status, "Complete");
  const completionChanged = completionTime !== old.completionTime;
  if (complete !== has(old, "Complete") || completionChanged) {
    if (completionTime !== undefined && !complete) {
      errors.invalid(field, completionTime, "cannot set completionTime when there is no Complete=True condition");
    }
    if (completionTime === undefined && complete) {
      errors.required(field, "completionTime is required for Complete jobs");
    }
  }
  if (startTime !== old.startTime || completionChanged) {
    if (startTime !== undefined && completionTime !== undefined && Date.parse(completionTime) < Date.parse(startTime)) {
      errors.invalid(field, completionTime, "must be equal to or after `startTime`");
    }
  }
  if (completionTime !== undefined && old.completionTime !== undefined && completionChanged) {
    errors.invalid(field, completionTime, "field is immutable");
  }
  const isFalse = status.conditions?.some((each) => each.type === "Suspended" && each.status === "False");
  const isResuming = has(old, "Suspended") && isFalse;
  if (old.startTime !== undefined && startTime !== old.startTime && !isResuming && !spec.suspend) {
    errors.invalid("status.startTime", startTime ?? null, "field is immutable for unsuspended job once set");
  }
}

/** Nothing goes on in a job that has ended. */
function checkEnd({ status = {}, spec = {} }: Job, { status: old = {} }: Job, errors: FieldErrors): void {
  if (!isFinished(status)) return;
  const ended = !isFinished(old);
  const { active = 0, terminating, startTime, uncountedTerminatedPods: pods } = status;
  if (active > 0 && (ended || active !== old.active)) {
    errors.invalid("status.active", active, "active>0 is invalid for finished job");
  }
  const hadNothingToDo = spec.suspend === true && spec.completions === 0;
  if (startTime === undefined && (ended || old.startTime !== undefined) && !hadNothingToDo) {
    errors.required("status.startTime", "startTime is required for finished job");
  }
  const uncounted = (pods?.failed?.length ?? 0) + (pods?.succeeded?.length ?? 0);
  if (uncounted > 0 && (ended || !same(pods, old.uncountedTerminatedPods))) {
    errors.invalid("status.uncountedTerminatedPods", pods, "must be empty for finished job");
  }
  if (terminating !== undefined && terminating > 0 && (ended || terminating !== old.terminating)) {
    errors.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job");
  }
}

function checkIndexes({ status = {}, spec = {} }: Job, { status: old = {} }: Job, errors: FieldErrors): void {
  const { completedIndexes = "", failedIndexes } = status;
  const completedChanged = completedIndexes !== (old.completedIndexes ?? "");
  const failedChanged = failedIndexes !== old.failedIndexes;
  if (!completedChanged && !failedChanged) return;
  const { completions } = spec;
  const completed = readIndexes(completedIndexes, completions ?? 0);
  const failed = readIndexes(failedIndexes ?? "", completions ?? 0);
  if (completedChanged) {
    if (completions !== undefined && completed.problem) {
      const why = `error parsing completedIndexes: ${completed.problem}`;
      errors.invalid("status.completedIndexes", completedIndexes, why);
    }
    if (completedIndexes !== "" && spec.completionMode !== "Indexed") {
      const why = "cannot set non-empty completedIndexes when non-indexed completion mode";
      errors.invalid("status.completedIndexes", completedIndexes, why);
    }
  }
  if (failedIndexes === undefined) return;
  if (failedChanged) {
    if (spec.backoffLimitPerIndex === undefined) {
      const why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
      errors.invalid("status.failedIndexes", failedIndexes, why);
    } else if (completions !== undefined && failed.problem) {
      errors.invalid("status.failedIndexes", failedIndexes, `error parsing failedIndexes: ${failed.problem}`);
    }
  }
  const both = completions === undefined ? undefined : overlap(completed, failed);
  if (both !== undefined) {
    const why = `failedIndexes and completedIndexes overlap at index: ${both}`;
    errors.invalid("status.failedIndexes", failedIndexes, why);
  }
}
