/** The conformance suite against the simulated cluster alone: quick, and on every machine. */
import { afterAll, beforeAll } from "vitest";
import { runSuites } from "./suite.ts";
import { suites } from "./suites.ts";
import type { HttpTarget } from "./targets/http-target.ts";
import { simTarget } from "./targets/sim-target.ts";

let target: HttpTarget;
beforeAll(async () => {
  target = await simTarget();
});
afterAll(() => target?.close());

runSuites("sim", suites, () => target);
