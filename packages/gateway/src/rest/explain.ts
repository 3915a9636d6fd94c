/** Why a job waits, where it is, or how it ended: in words, and for programs. */
import { findCondition } from "@berth/kube";
import { type BatchJob, JOB_PHASES, schedulingView } from "@berth/model";
import { z } from "zod";
import { submittedAt, wantsToRun } from "../views/job.ts";
import { schedulingViewOf } from "../views/others.ts";
import type { World } from "../world.ts";

/** What is said about a job. */
export const explanation = z.object({
  name: z.string(),
  phase: z.enum(JOB_PHASES),
  summary: z.string().describe("In a sentence."),
  reasons: z.array(z.string()).describe("What it waits for, one by one."),
  position: z.int().optional().describe("Where it is in the queue, from 1, by the time of submission."),
  queueLength: z.int().optional(),
  scheduling: schedulingView.optional().describe("Who has it, for those who may list Schedulings."),
  testbeds: z
    .array(z.object({ name: z.string(), free: z.int(), total: z.int(), scheduler: z.string().optional() }))
    .optional()
    .describe("Where it could run, for those who may list testbeds."),
});
/** Why a job waits, where it is, or how it ended. */
export type Explanation = z.output<typeof explanation>;

/** Of what else than the job itself whoever asks may hear. */
export interface Sight {
  readonly jobs: boolean;
  readonly schedulings: boolean;
  readonly testbeds: boolean;
}

type Room = NonNullable<Explanation["testbeds"]>[number];

/** How it stands with a job, as far as whoever asks may know. */
export function explain(job: BatchJob, world: World, may: Sight): Explanation {
  const { name = "", deletionTimestamp } = job.metadata;
  const phase = job.status?.phase ?? "Ready";
  const testbeds = may.testbeds ? roomIn(world) : undefined;
  const common = { name, phase, ...(testbeds && { testbeds }) };
  const told = findCondition(job.status?.conditions ?? [], "Progressing")?.message;
  if (deletionTimestamp !== undefined) {
    return { ...common, summary: "it is being deleted", reasons: ["its application has to go first"] };
  }
  const holder = world.holderOf(job);
  if (holder !== undefined && !hasEndedThere(job)) return { ...common, ...heldBy(holder, job, told, world, may) };
  if (!wantsToRun(job)) {
    return { ...common, summary: `it has ended (${phase}): ${told ?? "a retry puts it into the queue"}`, reasons: [] };
  }
  const reasons = testbeds ? reasonsOf(job, testbeds) : [];
  if (!may.jobs) return { ...common, summary: "it waits for a scheduler's decision", reasons };
  const { position, length } = placeOf(job, world);
  const summary = `it waits for a scheduler's decision, as number ${position} of ${length} in the queue`;
  return { ...common, summary, reasons, position, queueLength: length };
}

/** Whether it has ended with the slots that it still has: it is about to be let go. */
function hasEndedThere(job: BatchJob): boolean {
  const { claimTime } = job.spec.creationRequest ?? {};
  return claimTime !== undefined && claimTime === job.status?.claimTime && !wantsToRun(job);
}

function heldBy(holder: string, job: BatchJob, told: string | undefined, world: World, may: Sight) {
  const scheduling = may.schedulings ? world.schedulings.get(world.key(holder)) : undefined;
  const entry = scheduling?.status?.jobs?.find((each) => each.name === job.metadata.name);
  const isClaimed = job.spec.activeScheduling !== undefined;
  // What the job says of itself may still be about the last time.
  const message = entry?.message ?? (isClaimed ? told : undefined) ?? "the operator has not looked at it yet";
  // Its name stands on the job when it has it; until then only those know it who may see it.
  const who = isClaimed || may.schedulings ? `Scheduling ${holder}` : "a Scheduling";
  return {
    summary: `${who} has it: ${message}`,
    reasons: isClaimed && job.status?.phase === "Running" ? [] : [message],
    ...(scheduling && { scheduling: schedulingViewOf(scheduling, world.epoch) }),
  };
}

function roomIn(world: World): Room[] {
  return world.testbeds.list().map((testbed) => {
    const { name = "" } = testbed.metadata;
    const scheduler = world.schedulerOf(name);
    const { free, total } = world.slotCounts(testbed);
    return { name, free, total, ...(scheduler !== undefined && { scheduler }) };
  });
}

function placeOf(job: BatchJob, world: World): { position: number; length: number } {
  const own = submittedAt(job, world.epoch);
  const waiting = world.jobs.list().filter((each) => wantsToRun(each) && !world.isHeld(each));
  const before = waiting.filter((each) => {
    const submitted = submittedAt(each, world.epoch);
    return submitted < own || (submitted === own && (each.metadata.name ?? "") < (job.metadata.name ?? ""));
  });
  return { position: before.length + 1, length: waiting.length };
}

/** What is missing. Pure. */
export function reasonsOf({ spec }: Pick<BatchJob, "spec">, testbeds: readonly Room[]): string[] {
  if (testbeds.length === 0) return ["there is no testbed"];
  const isAlone = testbeds.every(({ scheduler }) => scheduler === undefined);
  const nobody = isAlone ? ["no scheduler is connected, and nobody has made a Scheduling for it"] : [];
  const { min = 1, preferred = min } = spec.executors ?? {};
  const most = (of: "free" | "total") => Math.max(...testbeds.map((each) => each[of]));
  const room = roomReason(min, preferred, most("free"), most("total"));
  if (room !== undefined) return [...nobody, room];
  return isAlone ? nobody : ["there is room for it: the scheduler has not chosen it yet"];
}

function roomReason(min: number, preferred: number, free: number, total: number): string | undefined {
  if (total < min) return `it needs at least ${slots(min)}, and no testbed has more than ${total}`;
  if (free < min) return `it needs at least ${slots(min)}, and no testbed has more than ${free} free`;
  if (free < preferred) return `it would like ${slots(preferred)}, and no testbed has more than ${free} free`;
  return undefined;
}

const slots = (count: number) => (count === 1 ? "1 slot" : `${count} slots`);
