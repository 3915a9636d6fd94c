/** A simulated cluster, reached as a real one is: over HTTPS, with a kubeconfig. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinaries } from "@berth/cluster";
import { startSim } from "../../simulation.ts";
import { HttpTarget } from "./http-target.ts";

export async function simTarget(): Promise<HttpTarget> {
  const sim = await startSim({ http: true });
  const folder = mkdtempSync(join(tmpdir(), "berth-sim-"));
  const kubeconfig = join(folder, "kubeconfig");
  sim.writeKubeconfig(kubeconfig);
  return new (class extends HttpTarget {
    override async close(): Promise<void> {
      await super.close();
      await sim.stop();
      rmSync(folder, { recursive: true });
    }
  })({ name: "sim", kubeconfig, kubectl: async () => (await findBinaries()).kubectl, id: `${process.pid}s` });
}
