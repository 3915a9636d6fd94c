/** The suite about kubelets against the simulated ones. */
import { afterAll, beforeAll } from "vitest";
import { kubelet } from "./kubelet.suite.ts";
import { runSuites } from "./suite.ts";
import type { Target } from "./target.ts";
import type { HttpTarget } from "./targets/http-target.ts";
import { simTarget } from "./targets/sim-target.ts";

let [base, target]: [HttpTarget?, Target?] = [];
beforeAll(async () => {
  base = await simTarget();
  await base.addNode({ name: "running-node" });
  target = Object.assign(base, { runningNode: async () => "running-node" });
});
afterAll(() => base?.close());

runSuites("sim", [kubelet], () => target as Target);
