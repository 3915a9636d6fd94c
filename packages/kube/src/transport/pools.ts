/** Connections to an API server, kept for as long as they may be of use. */
import { createSecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import type { Connection } from "../connect/connection.ts";
import type { Credential } from "../connect/credentials.ts";

/** Watches stay open, and a call must not wait behind them. */
export type PoolName = "calls" | "watches";

export interface PoolOptions {
  /** How many calls may be under way at once. */
  readonly connections: number;
  /** How long the server may say nothing before a call is given up. */
  readonly timeoutMs: number;
}

interface Generation {
  /** The certificate that it shows. */
  readonly certificate: string | undefined;
  readonly pools: Readonly<Record<PoolName, Dispatcher>>;
}

/**
 * Of the two ends we must be the first to hang up an idle connection, or a request could meet the server's goodbye: a little
 * less than the API server's own 90 s. Not much less: after a pause, sixty handshakes at once cost as much as a hundred requests.
 */
const KEEP_ALIVE_MS = 80_000;

/** Loaded with the first request: it is the largest of all libraries, and many programs never leave their process. */
let undici: typeof import("undici") | undefined;

export class Pools {
  /** For each request too: not all kinds of proxies pass on what their pool was told. */
  readonly limits: Readonly<Record<PoolName, { headersTimeout: number; bodyTimeout: number }>>;
  readonly #connection: Connection;
  readonly #connections: Readonly<Record<PoolName, number | null>>;
  /** The present one last. Older ones, with older certificates, end with the last request that they have. */
  readonly #generations = new Set<Generation>();
  #present: Generation | undefined;

  constructor(connection: Connection, { connections, timeoutMs }: PoolOptions) {
    this.#connection = connection;
    this.limits = {
      calls: { headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
      // A watch begins to answer at once, and may then be silent; whoever watches keeps the time of that.
      watches: { headersTimeout: timeoutMs, bodyTimeout: 0 },
    };
    // Watches are few; a limit would only let one of them wait for another to end, which it never does.
    this.#connections = { calls: connections, watches: null };
  }

  /** Must have happened before a pool is asked for. */
  async load(): Promise<void> {
    undici ??= await import("undici");
  }

  /** The pool for requests of this identity. */
  of(name: PoolName, { certificate, key }: Credential): Dispatcher {
    const { tls } = this.#connection;
    const shown = certificate ?? tls.certificate;
    if (!this.#present || this.#present.certificate !== shown) {
      if (this.#present) this.#retire(this.#present);
      const create = (pool: PoolName) => this.#create(pool, shown, certificate === undefined ? tls.key : key);
      this.#present = { certificate: shown, pools: { calls: create("calls"), watches: create("watches") } };
      this.#generations.add(this.#present);
    }
    return this.#present.pools[name];
  }

  /** Ends everything that is under way. */
  async destroy(): Promise<void> {
    const generations = [...this.#generations];
    this.#generations.clear();
    this.#present = undefined;
    await Promise.all(generations.flatMap(({ pools }) => [pools.calls.destroy(), pools.watches.destroy()]));
  }

  #retire(generation: Generation): void {
    const closing = [generation.pools.calls.close(), generation.pools.watches.close()];
    Promise.all(closing).then(
      () => this.#generations.delete(generation),
      () => {}, // destroyed meanwhile
    );
  }

  #create(name: PoolName, certificate: string | undefined, key: string | undefined): Dispatcher {
    const { server, tls, proxy } = this.#connection;
    const connect = {
      // Certificates are read once for all connections: that is half the work of making one.
      ...(server.startsWith("https:") && {
        secureContext: createSecureContext({
          ...(tls.ca !== undefined && { ca: tls.ca }),
          ...(certificate !== undefined && key !== undefined && { cert: certificate, key }),
        }),
      }),
      ...(tls.serverName !== undefined && { servername: tls.serverName }),
      rejectUnauthorized: !tls.insecure,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    };
    const options = {
      ...this.limits[name],
      connections: this.#connections[name],
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    };
    if (!undici) throw new Error("the pools were not loaded");
    const { Pool, ProxyAgent, Socks5ProxyAgent } = undici;
    if (proxy === undefined) return new Pool(new URL(server).origin, { ...options, connect });
    if (proxy.startsWith("socks5:")) return new Socks5ProxyAgent(proxy, { ...options, requestTls: connect });
    return new ProxyAgent({ ...options, uri: proxy, requestTls: connect, proxyTunnel: true });
  }
}
