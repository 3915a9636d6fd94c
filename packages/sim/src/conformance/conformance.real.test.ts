/** The conformance suite against both targets: where they differ, the simulated one is wrong. */
import { afterAll, beforeAll } from "vitest";
import { kubectl } from "./kubectl.suite.ts";
import { runSuites } from "./suite.ts";
import { suites } from "./suites.ts";
import type { HttpTarget } from "./targets/http-target.ts";
import { realTarget } from "./targets/real-target.ts";
import { simTarget } from "./targets/sim-target.ts";

let [sim, real]: HttpTarget[] = [];
beforeAll(async () => {
  [sim, real] = await Promise.all([simTarget(), realTarget()]);
});
afterAll(() => Promise.all([sim?.close(), real?.close()]));

runSuites("sim", [...suites, kubectl], () => sim as HttpTarget);
runSuites("real", [...suites, kubectl], () => real as HttpTarget);
