/** A real control plane, with KWOK's nodes: what the simulated cluster is held to. */
import { type Cluster, startCluster } from "@berth/cluster";
import { HttpTarget } from "./http-target.ts";

/** One for all suites: to start it takes seconds. */
export async function realTarget(): Promise<HttpTarget> {
  return new RealTarget(await startCluster({ name: `test-${process.pid}-conformance` }));
}

class RealTarget extends HttpTarget {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    const { kubeconfig } = cluster;
    super({ name: "real", kubeconfig, kubectl: async () => cluster.kubectlBinary, id: `${process.pid}r` });
    this.#cluster = cluster;
  }

  override async scheduler(name: string, configuration: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#cluster.startScheduler(name, configuration);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#cluster.stop();
  }
}
