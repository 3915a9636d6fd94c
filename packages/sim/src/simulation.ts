/** Puts a cluster together: the API server, and everything that acts on its objects. */
import { writeFileSync } from "node:fs";
import { Client, type Clock, SeededRandom, VirtualClock, WallClock } from "@berth/kube";
import { admissions } from "./admission/admissions.ts";
import { ApiServer } from "./api/api-server.ts";
import { SimTransport } from "./api/sim-transport.ts";
import { type ApplicationsOptions, applications } from "./apps/applications.ts";
import { Access, type AccessOptions } from "./auth/access.ts";
import { AccessControl } from "./auth/access-control.ts";
import type { Component, Surroundings } from "./controllers/component.ts";
import { controllers } from "./controllers/controllers.ts";
import { CustomResources } from "./custom/custom-resources.ts";
import { HttpServer, type HttpServerOptions } from "./http/http-server.ts";
import { builtinResources } from "./kinds/builtin.ts";
import { subresources } from "./kinds/subresources.ts";
import { Kubelet, type KubeletOptions } from "./kubelet/kubelet.ts";
import type { NodeShape } from "./kubelet/node-object.ts";
import type { SchedulerConfiguration } from "./scheduler/configuration.ts";
import { Scheduler } from "./scheduler/scheduler.ts";
import { logEvents } from "./storage/event-log.ts";

/** What a simulated cluster is to be like; everything has a default. */
export interface SimOptions {
  /** A `WallClock` of any speed, or a `VirtualClock`. Default: the world's time. */
  readonly clock?: Clock;
  /** The same seed and the same requests give the same cluster. Default: "berth". */
  readonly seed?: string;
  /** Nodes "node-0", "node-1" … of the default shape, or of these shapes. Default: none. */
  readonly nodes?: number | readonly NodeShape[];
  /** Whether, and where, to listen for kubectl and other programs. Default: no. */
  readonly http?: boolean | Pick<HttpServerOptions, "host" | "port" | "tls" | "addresses">;
  /** Users who are known beforehand, for those who come by HTTP. Default: an administrator by certificate. */
  readonly access?: AccessOptions;
  /** One configuration for each scheduler; none means that nobody schedules. Default: the default scheduler. */
  readonly schedulers?: readonly SchedulerConfiguration[];
  /** Spark, Flink, and how long work takes. Default: both operators, and the work model that comes with this package. */
  readonly applications?: ApplicationsOptions;
  /** How kubelets behave; how long containers run is the applications' affair. */
  readonly kubelet?: Omit<KubeletOptions, "runtime">;
  /**
   * Whether scheduler, kubelets and controllers tell of what they do in Event objects, as `kubectl describe` shows them.
   * Default: yes on a wall clock, no on a virtual one, where nobody is there to read them and they are half of the work.
   */
  readonly events?: boolean;
  /** Given a line of JSON for each write: see `LoggedEvent`. Default: nobody writes a log. */
  readonly log?: (line: string) => void;
  /** Told of errors that are nobody's fault but ours. Default: they are thrown as uncaught. */
  readonly onFailure?: (error: unknown) => void;
}

/** A simulated cluster. */
export class Sim {
  readonly clock: Clock;
  readonly server: ApiServer;
  /** For clients and informers of `@berth/kube` in this process. */
  readonly transport: SimTransport;
  readonly client: Client;
  readonly #kubelet: Kubelet;
  readonly #components: readonly Component[];
  readonly #schedulers: Scheduler[];
  readonly #newScheduler: (index: number) => Scheduler;
  readonly #http: HttpServer | undefined;
  #stopLog: () => void = () => {};

  /** @internal Use `startSim`. */
  constructor(options: SimOptions) {
    const { clock = new WallClock(), seed = "berth", log, onFailure = rethrow, schedulers = [{}] } = options;
    const { events = !(clock instanceof VirtualClock) } = options;
    const random = new SeededRandom(seed);
    const access = new Access(options.access);
    this.clock = clock;
    this.server = new ApiServer({
      clock,
      random: random.fork("api"),
      admissions,
      subresources: { ...subresources, ...access.subresources },
      onFailure,
    });
    access.attach(this.server);
    for (const resource of builtinResources()) this.server.resources.add(access.completed(resource));
    if (log) this.#stopLog = logEvents(this.server.store, clock, log);

    const surroundings = (name: string): Surroundings => ({
      server: this.server,
      clock,
      random: random.fork(name),
      onFailure,
      events,
    });
    const hold = clock instanceof VirtualClock ? { hold: () => clock.hold() } : {};
    const { runtime, components } = applications(surroundings("applications"), options.applications);
    this.#kubelet = new Kubelet(surroundings("kubelet"), { ...options.kubelet, runtime });
    this.#newScheduler = (index) =>
      new Scheduler(surroundings(`scheduler-${index}`), { configuration: schedulers[index] ?? {}, ...hold });
    this.#schedulers = schedulers.map((_, index) => this.#newScheduler(index));
    this.#components = [
      ...controllers(surroundings, { health: this.#kubelet.health }),
      new AccessControl(surroundings("access")),
      new CustomResources(surroundings("custom-resources")),
      this.#kubelet,
      ...components,
    ];
    for (const component of [...this.#components, ...this.#schedulers]) component.start();

    const logs = this.#kubelet.logs.bind(this.#kubelet);
    this.transport = new SimTransport(this.server, { logs });
    this.client = new Client(this.transport, { clock });
    const shapes = typeof options.nodes === "number" ? shapesOf(options.nodes) : (options.nodes ?? []);
    for (const shape of shapes) this.addNode(shape);
    const { http = false } = options;
    if (http) {
      const given = typeof http === "object" ? http : {};
      this.#http = new HttpServer({ server: this.server, access, logs, onFailure, ...given, ...hold });
    }
  }

  /** Adds a node that runs pods. */
  addNode(shape: NodeShape): void {
    this.#kubelet.addNode(shape);
  }

  /** Deletes a node; its pods have nobody to look after them then. */
  removeNode(name: string): void {
    this.#kubelet.removeNode(name);
  }

  /** A node falls silent, and is taken for lost after a while. */
  failNode(name: string): void {
    this.#kubelet.failNode(name);
  }

  /** A node that fell silent is back. */
  recoverNode(name: string): void {
    this.#kubelet.recoverNode(name);
  }

  /** A scheduler dies, with all that it had in mind, and another takes its place. @param index - In the option `schedulers`. */
  restartScheduler(index = 0): void {
    this.#schedulers[index]?.stop();
    this.#schedulers[index] = this.#newScheduler(index);
    this.#schedulers[index].start();
  }

  /** Where kubectl finds it: "https://127.0.0.1:20123". Only with the option `http`. */
  get address(): string {
    return this.#listening().address;
  }

  /** What kubectl needs to know, as an administrator. Only with the option `http`. */
  kubeconfig(): string {
    return this.#listening().kubeconfig();
  }

  /** The same as a file, which nobody else may read. */
  writeKubeconfig(path: string): void {
    writeFileSync(path, this.kubeconfig(), { mode: 0o600 });
  }

  /** @internal */
  async listen(): Promise<void> {
    await this.#http?.start();
  }

  /** Ends everything that is under way. */
  async stop(): Promise<void> {
    await this.#http?.stop();
    for (const component of [...this.#schedulers, ...this.#components.toReversed()]) component.stop();
    await this.transport.close();
    this.#stopLog();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #listening(): HttpServer {
    if (!this.#http) throw new Error("nobody listens: start it with the option http");
    return this.#http;
  }
}

/** Starts a simulated cluster. */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const sim = new Sim(options);
  await sim.listen();
  return sim;
}

function shapesOf(count: number): NodeShape[] {
  return Array.from({ length: count }, (_, index) => ({ name: `node-${index}` }));
}

function rethrow(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
