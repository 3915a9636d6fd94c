/** What the gateway shows of the resources: flat, without namespaces, times in seconds. For people and programs without Kubernetes. */
import { z } from "zod";
import { APPLICATION_KINDS, JOB_PHASES } from "../batch-job.ts";
import { SCHEDULING_PHASES } from "../scheduling.ts";
import { SLOT_STATES } from "../slot.ts";

const seconds = z
  .number()
  .describe("Seconds, by the gateway's clock: since 1970, or since the start of a virtual clock.");
const slotNumber = z.int().min(0).max(2_147_483_647);
const slotNumbers = z.array(slotNumber).describe("Numbers of slots.");
const labels = z.record(z.string(), z.string());
const data = z.record(z.string(), z.unknown()).describe("What schedulers keep with the job: spec.externalScheduler.");
const name = z.string().min(1).max(253);

export const executorHints = z
  .object({ preferred: z.int().optional(), min: z.int().optional(), max: z.int().optional() })
  .describe("How many executors it would like: hints, which nobody enforces.");

export const runView = z.object({
  number: z.int().describe("Counts from 1."),
  outcome: z.enum(["Completed", "Failed", "Released"]),
  message: z.string().optional(),
  started: seconds.optional(),
  ended: seconds,
  runtime: z.number().optional().describe("How long it ran, in seconds."),
  testbed: z.string().optional(),
  slots: slotNumbers.optional(),
  neighbours: z.array(z.string()).describe("Jobs that had slots on the same nodes while it ran."),
});
/** One run of a job. */
export type RunView = z.output<typeof runView>;

export const jobView = z.object({
  name,
  kind: z.enum(APPLICATION_KINDS),
  phase: z.enum(JOB_PHASES),
  waiting: z.boolean().describe("Whether it is in the queue: nobody has it, and somebody wants it to run."),
  message: z.string().optional().describe("Why it is as it is."),
  submitted: seconds,
  started: seconds.optional(),
  ended: seconds.optional(),
  executors: executorHints,
  placed: z.int().optional().describe("How many executors are in their slots."),
  running: z.int().optional().describe("How many of them run."),
  testbed: z.string().optional().describe("Where it has slots."),
  slots: slotNumbers,
  scheduling: z.string().optional().describe("The Scheduling that has it."),
  labels,
  data,
  history: z.array(runView).describe("Its last runs, the latest first."),
  version: z.string().describe("Changes whenever it does: its ETag."),
});
/** A job. */
export type JobView = z.output<typeof jobView>;

export const slotView = z.object({
  testbed: name,
  id: slotNumber.describe("Its number in the testbed."),
  node: z.string(),
  state: z.enum(SLOT_STATES),
  reason: z.string().optional().describe("Why it is unavailable."),
  job: z.string().optional().describe("Who has it, or is about to."),
  pod: z.string().optional().describe("Who is in it: an executor, or the ghost that keeps it free."),
  since: seconds.optional().describe("Since when that is so, once it has been written down."),
  resources: z.record(z.string(), z.string()),
  version: z.string(),
});
/** A slot. */
export type SlotView = z.output<typeof slotView>;

export const testbedView = z.object({
  name,
  nodes: z.int(),
  slotsPerNode: z.int(),
  nodeLabel: z.string(),
  resourcesPerSlot: z.record(z.string(), z.string()),
  slots: z.object({
    total: z.int(),
    free: z.int(),
    reserved: z.int(),
    occupied: z.int(),
    unavailable: z.int(),
  }),
  ready: z.boolean(),
  message: z.string().optional(),
  scheduler: z.string().optional().describe("The external scheduler whose turns are about it."),
  version: z.string(),
});
/** A testbed. */
export type TestbedView = z.output<typeof testbedView>;

export const schedulingView = z.object({
  name,
  testbed: name,
  phase: z.enum(SCHEDULING_PHASES),
  strategy: z.enum(["queue", "slots"]),
  exclusive: z.boolean(),
  reason: z.string().optional(),
  message: z.string().optional(),
  created: seconds,
  started: seconds.optional(),
  ended: seconds.optional(),
  scheduler: z.string().optional().describe("Whose turn it was made in, and which."),
  turn: z.int().optional(),
  jobs: z.array(
    z.object({
      name,
      phase: z.string(),
      slots: slotNumbers.optional(),
      message: z.string().optional(),
    }),
  ),
  version: z.string(),
});
/** A Scheduling. */
export type SchedulingView = z.output<typeof schedulingView>;

export const nodeView = z.object({
  name,
  ready: z.boolean(),
  schedulable: z.boolean(),
  labels,
  allocatable: z.record(z.string(), z.string()),
  slots: z.array(z.object({ testbed: name, id: slotNumber })),
  version: z.string(),
});
/** A node. */
export type NodeView = z.output<typeof nodeView>;

export const timeView = z.object({
  time: z.number().describe("In seconds: since 1970, or since the start of a virtual clock."),
  clock: z.enum(["wall", "virtual"]),
});
/** What time it is in the cluster. */
export type TimeView = z.output<typeof timeView>;
