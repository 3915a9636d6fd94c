/**
 * Answers kube-scheduler over HTTP, or over HTTPS with certificates on both sides.
 *
 * Every replica answers, whoever leads: what is asked is written on the pod, and read from caches. Whoever can reach this port
 * can learn which pod holds which slot, so it is only open on this machine, and else wants a client's certificate.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, isIP } from "node:net";
import type { Logger, Runnable } from "@berth/kube";
import { OperatorError } from "../errors.ts";
import { filtered, type Seats, victims } from "./extender.ts";
import type { ExtenderArgs, PreemptionArgs } from "./extender-messages.ts";

/** Where to listen, and to whom. */
export interface ExtenderServerOptions {
  /** 0: any free one. */
  readonly port: number;
  /** Default: "127.0.0.1". */
  readonly host?: string;
  /** As PEM. `ca` is the authority that kube-scheduler's certificate has to be from. Default: plain HTTP, on this machine only. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
}

/** kube-scheduler lets a connection rest for 90 s, and does not ask again if we have closed it meanwhile. */
const KEEP_ALIVE_MS = 120_000;
/** Names of a few 100,000 nodes; whoever sends more is not kube-scheduler. */
const LONGEST_QUESTION = 32 * 1024 * 1024;

/** Runs as long as the manager that it is added to. */
export class ExtenderServer implements Runnable {
  readonly needsLeaderElection = false;
  readonly #options: ExtenderServerOptions;
  readonly #seats: Seats;
  readonly #log: Logger;
  readonly #ready: () => boolean;
  #server: Server | undefined;

  /** @param ready - Whether the caches are complete: before, nothing is known of anybody. */
  constructor(options: ExtenderServerOptions, seats: Seats, ready: () => boolean, log: Logger) {
    this.#options = guarded(options);
    this.#seats = seats;
    this.#ready = ready;
    this.#log = log;
  }

  /** Where it listens, once it does. */
  get port(): number {
    return (this.#server?.address() as AddressInfo | null)?.port ?? 0;
  }

  async start(signal: AbortSignal): Promise<void> {
    const { port, host = "127.0.0.1", tls } = this.#options;
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    const server = tls
      ? createSecureServer({ ...tls, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.2" }, answer)
      : createServer(answer);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.headersTimeout = KEEP_ALIVE_MS + 5000; // it counts from when a connection was last used
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    server.on("error", (error) => this.#log.warn("a connection could not be accepted", { error }));
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [status, body] = await this.#reply(request).catch((error) => {
      this.#log.error("kube-scheduler's question could not be answered", { error });
      return [500, { error: "failed" }] as const;
    });
    const text = JSON.stringify(body);
    // With its length, and not in pieces: Go keeps the connection only if it has read all there is.
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  }

  async #reply(request: IncomingMessage): Promise<readonly [status: number, body: object]> {
    const verb = VERBS.get(request.url ?? "");
    if (!verb) return [404, { error: "there are /filter and /preempt" }];
    if (request.method !== "POST") return [405, { error: "questions are sent by POST" }];
    if (!this.#ready()) return [503, { error: "the caches are not complete yet" }];
    const question = await questionIn(request);
    return question ? [200, verb(question, this.#seats)] : [400, { error: "this is no question of kube-scheduler's" }];
  }
}

const VERBS = new Map<string, (question: Question, seats: Seats) => object>([
  ["/filter", filtered],
  ["/preempt", victims],
]);

type Question = ExtenderArgs & PreemptionArgs;

async function questionIn(request: IncomingMessage): Promise<Question | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_QUESTION) return undefined;
    chunks.push(chunk);
  }
  try {
    const question = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return question?.Pod?.metadata ? question : undefined;
  } catch {
    return undefined;
  }
}

/** The same options; an error if they open the extender to others than this machine. */
export function guarded(options: ExtenderServerOptions): ExtenderServerOptions {
  const { host = "127.0.0.1", tls } = options;
  if (tls || isLoopback(host)) return options;
  throw new OperatorError("BERTH_EXTENDER_OPEN", `the extender may not listen on ${host} without certificates`);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
