/** Write a scheduler for Kubernetes in TypeScript. @packageDocumentation */

export type {
  Decision,
  JobView,
  NodeView,
  QueuedJob,
  Rejection,
  RunningJob,
  RunView,
  SchedulingView,
  SlotView,
  TestbedView,
  TimeView,
  TurnEvent,
  TurnReply,
  TurnRequest,
  TurnSlot,
} from "@berth/model";
export { BerthClient, type ClientOptions, type Page, type PageQuery } from "./client.ts";
export { BerthError, type Problem } from "./errors.ts";
export { type Decide, type Decided, runScheduler, type SchedulerOptions } from "./scheduler.ts";
export { State } from "./state.ts";
