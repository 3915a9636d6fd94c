/** A simulated cluster, reached as a real one is: over HTTPS, with a kubeconfig. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinaries } from "@berth/cluster";
import { SeededRandom } from "@berth/kube";
import type { Component } from "../../controllers/component.ts";
import { Scheduler } from "../../scheduler/scheduler.ts";
import { type Sim, type SimOptions, startSim } from "../../simulation.ts";
import { HttpTarget } from "./http-target.ts";

export async function simTarget(options: SimOptions = {}): Promise<HttpTarget> {
  const sim = await startSim({ http: true, ...options });
  const folder = mkdtempSync(join(tmpdir(), "berth-sim-"));
  sim.writeKubeconfig(join(folder, "kubeconfig"));
  return new SimTarget(sim, folder);
}

class SimTarget extends HttpTarget {
  readonly #sim: Sim;
  readonly #folder: string;
  readonly #schedulers: Component[] = [];

  constructor(sim: Sim, folder: string) {
    const kubectl = async () => (await findBinaries()).kubectl;
    super({ name: "sim", kubeconfig: join(folder, "kubeconfig"), kubectl, id: `${process.pid}s` });
    this.#sim = sim;
    this.#folder = folder;
  }

  override async scheduler(name: string, given: Readonly<Record<string, unknown>>): Promise<void> {
    const { server, clock } = this.#sim;
    const surroundings = { server, clock, random: new SeededRandom(name), onFailure: rethrow };
    const configuration = { profiles: [{ schedulerName: name }], ...given };
    const scheduler = new Scheduler(surroundings, { configuration });
    scheduler.start();
    this.#schedulers.push(scheduler);
  }

  override async close(): Promise<void> {
    await super.close();
    for (const scheduler of this.#schedulers) scheduler.stop();
    await this.#sim.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

function rethrow(error: unknown): never {
  throw error;
}
