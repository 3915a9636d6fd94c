/**
 * A small API server on a real socket that can be told to fail, for the tests of whatever talks to one.
 *
 * Left alone it is honest: `ModelApi` decides, and errors, pages and watches look as those of the real server. Faults
 * happen to the requests that a test names, in its order (`fault`, `script`), or by chance (`randomFaults`).
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { type Clock, WallClock } from "../time/clock.ts";
import { type Random, SystemRandom } from "../time/random.ts";
import { type Answer, answer, failureAnswer, type RequestBody } from "./answers.ts";
import { type Fault, FaultPlan, type Matcher, type RandomFaultOptions, type Step } from "./faults.ts";
import { refusal, sendAnswer, watchOutput } from "./faulty-output.ts";
import { ModelApi } from "./model-api.ts";
import { type ApiRequest, readRequest, type Verb } from "./routes.ts";
import { ApiFailure } from "./status.ts";
import { planWatch, runWatch, type WatchListSupport } from "./watch-stream.ts";

export interface FaultServerOptions {
  /** For bookmarks, timeouts and the times in metadata. Default: the world's. */
  readonly clock?: Clock;
  /** For uids, generated names and where slow bodies are split. Default: the system's. */
  readonly random?: Random;
  /** Milliseconds between bookmarks. Default: 500. */
  readonly bookmarkInterval?: number;
  /** Default: supported. */
  readonly watchList?: WatchListSupport;
}

/** A request that has come in. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** `undefined` if path and method make no sense. */
  readonly verb: Verb | undefined;
  /** What was done to it. */
  readonly fault: Fault | undefined;
}

export class FaultServer {
  readonly model: ModelApi;
  /** All requests so far. */
  readonly requests: RecordedRequest[] = [];
  /** How many connections have been made so far. */
  connections = 0;
  /** May be changed at any time; counts for watches that begin after. */
  watchList: WatchListSupport;

  readonly #clock: Clock;
  readonly #random: Random;
  readonly #bookmarkInterval: number;
  readonly #faults = new FaultPlan();
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Set<ServerResponse>();
  readonly #server: Server;
  #token: string | undefined;

  private constructor(options: FaultServerOptions) {
    const { clock = new WallClock(), random = new SystemRandom() } = options;
    const { bookmarkInterval = 500, watchList = "supported" } = options;
    this.#clock = clock;
    this.#random = random;
    this.#bookmarkInterval = bookmarkInterval;
    this.watchList = watchList;
    this.model = new ModelApi({ clock, random });
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** Listens on a free port of this machine. */
  static async start(options: FaultServerOptions = {}): Promise<FaultServer> {
    const server = new FaultServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  /** "http://127.0.0.1:12345" */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many connections are open. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** How many watches are open, those that have fallen silent included. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** How many steps of scripts have not happened yet. */
  get faultsLeft(): number {
    return this.#faults.left;
  }

  /** Lets something happen to the next request that matches, or to the next `count`. */
  fault(matcher: Matcher, fault: Fault): void {
    this.script([{ ...matcher, fault }]);
  }

  /** Lets things happen one after the other: each step waits for its request, and the steps after it wait for it. */
  script(steps: readonly Step[]): void {
    this.#faults.add(steps);
  }

  /** Lets things happen by chance to whatever no script is for, until `heal`. */
  randomFaults(random: Random, options: RandomFaultOptions): void {
    this.#faults.addRandom(random, options);
  }

  /** Honest again from the next request on. What has happened to open connections stays: silent ones remain silent. */
  heal(): void {
    this.#faults.clear();
  }

  /** From now on requests need this bearer token; `undefined`: none. */
  acceptToken(token: string | undefined): void {
    this.#token = token;
  }

  /** Ends all connections, as a server does that is restarted. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.disconnect();
    await closed;
  }

  /** `await using server = await FaultServer.start()` stops it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // Whoever has gone away need not be told that writing to them fails.
    response.on("error", () => {});
    const { method = "", headers } = incoming;
    const url = new URL(incoming.url ?? "/", "http://localhost");
    const request = readRequest(method, url);
    const known = this.#token === undefined || headers.authorization === `Bearer ${this.#token}`;
    const fault = known && request ? this.#faults.take(request.verb, request.resource.plural) : undefined;
    const query = Object.fromEntries(url.searchParams);
    this.requests.push({ method, path: url.pathname, query, headers, verb: request?.verb, fault });
    try {
      const text = await textOf(incoming);
      if (!known) throw new ApiFailure(401, "Unauthorized");
      if (!request) throw new ApiFailure(404, "the server could not find the requested resource");
      this.#respond(request, { contentType: headers["content-type"], text }, fault, response);
    } catch (error) {
      sendAnswer(response, failureAnswer(error), fault, this.#random);
    }
  }

  #respond(request: ApiRequest, body: RequestBody, fault: Fault | undefined, response: ServerResponse): void {
    const isWatch = request.verb === "watch";
    if (fault?.type === "status") sendAnswer(response, refusal(fault), undefined, this.#random);
    else if (fault?.type === "reset") {
      if (fault.executed && !isWatch) this.#answer(request, body);
      response.socket?.resetAndDestroy();
    } else if (fault?.type === "silence" && (!isWatch || fault.after === undefined)) return;
    else if (isWatch) this.#watch(request, fault, response);
    else sendAnswer(response, this.#answer(request, body), fault, this.#random);
  }

  #answer(request: ApiRequest, body: RequestBody): Answer {
    try {
      return answer(this.model, request, body);
    } catch (error) {
      return failureAnswer(error);
    }
  }

  #watch(request: ApiRequest, fault: Fault | undefined, response: ServerResponse): void {
    const [model, clock, random, bookmarkInterval] = [this.model, this.#clock, this.#random, this.#bookmarkInterval];
    const plan = planWatch(request, model, this.watchList);
    this.#watches.add(response);
    const output = watchOutput(response, fault, { clock, random, patience: bookmarkInterval });
    const stop = runWatch(plan, { model, clock, bookmarkInterval }, output);
    response.once("close", () => {
      this.#watches.delete(response);
      stop();
    });
  }
}
