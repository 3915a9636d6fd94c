/** The suites that have to wait for long, against the simulated cluster, where time passes faster. */
import { WallClock } from "@berth/kube";
import { afterAll, beforeAll } from "vitest";
import { kubelet } from "./kubelet.suite.ts";
import { patientSuites } from "./patient-suites.ts";
import { runSuites } from "./suite.ts";
import type { Target } from "./target.ts";
import type { HttpTarget } from "./targets/http-target.ts";
import { simTarget } from "./targets/sim-target.ts";

let [base, target]: [HttpTarget?, Target?] = [];
beforeAll(async () => {
  base = await simTarget({ clock: new WallClock({ speed: 4 }) });
  await base.addNode({ name: "running-node" });
  target = Object.assign(base, { runningNode: async () => "running-node" });
});
afterAll(() => base?.close());

runSuites("sim", [...patientSuites, kubelet], () => target as Target);
