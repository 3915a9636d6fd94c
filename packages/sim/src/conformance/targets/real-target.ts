/** A real control plane, with KWOK's nodes: what the simulated cluster is held to. */
import { startCluster } from "@berth/cluster";
import { HttpTarget } from "./http-target.ts";

/** One for all suites: to start it takes seconds. */
export async function realTarget(): Promise<HttpTarget> {
  const cluster = await startCluster({ name: `test-${process.pid}-conformance` });
  return new (class extends HttpTarget {
    override async close(): Promise<void> {
      await super.close();
      await cluster.stop();
    }
  })({
    name: "real",
    kubeconfig: cluster.kubeconfig,
    kubectl: async () => cluster.kubectlBinary,
    id: `${process.pid}r`,
  });
}
