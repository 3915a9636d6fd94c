/** The suites that have to wait for long, against a real control plane and, where this machine can have one, a real node. */
import { noRealNodes, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, it } from "vitest";
import { kubelet } from "./kubelet.suite.ts";
import { patientSuites } from "./patient-suites.ts";
import { runSuites } from "./suite.ts";
import type { Target } from "./target.ts";
import { HttpTarget } from "./targets/http-target.ts";

const reason = noRealNodes();
let cluster: Awaited<ReturnType<typeof startCluster>> | undefined;
let [base, target]: [HttpTarget?, Target?] = [];
beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-patience`, realNodes: reason ? 0 : 1 });
  const { kubeconfig, kubectlBinary } = cluster;
  base = new HttpTarget({ name: "real", kubeconfig, kubectl: async () => kubectlBinary, id: `${process.pid}p` });
  target = Object.assign(base, { runningNode: async () => "real-0" });
});
afterAll(async () => {
  await base?.close();
  await cluster?.stop();
});

runSuites("real", [...patientSuites, ...(reason ? [] : [kubelet])], () => target as Target);
if (reason) describe("a kubelet", () => it.skip(`is not looked at: ${reason}`));
