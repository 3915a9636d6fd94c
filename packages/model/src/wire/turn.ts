/** Turns: what an external scheduler is told, and what it answers. One endpoint, plain JSON, any language. */
import { z } from "zod";
import { APPLICATION_KINDS, JOB_PHASES } from "../batch-job.ts";
import { SLOT_STATES } from "../slot.ts";
import { executorHints, runView } from "./views.ts";

const slotNumber = z.int().min(0).max(2_147_483_647);
const seconds = z.number();

export const decision = z
  .strictObject({
    job: z.string().min(1).max(253).describe("The name of a job."),
    slots: z.array(slotNumber).min(1).max(5000).optional().describe("Run it, with one executor in each of these."),
    executors: z.int().min(1).max(5000).optional().describe("Run it, with so many executors in the first free slots."),
    release: z.literal(true).optional().describe("Take it down; it is in the queue again then."),
    reason: z.string().max(1024).optional().describe("Why, for those who look at the Scheduling later."),
  })
  .describe("What is to happen to one job: exactly one of slots, executors and release.");
/** What is to happen to one job. */
export type Decision = z.output<typeof decision>;

export const turnRequest = z.strictObject({
  testbed: z.string().min(1).max(40).describe("Whose slots are to be given away."),
  after: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("The number of the turn that the decisions are about. Absent: a scheduler begins, or begins anew."),
  decisions: z.array(decision).max(5000).optional().describe("Default: none."),
  callAt: seconds
    .optional()
    .describe("Answer at this time at the latest, by the clock of the turns, also if nothing has happened."),
  jobs: z.string().max(1024).optional().describe("A label selector: which jobs are in the queue. Default: all."),
  view: z
    .enum(["full", "delta"])
    .optional()
    .describe("delta: only what has changed since the turn in `after`, if the gateway remembers it. Default: full."),
});
/** What a scheduler sends. */
export type TurnRequest = z.output<typeof turnRequest>;

export const EVENT_TYPES = [
  "job.submitted",
  "job.claimed",
  "job.started",
  "job.completed",
  "job.failed",
  "job.released",
  "job.deleted",
  "slot.added",
  "slot.removed",
  "slot.freed",
  "slot.available",
  "slot.unavailable",
  "call",
] as const;

export const turnEvent = z.object({
  type: z.enum(EVENT_TYPES),
  time: seconds,
  job: z.string().optional(),
  slot: z.int().optional(),
});
/** Something that has happened since the last turn. */
export type TurnEvent = z.output<typeof turnEvent>;

const jobInTurn = z.object({
  name: z.string(),
  kind: z.enum(APPLICATION_KINDS),
  submitted: seconds,
  executors: executorHints,
  labels: z.record(z.string(), z.string()),
  data: z.record(z.string(), z.unknown()),
  history: z.array(runView).describe("Its last runs, the latest first."),
});

export const queuedJob = jobInTurn;
/** A job that waits for a decision. */
export type QueuedJob = z.output<typeof queuedJob>;

export const runningJob = jobInTurn.extend({
  phase: z.enum(JOB_PHASES),
  slots: z.array(z.int()).describe("Those that it has, or is about to get."),
  started: seconds.optional().describe("Since when it runs."),
  scheduling: z.string().optional(),
});
/** A job that somebody has decided about, until it has ended. */
export type RunningJob = z.output<typeof runningJob>;

export const turnSlot = z.object({
  id: z.int(),
  node: z.string(),
  state: z.enum(SLOT_STATES),
  job: z.string().optional().describe("Who has it, or is about to."),
  reason: z.string().optional().describe("Why it is unavailable."),
});
/** A slot, as a scheduler sees it. */
export type TurnSlot = z.output<typeof turnSlot>;

export const rejection = z.object({
  job: z.string(),
  code: z.string().describe("Of the catalogue of errors."),
  message: z.string(),
});
/** A decision that was not carried out. */
export type Rejection = z.output<typeof rejection>;

const common = {
  turn: z.int().describe("To be sent back as `after`."),
  time: seconds.describe("When this is true."),
  clock: z.enum(["wall", "virtual"]).describe("virtual: the clock stands still until the scheduler answers."),
  testbed: z.string(),
  events: z.array(turnEvent).describe("What has happened since the turn before, the oldest first."),
  rejected: z.array(rejection).describe("Decisions of this call that were not carried out, and why."),
};

const changes = <T extends z.ZodType, K extends z.ZodType>(item: T, key: K) =>
  z.object({ set: z.array(item).describe("New or changed."), removed: z.array(key).describe("Gone from this list.") });

export const fullTurn = z.object({
  ...common,
  view: z.literal("full"),
  queue: z.array(queuedJob).describe("Jobs to decide about: the earliest submitted first."),
  running: z.array(runningJob),
  slots: z.array(turnSlot).describe("By number."),
});
/** A turn, with everything there is to know. */
export type FullTurn = z.output<typeof fullTurn>;

export const deltaTurn = z.object({
  ...common,
  view: z.literal("delta"),
  queue: changes(queuedJob, z.string()),
  running: changes(runningJob, z.string()),
  slots: changes(turnSlot, z.int()),
});
/** A turn, with what has changed since the one before. */
export type DeltaTurn = z.output<typeof deltaTurn>;

export const turnReply = z.union([fullTurn, deltaTurn]);
/** What a scheduler gets. */
export type TurnReply = z.output<typeof turnReply>;
