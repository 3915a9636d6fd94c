/**
 * One behaviour, one test, two targets. A file `NAME.suite.ts` in this folder says `suite("…", (it, target) => …)` and is
 * listed in `suites.ts`. Where the targets differ, the simulated one is wrong.
 */
import { describe, it as vitestIt } from "vitest";
import type { Target } from "./target.ts";

export type Declare = (name: string, test: () => Promise<void>) => void;
export interface Suite {
  readonly title: string;
  /** @param target - Only to be called inside of tests: before, there is none. */
  readonly declare: (it: Declare, target: () => Target) => void;
}

export function suite(title: string, declare: Suite["declare"]): Suite {
  return { title, declare };
}

/** Declares the tests of some suites against one target. */
export function runSuites(name: string, suites: readonly Suite[], target: () => Target): void {
  describe(name, () => {
    for (const { title, declare } of suites)
      describe(title, () => declare((test, body) => vitestIt(test, body), target));
  });
}
