/** Puts a cluster together: the API server, and everything that acts on its objects. */
import { Client, type Clock, SeededRandom, WallClock } from "@berth/kube";
import { admissions } from "./admission/admissions.ts";
import { ApiServer } from "./api/api-server.ts";
import { SimTransport } from "./api/sim-transport.ts";
import type { Component, Surroundings } from "./controllers/component.ts";
import { builtinResources } from "./kinds/builtin.ts";
import { subresources } from "./kinds/subresources.ts";

/** What a simulated cluster is to be like; everything has a default. */
export interface SimOptions {
  /** Default: the world's time. */
  readonly clock?: Clock;
  /** The same seed and the same requests give the same cluster. Default: "berth". */
  readonly seed?: string;
  /** Told of errors that are nobody's fault but ours. Default: they are thrown as uncaught. */
  readonly onFailure?: (error: unknown) => void;
}

/** A simulated cluster. */
export class Sim {
  readonly clock: Clock;
  readonly server: ApiServer;
  readonly transport: SimTransport;
  readonly client: Client;
  readonly #components: readonly Component[];

  /** @internal Use `startSim`. */
  constructor({ clock = new WallClock(), seed = "berth", onFailure = rethrow }: SimOptions = {}) {
    const random = new SeededRandom(seed);
    this.clock = clock;
    this.server = new ApiServer({ clock, random: random.fork("api"), admissions, subresources, onFailure });
    for (const resource of builtinResources()) this.server.resources.add(resource);
    this.transport = new SimTransport(this.server);
    this.client = new Client(this.transport, { clock });
    const surroundings = (name: string): Surroundings => ({
      server: this.server,
      clock,
      random: random.fork(name),
      onFailure,
    });
    this.#components = componentsOf(surroundings);
    for (const component of this.#components) component.start();
  }

  async stop(): Promise<void> {
    for (const component of this.#components.toReversed()) component.stop();
    await this.transport.close();
  }
}

/** Starts a simulated cluster. */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  return new Sim(options);
}

function componentsOf(_surroundings: (name: string) => Surroundings): Component[] {
  return [];
}

function rethrow(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
