/** What is shown of a job. Pure. */
import { applicationKindOf, type BatchJob, type JobRun, type JobView, type RunView } from "@berth/model";
import { annotation } from "../names.ts";
import type { Epoch } from "./epoch.ts";

/** When it was put into the queue, last. */
export function submittedAt({ metadata }: BatchJob, epoch: Epoch): number {
  const text = metadata.annotations?.[annotation.submitted];
  const submitted = text === undefined ? Number.NaN : epoch.of(text);
  return Number.isFinite(submitted) ? submitted : epoch.of(metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
}

/** Whether somebody wants it to run: it never has, or it was released, or it is to run again. */
export function wantsToRun({ metadata, status }: BatchJob): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const { phase = "Ready", run = 0 } = status ?? {};
  const hasEnded = phase === "Completed" || phase === "Failed";
  return !hasEnded || metadata.annotations?.[annotation.rerunAfter] === String(run);
}

/** One run of a job. */
export function runViewOf(run: JobRun, epoch: Epoch): RunView {
  const { number, outcome, message, startTime, completionTime, seconds, testbed, slots, neighbours = [] } = run;
  return {
    number,
    outcome,
    ...(message !== undefined && { message }),
    ...(startTime !== undefined && { started: epoch.of(startTime) }),
    ended: epoch.of(completionTime),
    ...(seconds !== undefined && { runtime: seconds }),
    ...(testbed !== undefined && { testbed: nameIn(testbed) }),
    ...(slots && { slots }),
    neighbours: neighbours.map(nameIn),
  };
}

/** What a job is, whatever happens to it: the same for REST and for turns. */
export function jobBasics(job: BatchJob, epoch: Epoch) {
  const { metadata, spec, status } = job;
  return {
    name: metadata.name ?? "",
    kind: applicationKindOf(job),
    submitted: submittedAt(job, epoch),
    executors: spec.executors ?? {},
    labels: metadata.labels ?? {},
    data: (spec.externalScheduler ?? {}) as Record<string, unknown>,
    history: (status?.runs ?? []).map((run) => runViewOf(run, epoch)),
  };
}

/** A job. @param isHeld - Whether a Scheduling has it, or is about to. */
export function jobViewOf(job: BatchJob, epoch: Epoch, isHeld: boolean): JobView {
  const { metadata, spec, status = {} } = job;
  const { phase = "Ready", startTime, completionTime, executors, conditions = [] } = status;
  const message = conditions.find(({ type }) => type === "Progressing")?.message;
  const { testbed, slots = [] } = spec.creationRequest ?? {};
  return {
    ...jobBasics(job, epoch),
    phase,
    waiting: !isHeld && wantsToRun(job),
    ...(message !== undefined && { message }),
    ...(startTime !== undefined && { started: epoch.of(startTime) }),
    ...(completionTime !== undefined && { ended: epoch.of(completionTime) }),
    ...(executors && { placed: executors.placed, running: executors.running }),
    ...(testbed && { testbed: testbed.name }),
    slots,
    ...(spec.activeScheduling && { scheduling: spec.activeScheduling.name }),
    version: metadata.resourceVersion ?? "",
  };
}

/** Namespaces are hidden: "default/pi" is "pi". */
export function nameIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
