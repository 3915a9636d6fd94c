/** Makes Berth's resources true. @packageDocumentation */

export { adapters, installedAdapters } from "./apps/adapters.ts";
export type { ApplicationAdapter, Observation, Placement, RenderProblem, RunOrder } from "./apps/application.ts";
export { errorCatalogue, OperatorError, type OperatorErrorCode } from "./errors.ts";
export { install } from "./install/install.ts";
export { type InstallationOptions, installation, type Manifest, OPERATOR } from "./install/installation.ts";
export { type Claim, Ledger } from "./ledger/ledger.ts";
export { addOperator, type Operator, type OperatorOptions } from "./operator.ts";
export type { Seat, Seats } from "./placement/extender.ts";
export type { ExtenderServerOptions } from "./placement/extender-server.ts";
export { type SchedulerConfigurationInput, schedulerConfiguration } from "./placement/scheduler-configuration.ts";
export { priorityClasses } from "./priority-classes.ts";
export { type RunOptions, runOperator } from "./run.ts";
