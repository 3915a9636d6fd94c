/**
 * Everything a program of controllers shares: connection, cache, leadership, metrics, and an order to start and stop in.
 *
 * Starting: probes and metrics answer → caches fill → this replica leads → controllers work.
 * Stopping: controllers finish what they have → events are sent → the lease is let go of → caches and connections end.
 */
import { hostname } from "node:os";
import { Client } from "../client/client.ts";
import type { ClientOptions } from "../client/sender.ts";
import { type Connection, loadConnection } from "../connect/connection.ts";
import { Controller, type ControllerOptions } from "../controller/controller.ts";
import { KubeError } from "../errors.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { Cache, type CacheOptions } from "../informer/cache.ts";
import { jsonLogger, type Logger } from "../log/logger.ts";
import { Metrics } from "../metrics/metrics.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import { type Clock, WallClock } from "../time/clock.ts";
import { orAborted, untilAborted } from "../time/or-aborted.ts";
import { integer, type Random, SystemRandom } from "../time/random.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import type { Transport } from "../transport/transport.ts";
import { CachedClient } from "./cached-client.ts";
import { fencedTransport } from "./fenced-transport.ts";
import { type Check, type EndpointOptions, Endpoints, healthPage } from "./http-endpoints.ts";
import { type LeaderElectionOptions, LeaderElector } from "./leader-election.ts";
import { urgentTransport } from "./urgent-transport.ts";

/** What reads and does not write. */
export type Reader = Pick<Client, "get" | "find" | "list" | "pages" | "watch" | "logs">;

/** For reconcilers that were told to stop. */
const MOMENT_MS = 5_000;

/** What a program of controllers consists of. */
export interface ManagerOptions {
  /** How to reach the API server. Default: as kubectl does, or as the pod that this runs in. */
  readonly connection?: Connection;
  /** Instead of a connection: an API server in this process, for instance. The manager does not close it. */
  readonly transport?: Transport;
  /** Which objects are cached. Default: all of the kinds that controllers look at. */
  readonly cache?: Omit<CacheOptions, "clock" | "random" | "log">;
  /** For several replicas, of which one works. Default: this is the only one. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Serves /metrics. Default: no. */
  readonly metrics?: EndpointOptions;
  /** Serves /healthz and /readyz. Default: no. */
  readonly health?: EndpointOptions;
  /** Who is recorded as the owner of fields, and as the source of events. Default: "berth-kube". */
  readonly name?: string;
  readonly fieldValidation?: ClientOptions["fieldValidation"];
  /** How long the first lists may take: a kind that does not exist would be waited for in vain. Default: 2 minutes. */
  readonly cacheSyncTimeoutMs?: number;
  /** How long reconcilers have to finish when the program ends. Default: 30 s. */
  readonly gracefulShutdownMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: lines of JSON on standard error. */
  readonly log?: Logger;
}

/** Something else that runs as long as the manager does. */
export interface Runnable {
  /** Runs until the signal is aborted. Ending before that by an error ends the manager. */
  start(signal: AbortSignal): Promise<void>;
  /** Whether only the leader runs it. Default: yes. */
  readonly needsLeaderElection?: boolean;
}

/** Starts and stops a program of controllers, and has what they share. */
export class Manager {
  /** Reads from the cache what is in it; writes only while this replica leads. */
  readonly client: Client;
  /** Reads from the API server itself. */
  readonly apiReader: Reader;
  /** Reads from the API server itself, and writes whoever leads: for what every replica may do, such as definitions. */
  readonly unfencedClient: Client;
  readonly cache: Cache;
  readonly metrics = new Metrics();
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly #options: ManagerOptions;
  readonly #identity: string;
  readonly #ownTransport: Transport | undefined;
  readonly #elector: LeaderElector | undefined;
  /** Aborted when leadership is lost: what is on its way to be written has to be given up. */
  readonly #revoked = new AbortController();
  /** Aborted when the lease is needed no more. */
  readonly #letGo = new AbortController();
  readonly #recorders: EventRecorder[] = [];
  readonly #controllers: Controller[] = [];
  readonly #runnables: Runnable[] = [];
  readonly #healthChecks = new Map<string, Check>([["ping", () => {}]]);
  readonly #readyChecks = new Map<string, Check>();
  readonly #endpoints: Endpoints[] = [];
  #holding: Promise<void> | undefined;
  #phase: "new" | "running" | "ended" = "new";

  constructor(options: ManagerOptions = {}) {
    this.#options = options;
    this.clock = options.clock ?? new WallClock();
    this.random = options.random ?? new SystemRandom();
    this.log = options.log ?? jsonLogger({ clock: this.clock });
    this.#identity =
      options.leaderElection?.identity ?? `${hostname()}_${integer(this.random, 0, 2 ** 48).toString(16)}`;
    this.#ownTransport = options.transport
      ? undefined
      : new HttpTransport(options.connection ?? loadConnection(), {
          clock: this.clock,
          userAgent: this.#name,
          onAnswer: (answer) => this.metrics.answered(answer),
        });
    const transport = options.transport ?? (this.#ownTransport as Transport);
    const common = { clock: this.clock, random: this.random };
    const clientOptions: ClientOptions = {
      ...common,
      fieldManager: this.#name,
      ...(options.fieldValidation && { fieldValidation: options.fieldValidation }),
    };
    this.unfencedClient = new Client(transport, clientOptions);
    this.apiReader = this.unfencedClient;
    this.cache = new Cache(this.unfencedClient, { ...options.cache, ...common, log: this.log });
    this.#elector = options.leaderElection && this.#createElector(options.leaderElection, transport);
    const elector = this.#elector;
    const fenced = elector ? fencedTransport(transport, () => elector.isLeading, this.#revoked.signal) : transport;
    this.client = new CachedClient(fenced, this.cache, clientOptions);
    this.#readyChecks.set("caches", () => {
      if (!this.cache.hasSynced) throw new KubeError("KUBE_NOT_SYNCED", "the caches are not complete yet");
    });
  }

  get #name(): string {
    return this.#options.name ?? "berth-kube";
  }

  #createElector(options: LeaderElectionOptions, transport: Transport): LeaderElector {
    this.metrics.leadership(options.id, false);
    return new LeaderElector(options, {
      client: new Client(urgentTransport(transport), {
        clock: this.clock,
        random: this.random,
        fieldManager: this.#name,
      }),
      clock: this.clock,
      random: this.random,
      identity: this.#identity,
      log: this.log,
      onChange: (leading) => this.metrics.leadership(options.id, leading),
      onSlowpath: () => this.metrics.leaseWasRead(options.id),
    });
  }

  /** Whether this replica leads. The only one always does. */
  get isLeading(): boolean {
    return this.#elector ? this.#elector.isLeading : this.#phase === "running";
  }

  /** Adds a controller; to be called before `start`. */
  addController<T extends KubernetesObject>(options: ControllerOptions<T>): Controller<T> {
    this.#mustBeNew("controllers are added");
    const { client, cache, log, clock, random, metrics } = this;
    const controller = new Controller(options, { client, cache, log, clock, random, metrics });
    this.#controllers.push(controller as unknown as Controller);
    return controller;
  }

  /** Adds something else that runs as long as the manager does; to be called before `start`. */
  add(runnable: Runnable): void {
    this.#mustBeNew("runnables are added");
    this.#runnables.push(runnable);
  }

  /** A check of /healthz: whether this process has to be started anew. */
  addHealthCheck(name: string, check: Check): void {
    this.#healthChecks.set(name, check);
  }

  /** A check of /readyz. */
  addReadyCheck(name: string, check: Check): void {
    this.#readyChecks.set(name, check);
  }

  /** Tells people what happens to objects: `kubectl describe` shows it. */
  eventRecorder(name = this.#name): EventRecorder {
    const { client, clock, log } = this;
    const recorder = new EventRecorder({ client, clock, log, controller: name, instance: this.#identity });
    this.#recorders.push(recorder);
    return recorder;
  }

  /** Where metrics and probes are served, in that order, once it has started. */
  get ports(): number[] {
    return this.#endpoints.map(({ port }) => port);
  }

  /**
   * Runs until the signal is aborted, and then ends in order. Rejects with KUBE_LEADERSHIP_LOST if another replica has
   * taken over, or with the error of a runnable: then the process should end, and be started anew.
   */
  async start({ signal }: { signal: AbortSignal }): Promise<void> {
    this.#mustBeNew("it is started");
    this.#phase = "running";
    const ending = new AbortController();
    const stop = AbortSignal.any([signal, ending.signal]);
    const running: Promise<void>[] = [];
    const run = (runnable: Promise<void>) => {
      running.push(runnable.catch((error) => ending.abort(error)));
    };
    try {
      await this.#listen();
      this.cache.start();
      for (const runnable of this.#runnables.filter((each) => each.needsLeaderElection === false)) {
        run(runnable.start(stop));
      }
      await this.#syncCaches(stop);
      if (this.#elector) {
        await this.#elector.acquire(stop);
        this.#holding = this.#hold(this.#elector).catch((error) => ending.abort(error));
      }
      await Promise.all(this.#controllers.map((controller) => controller.start({ signal: stop })));
      for (const runnable of this.#runnables.filter((each) => each.needsLeaderElection !== false)) {
        run(runnable.start(stop));
      }
      await untilAborted(stop);
    } catch (error) {
      ending.abort(error);
    } finally {
      await this.#end(stop, running);
    }
    // Told to end, it has ended. Anything else that came first is why.
    if (stop.reason !== signal.reason) throw stop.reason;
  }

  async #syncCaches(stop: AbortSignal): Promise<void> {
    const { cacheSyncTimeoutMs = 120_000 } = this.#options;
    const late = new AbortController();
    const timer = this.clock.setTimer(cacheSyncTimeoutMs, () => {
      const missing = this.cache.unsynced.map(({ kind }) => kind.plural).join(", ");
      const message = `the caches of ${missing} were not complete within ${cacheSyncTimeoutMs / 1000} s`;
      late.abort(new KubeError("KUBE_NOT_SYNCED", message));
    });
    await orAborted(this.cache.waitForSync(), stop, late.signal).finally(() => timer.cancel());
  }

  /** Leads until the controllers have ended, and not only until they are told to: they may have something to write yet. */
  async #hold(elector: LeaderElector): Promise<void> {
    try {
      await elector.hold(this.#letGo.signal);
    } catch (error) {
      if (this.#letGo.signal.aborted) return;
      this.#revoked.abort(error); // another replica may be working already
      throw error;
    }
  }

  async #listen(): Promise<void> {
    const { metrics, health } = this.#options;
    if (metrics) {
      const { registry } = this.metrics;
      const page = async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() });
      this.#endpoints.push(await Endpoints.listen(metrics, { "/metrics": page }, this.log));
    }
    if (health) {
      this.#endpoints.push(
        await Endpoints.listen(
          health,
          {
            "/healthz": () => healthPage(this.#healthChecks),
            "/readyz": () => healthPage(this.#readyChecks),
          },
          this.log,
        ),
      );
    }
  }

  async #end(stop: AbortSignal, running: readonly Promise<void>[]): Promise<void> {
    this.log.info("ending", { because: String(stop.reason instanceof Error ? stop.reason.message : stop.reason) });
    const patience = new AbortController();
    const enough = new AbortController();
    const { gracefulShutdownMs = 30_000 } = this.#options;
    const timers = [this.clock.setTimer(gracefulShutdownMs, () => patience.abort())];
    const late = AbortSignal.any([patience.signal, this.#revoked.signal]);
    // Told to stop, a reconciler has a moment to do so. One that does not listen must not keep the process from ending.
    void untilAborted(late).then(() => timers.push(this.clock.setTimer(MOMENT_MS, () => enough.abort())));
    const ended = Promise.all([
      ...this.#controllers.map((controller) => controller.stop({ signal: late })),
      ...running,
    ]);
    await orAborted(ended, enough.signal).catch(() => {
      const stuck = this.#controllers.flatMap(({ name, working }) => working.map((key) => `${name} ${key}`));
      this.log.error("reconcilers do not end; ending without them", { stuck });
    });
    await Promise.all(this.#recorders.map((recorder) => recorder.stop({ signal: late })));
    for (const timer of timers) timer.cancel();
    this.#letGo.abort();
    await this.#holding;
    await this.#elector?.release();
    await this.cache.stop();
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
    await this.#ownTransport?.close();
    this.#phase = "ended";
  }

  #mustBeNew(what: string): void {
    if (this.#phase !== "new") {
      throw new KubeError("KUBE_MANAGER_MISUSED", `${what} before the manager is started, and that happens once`);
    }
  }
}
