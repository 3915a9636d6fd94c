/** Puts the gateway together: what it knows, what can be asked of it, and where it listens. */
import type { AddressInfo } from "node:net";
import {
  Client,
  type Clock,
  integer,
  type Logger,
  orAborted,
  type Random,
  SystemRandom,
  silent,
  type Transport,
  VirtualClock,
  WallClock,
  type Written,
} from "@berth/kube";
import { type Guard, openGuard } from "./auth/guard.ts";
import { mustSee } from "./auth/listening.ts";
import { ReviewGuard } from "./auth/reviews.ts";
import { Streams } from "./auth/streams.ts";
import { Changes } from "./changes.ts";
import { GatewayError } from "./errors.ts";
import type { TlsFiles } from "./http/certificate.ts";
import { docsPage } from "./http/docs-page.ts";
import { openApi } from "./http/openapi.ts";
import { isLoopback } from "./http/origin.ts";
import { defaultLimits, type Limits, Server } from "./http/server.ts";
import { eventRoutes } from "./rest/events.ts";
import { jobRoutes } from "./rest/jobs.ts";
import { nodeRoutes, schedulingRoutes, testbedRoutes, timeRoutes } from "./rest/others.ts";
import { turnRoutes } from "./rest/turns.ts";
import { StompServer } from "./stomp/server.ts";
import { Standstill } from "./turn/standstill.ts";
import { LeaseTenures, MemoryTenures } from "./turn/tenure.ts";
import { Turns } from "./turn/turns.ts";
import { Epoch } from "./views/epoch.ts";
import { World } from "./world.ts";

/** What a gateway is to be like; everything but the way to the cluster has a default. */
export interface GatewayOptions {
  /** How to reach the API server. The gateway does not close it. */
  readonly transport: Transport;
  /** The one that it serves. Default: that of the transport. */
  readonly namespace?: string;
  /** Default: "127.0.0.1". */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** "kubernetes": by tokens and RBAC. "none": everybody may do everything, on this machine only. Default: "none" on loopback. */
  readonly authentication?: "kubernetes" | "none";
  /** For which tokens have to be made. Default: those of the API server. */
  readonly audiences?: readonly string[];
  /** Files in PEM. When others are written in their place they are taken, within half a minute. Default: none, and no TLS. */
  readonly tls?: TlsFiles;
  /** Origins of web pages that may use it. Default: none but its own. */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Of the cluster. With a `VirtualClock` it stands still while a scheduler thinks. Default: the world's time. */
  readonly clock?: Clock;
  /**
   * With a `VirtualClock`, whether it also stands still while nobody waits for it: no scheduler for its next turn, and nothing that
   * was decided for being carried out. For whoever does not wait for that clock himself. Default: no.
   */
  readonly standsStill?: boolean;
  /** Told of each write: an operator in the same process need not wait until the API server tells it. */
  readonly onWritten?: (written: Written) => void;
  /** For how long a virtual clock waits for a scheduler, in seconds of the world. Default: 60. */
  readonly thinkSeconds?: number;
  /** For how long a testbed is kept for a scheduler of which nothing is heard. Default: 30. */
  readonly tenureSeconds?: number;
  readonly random?: Random;
  readonly log?: Logger;
}

/** A gateway that listens. */
export class Gateway implements AsyncDisposable {
  readonly #world: World;
  readonly #turns: Turns;
  readonly #standstill: Standstill | undefined;
  readonly #server: Server;
  readonly #stomp: StompServer;
  readonly #tls: boolean;
  readonly #isOpen: boolean;

  private constructor(options: GatewayOptions) {
    const { transport, namespace = transport.namespace, random = new SystemRandom(), log = silent } = options;
    const { clock = new WallClock(), thinkSeconds = 60, tenureSeconds = 30, allowedOrigins = [], tls } = options;
    const isVirtual = clock instanceof VirtualClock;
    const wallClock = isVirtual ? new WallClock() : clock;
    const reader = new Client(transport, { clock, random });
    const epoch = new Epoch(isVirtual ? clock.now() : 0);
    const world = new World({ client: reader, namespace, clock, epoch, log });
    const client = new Client(transport, {
      ...{ clock, random, fieldManager: "berth-gateway" },
      onWritten: (written) => {
        world.cache.wrote(written);
        options.onWritten?.(written);
      },
    });
    const tenures = isVirtual
      ? new MemoryTenures()
      : new LeaseTenures({ client, world, clock, identity: identityFrom(random), seconds: tenureSeconds });
    world.schedulerOf = (testbed) => tenures.holderOf(testbed);
    this.#world = world;
    const hold = isVirtual ? () => clock.hold() : undefined;
    this.#standstill = hold && options.standsStill ? new Standstill(world, hold) : undefined;
    this.#turns = new Turns({
      ...{ client, world, tenures, log, wallClock, thinkSeconds, tenureSeconds },
      ...{ hold, standstill: this.#standstill },
    });
    const guard = guardFor(options, { client: reader, clock: wallClock, namespace });
    const limits = { ...defaultLimits, ...options.limits };
    this.#tls = tls !== undefined;
    this.#isOpen = guard.isOpen;
    this.#server = new Server({ guard, clock: wallClock, log, allowedOrigins, limits, tls });
    const feed = new Changes(world, tenures);
    const streams = new Streams(limits.streams);
    this.#server.add([
      ...turnRoutes(this.#turns),
      ...jobRoutes(world, client),
      ...schedulingRoutes(world, client),
      ...testbedRoutes(world),
      ...nodeRoutes(world),
      ...timeRoutes(world, isVirtual ? "virtual" : "wall"),
      ...eventRoutes(feed, wallClock, streams),
    ]);
    this.#stomp = new StompServer({
      ...{ feed, clock: wallClock, log, streams },
      authenticate: async (token, request) => {
        const who = () => guard.authenticate(token, request.socket.remoteAddress ?? "");
        const { name } = await who();
        return {
          user: name,
          mustSee: async (topics) => {
            const user = await who();
            await mustSee(user, topics, (right) => guard.mayDo(user, right));
          },
        };
      },
    });
    this.#server.addUpgrade("/v1/stomp", (request, socket, head) => this.#stomp.handleUpgrade(request, socket, head));
    this.#addPages();
  }

  /** Listens as soon as it knows the cluster. */
  static async start(options: GatewayOptions, signal?: AbortSignal): Promise<Gateway> {
    const gateway = new Gateway(options);
    try {
      gateway.#world.cache.start();
      await orAborted(gateway.#world.cache.waitForSync(), signal);
      await gateway.#server.fastify.listen({ host: options.host ?? "127.0.0.1", port: options.port ?? 0 });
      gateway.#mustBeGuarded();
      return gateway;
    } catch (error) {
      await gateway.stop();
      throw error;
    }
  }

  /** A name of this machine may have been made to mean another address. */
  #mustBeGuarded(): void {
    if (!this.#isOpen) return;
    for (const { address } of this.#server.fastify.addresses() as AddressInfo[]) {
      if (isLoopback(address)) continue;
      throw new GatewayError("BERTH_GATEWAY_OPEN", `without authentication it must not listen on ${address}`);
    }
  }

  /** Where it is: "http://127.0.0.1:8080". */
  get url(): string {
    const { address, family, port } = this.#server.fastify.server.address() as AddressInfo;
    const host = family === "IPv6" ? `[${address}]` : address;
    return `${this.#tls ? "https" : "http"}://${host}:${port}`;
  }

  /** Ends everything that is under way: whoever waits for a turn is told to ask again. */
  async stop(): Promise<void> {
    this.#turns.stop();
    this.#standstill?.stop();
    await this.#stomp.close();
    await this.#server.fastify.close();
    await this.#world.cache.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #addPages(): void {
    const server = this.#server;
    const description = openApi(server.routes, "v1alpha1");
    const page = docsPage(description);
    server.addPage("/openapi.json", () => description);
    server.addPage("/docs", (reply) => {
      const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
      return reply.type("text/html; charset=utf-8").header("content-security-policy", policy).send(page);
    });
    server.addPage("/healthz", () => ({ status: "ok" }));
    server.addPage("/readyz", () => {
      if (this.#world.cache.hasSynced) return { status: "ok" };
      throw new GatewayError("BERTH_UNAVAILABLE", "the gateway does not know the whole cluster yet");
    });
  }
}

function guardFor(
  { host = "127.0.0.1", authentication, audiences }: GatewayOptions,
  context: { client: Client; clock: Clock; namespace: string },
): Guard {
  const isLocal = isLoopback(host);
  const chosen = authentication ?? (isLocal ? "none" : undefined);
  if (chosen === "kubernetes") return new ReviewGuard({ ...context, ...(audiences && { audiences }) });
  if (isLocal && chosen === "none") return openGuard;
  throw new GatewayError("BERTH_GATEWAY_OPEN", `without authentication it must not listen on ${host}`);
}

function identityFrom(random: Random): string {
  return integer(random, 0, 2 ** 48).toString(16);
}
