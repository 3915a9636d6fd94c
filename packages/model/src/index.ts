/** Berth's resources, defined once. @packageDocumentation */
export {
  APPLICATION_KINDS,
  type ApplicationKind,
  applicationKindOf,
  BatchJob,
  JOB_PHASES,
  type JobPhase,
  type JobRun,
} from "./batch-job.ts";
export { GROUP, VERSION } from "./common.ts";
export { resources } from "./resources.ts";
export { SCHEDULING_PHASES, Scheduling, type SchedulingPhase } from "./scheduling.ts";
export { SLOT_STATES, Slot, type SlotState } from "./slot.ts";
export { Testbed } from "./testbed.ts";
export * from "./wire/index.ts";
