/** The scenarios, for the tests of those who offer another way to the same resources. */
export { scenarios } from "./scenarios.suite.ts";
export type { Target, TargetOptions } from "./target.ts";
export { realTarget } from "./targets/real-target.ts";
export { simTarget } from "./targets/sim-target.ts";
