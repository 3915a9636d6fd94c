/**
 * What the operator does, as stories: each is played on the simulated cluster and on a real one, with both ways to place
 * executors, and comes out the same.
 */
import { jobs } from "./jobs.suite.ts";
import { placement } from "./placement.suite.ts";
import { schedulings } from "./schedulings.suite.ts";
import { type SuiteOptions, teller } from "./suite.ts";
import type { Target } from "./target.ts";
import { testbeds } from "./testbeds.suite.ts";

/** @param target - Only called inside of tests. */
export function scenarios(target: () => Target, options: SuiteOptions): void {
  const tell = teller(target, options);
  for (const stories of [testbeds, jobs, schedulings, placement]) stories(tell);
}
