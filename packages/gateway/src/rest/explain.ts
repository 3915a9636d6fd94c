/** Why a job waits, where it is, or how it ended: in words, and for programs. */
import { findCondition } from "@berth/kube";
import { type BatchJob, JOB_PHASES, schedulingView } from "@berth/model";
import { z } from "zod";
import { submittedAt, wantsToRun } from "../views/job.ts";
import { schedulingViewOf } from "../views/others.ts";
import type { World } from "../world.ts";

export const explanation = z.object({
  name: z.string(),
  phase: z.enum(JOB_PHASES),
  summary: z.string().describe("In a sentence."),
  reasons: z.array(z.string()).describe("What it waits for, one by one."),
  position: z.int().optional().describe("Where it is in the queue, from 1, by the time of submission."),
  queueLength: z.int().optional(),
  scheduling: schedulingView.optional().describe("Who has it."),
  testbeds: z
    .array(z.object({ name: z.string(), free: z.int(), total: z.int(), scheduler: z.string().optional() }))
    .describe("Where it could run."),
});
export type Explanation = z.output<typeof explanation>;

export function explain(job: BatchJob, world: World): Explanation {
  const { name = "" } = job.metadata;
  const phase = job.status?.phase ?? "Ready";
  const holder = world.holderOf(job);
  const scheduling = holder === undefined ? undefined : world.schedulings.get(world.key(holder));
  const told = findCondition(job.status?.conditions ?? [], "Progressing")?.message;
  const testbeds = world.testbeds.list().map(({ metadata, status }) => {
    const scheduler = world.schedulerOf(metadata.name ?? "");
    const { free = 0, total = 0 } = status?.slots ?? {};
    return { name: metadata.name ?? "", free, total, ...(scheduler !== undefined && { scheduler }) };
  });
  const common = {
    name,
    phase,
    testbeds,
    ...(scheduling && { scheduling: schedulingViewOf(scheduling, world.epoch) }),
  };
  if (holder !== undefined) {
    const entry = scheduling?.status?.jobs?.find((each) => each.name === name);
    const reason = entry?.message ?? told ?? "the operator has not looked at it yet";
    const summary = `${holder} has it: ${told ?? entry?.message ?? "it is about to be carried out"}`;
    return { ...common, summary, reasons: phase === "Running" ? [] : [reason] };
  }
  if (!wantsToRun(job)) {
    return { ...common, summary: told ?? `has ended: ${phase}`, reasons: [] };
  }
  const { position, length } = placeOf(job, world);
  const reasons = reasonsOf(job, testbeds);
  const summary = `waits for a scheduler's decision, as number ${position} of ${length} in the queue`;
  return { ...common, summary, reasons, position, queueLength: length };
}

function placeOf(job: BatchJob, world: World): { position: number; length: number } {
  const own = submittedAt(job, world.epoch);
  const waiting = world.jobs.list().filter((each) => wantsToRun(each) && !world.isHeld(each));
  const before = waiting.filter((each) => {
    const submitted = submittedAt(each, world.epoch);
    return submitted < own || (submitted === own && (each.metadata.name ?? "") < (job.metadata.name ?? ""));
  });
  return { position: before.length + 1, length: Math.max(waiting.length, before.length + 1) };
}

function reasonsOf(
  { spec }: BatchJob,
  testbeds: readonly { name: string; free: number; total: number; scheduler?: string }[],
): string[] {
  if (testbeds.length === 0) return ["there is no testbed"];
  const reasons = testbeds.every(({ scheduler }) => scheduler === undefined)
    ? ["no scheduler is connected, and nobody has made a Scheduling for it"]
    : [];
  const least = spec.executors?.min ?? spec.executors?.preferred ?? 1;
  const fits = testbeds.filter(({ total }) => total >= least);
  if (fits.length === 0) return [...reasons, `it wants at least ${least} slots, and no testbed has so many`];
  if (fits.every(({ free }) => free < least)) {
    const most = Math.max(...fits.map(({ free }) => free));
    return [...reasons, `it wants at least ${least} slots, and at most ${most} are free on one testbed`];
  }
  return reasons.length > 0 ? reasons : ["there is room for it: the scheduler has not chosen it yet"];
}
