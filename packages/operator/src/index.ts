/** Makes Berth's resources true. @packageDocumentation */
export type { ApplicationAdapter, Observation, RenderProblem, RunOrder } from "./apps/application.ts";
export { type Claim, Ledger } from "./ledger/ledger.ts";
export { addOperator, type OperatorOptions } from "./operator.ts";
export { priorityClasses } from "./priority-classes.ts";
