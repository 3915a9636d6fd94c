/** STOMP over WebSocket: topics of what changes in the cluster, for whoever may read them. */
import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock, Logger } from "@berth/kube";
import { type WebSocket, WebSocketServer } from "ws";
import type { Streams } from "../auth/streams.ts";
import { GatewayError } from "../errors.ts";
import type { Feed } from "../feed.ts";
import { rawAnswer } from "../http/problem.ts";
import { Bodies } from "./bodies.ts";
import { type Authenticate, Connection, type ConnectionLimits } from "./connection.ts";
import { FRAME_LIMITS } from "./frame.ts";

export type { Authenticate, Reader } from "./connection.ts";

/** How much there may be of everything. */
export interface StompLimits extends ConnectionLimits {
  /** How many connections in total. Default: 5,000. */
  readonly connections: number;
  /** How many from one address. Default: 2,000, for a proxy may stand between. */
  readonly connectionsPerAddress: number;
  /** How many octets one message of WebSocket may have. Default: 256 KiB. */
  readonly webSocketMessage: number;
}

/** What holds unless something else is asked for. */
export const STOMP_LIMITS: StompLimits = {
  connections: 5000,
  connectionsPerAddress: 2000,
  webSocketMessage: 256 * 1024,
  frame: FRAME_LIMITS,
  subscriptions: 100,
  connectWithin: 10_000,
  heartBeat: 10_000,
  linger: 5000,
  sendBuffer: 1024 * 1024,
  held: 10_000,
  unacknowledged: 10_000,
  patience: 10_000,
};

/** How to serve STOMP. */
export interface StompServerOptions {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who it is. The token comes with the request to upgrade, or else with CONNECT. */
  readonly authenticate: Authenticate;
  /** Of all users, whatever they listen by. */
  readonly streams: Streams;
  readonly limits?: Partial<StompLimits>;
}

/** The best first. */
const SUB_PROTOCOLS = ["v12.stomp", "v11.stomp", "v10.stomp"];
/** Finds out that the other side is gone, if it did not want heart-beats. */
const KEEP_ALIVE_MS = 60_000;

/** Serves every connection that an HTTP server hands over. */
export class StompServer {
  readonly #options: StompServerOptions;
  readonly #limits: StompLimits;
  readonly #bodies = new Bodies();
  readonly #webSockets: WebSocketServer;
  readonly #connections = new Set<Connection>();
  readonly #perAddress = new Map<string, number>();
  #last = 0;
  #closing = false;

  constructor(options: StompServerOptions) {
    this.#options = options;
    this.#limits = { ...STOMP_LIMITS, ...options.limits };
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Each connection would keep a dictionary of its own, and the same body would be compressed for each.
      perMessageDeflate: false,
      autoPong: false, // it would answer without end to whoever does not read the answers
      maxPayload: this.#limits.webSocketMessage,
      handleProtocols: (offered) => SUB_PROTOCOLS.find((each) => offered.has(each)) ?? false,
    });
  }

  /** How many connections there are. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Takes over a request to upgrade, for the event `upgrade` of an HTTP server: which web pages may ask is that one's affair. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = request.socket.remoteAddress ?? "unknown";
    const refusal = this.#refusal(address);
    if (refusal) this.#refuse(socket, address, refusal);
    else
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.#accept(webSocket, request, address));
  }

  /** Says goodbye to all, and settles when all have gone. Nobody is let in any more. */
  async close(): Promise<void> {
    this.#closing = true;
    const connections = [...this.#connections];
    for (const connection of connections) connection.close();
    await Promise.all(connections.map(({ closed }) => closed));
  }

  #refusal(address: string): GatewayError | undefined {
    if (this.#closing) return new GatewayError("BERTH_UNAVAILABLE", "the gateway is about to stop");
    if (this.#connections.size >= this.#limits.connections) {
      return new GatewayError("BERTH_UNAVAILABLE", "there are too many connections");
    }
    if ((this.#perAddress.get(address) ?? 0) >= this.#limits.connectionsPerAddress) {
      return new GatewayError("BERTH_TOO_MANY_STREAMS", "there are too many connections from this address");
    }
    return undefined;
  }

  #refuse(socket: Duplex, address: string, why: GatewayError): void {
    const { log } = this.#options;
    log.info("a connection was refused", { address, code: why.code, reason: why.message });
    socket.on("error", (error) => log.debug("a refusal was not read", { address, error: error.message }));
    socket.once("finish", () => socket.destroy());
    socket.end(rawAnswer(why));
  }

  #accept(webSocket: WebSocket, request: IncomingMessage, address: string): void {
    if (request.socket instanceof Socket) {
      request.socket.setNoDelay(true);
      request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    }
    const { feed, clock, log, authenticate, streams } = this.#options;
    const id = String(++this.#last);
    const context = { id, webSocket, request, feed, clock, log, authenticate, streams };
    const connection = new Connection({ ...context, bodies: this.#bodies, limits: this.#limits });
    this.#connections.add(connection);
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    void connection.closed.then(() => {
      this.#connections.delete(connection);
      const left = (this.#perAddress.get(address) ?? 1) - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    });
  }
}
