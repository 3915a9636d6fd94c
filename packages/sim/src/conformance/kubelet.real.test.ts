/** The suite about kubelets against a real one, which runs real containers. */
import { noRealNodes, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, it } from "vitest";
import { kubelet } from "./kubelet.suite.ts";
import { runSuites } from "./suite.ts";
import type { Target } from "./target.ts";
import { HttpTarget } from "./targets/http-target.ts";

const reason = noRealNodes();
let cluster: Awaited<ReturnType<typeof startCluster>> | undefined;
let [base, target]: [HttpTarget?, Target?] = [];

if (reason) {
  describe("a kubelet", () => it.skip(`needs a real node: ${reason}`));
} else {
  beforeAll(async () => {
    cluster = await startCluster({ name: `test-${process.pid}-kubelet`, realNodes: 1 });
    const { kubeconfig, kubectlBinary } = cluster;
    base = new HttpTarget({ name: "real", kubeconfig, kubectl: async () => kubectlBinary, id: `${process.pid}k` });
    target = Object.assign(base, { runningNode: async () => "real-0" });
  });
  afterAll(async () => {
    await base?.close();
    await cluster?.stop();
  });
  runSuites("real", [kubelet], () => target as Target);
}
