/**
 * An API server at the other end of a network.
 *
 * Calls and watches have a pool of connections each, kept for as long as the transport lives: watches stay open, and a
 * call must not wait behind them. HTTP/1.1, because it was measured to be no slower than HTTP/2 and to cost less CPU.
 */
import type { Dispatcher } from "undici";
import type { Connection } from "../connect/connection.ts";
import { type Credential, Credentials } from "../connect/credentials.ts";
import { KubeError } from "../errors.ts";
import { type Clock, WallClock } from "../time/clock.ts";
import { orAborted } from "../time/or-aborted.ts";
import { ApiError, type Status } from "./api-error.ts";
import type { RefusedUpgrade } from "./exec-websocket.ts";
import { Lines } from "./lines.ts";
import { contentTypeOf, type Method, methodOf, pathOf } from "./path.ts";
import { type PoolName, Pools } from "./pools.ts";
import type {
  ApiRequest,
  ExecConnection,
  ExecRequest,
  OnEvent,
  Transport,
  WatchEvent,
  WatchRequest,
} from "./transport.ts";

/** How many connections, how patient, under which name. */
export interface HttpTransportOptions {
  /** How many calls may be under way at once; others wait for their turn. Default: 64. */
  readonly connections?: number;
  /**
   * How long the server may say nothing before a call is given up. Default: 65 s, a little longer than the server itself
   * works on a request. Watches may be silent for longer once they have begun.
   */
  readonly timeoutMs?: number;
  /** What the server's logs call us. Default: "berth-kube". */
  readonly userAgent?: string;
  /** For the ends of credentials. Default: the world's time. */
  readonly clock?: Clock;
  /** Told of every answer, and of every request that got none; for metrics. */
  readonly onAnswer?: (answer: Answer) => void;
}

/** One answer, or none, for those who count them. */
export interface Answer {
  readonly method: Method;
  readonly host: string;
  /** The HTTP status; `undefined` if there was no answer. */
  readonly status: number | undefined;
  /** Until the beginning of the answer. */
  readonly seconds: number;
}

/** An API server at the other end of a network. */
export class HttpTransport implements Transport {
  readonly namespace: string;
  readonly #options: HttpTransportOptions;
  readonly #clock: Clock;
  readonly #credentials: Credentials;
  readonly #origin: string;
  readonly #host: string;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string | string[]>>;
  readonly #pools: Pools;
  readonly #closed = new AbortController();

  constructor(connection: Connection, options: HttpTransportOptions = {}) {
    const { origin, host, pathname } = new URL(connection.server);
    this.namespace = connection.namespace;
    this.#options = options;
    this.#clock = options.clock ?? new WallClock();
    this.#credentials = new Credentials(connection, this.#clock);
    this.#origin = origin;
    this.#host = host;
    this.#prefix = pathname.replace(/\/$/, "");
    this.#pools = new Pools(connection, {
      connections: options.connections ?? 64,
      timeoutMs: options.timeoutMs ?? 65_000,
    });
    this.#headers = { "user-agent": options.userAgent ?? "berth-kube", ...impersonation(connection) };
  }

  async request(request: ApiRequest): Promise<unknown> {
    const { body } = await this.#send(request, request.urgent ? "watches" : "calls"); // of which there is always one free
    const text = await this.#received(request, body.text());
    return text === "" ? undefined : this.#parsed(request, text);
  }

  async watch(request: WatchRequest, onEvent: OnEvent): Promise<void> {
    const asked: ApiRequest = { ...request, verb: "list", parameters: { ...request.parameters, watch: true } };
    const { body } = await this.#send(asked, "watches");
    const lines = new Lines();
    const onLine = (line: string) => onEvent(eventOf(line));
    try {
      for await (const chunk of body) await lines.push(chunk, onLine);
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (error instanceof KubeError || !isOfTheNetwork(error)) throw error;
      throw new KubeError("KUBE_WATCH_BROKEN", `the watch of ${request.kind.plural} broke: ${messageOf(error)}`, {
        cause: error,
      });
    }
    if (lines.rest() !== "") {
      throw new KubeError("KUBE_WATCH_BROKEN", `the watch of ${request.kind.plural} ended in the middle of an event`);
    }
  }

  async *bytes(request: ApiRequest): AsyncIterable<Uint8Array> {
    const { body } = await this.#send(request, request.parameters?.follow ? "watches" : "calls");
    try {
      for await (const chunk of body) yield chunk;
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  async exec(request: ExecRequest): Promise<ExecConnection> {
    const [{ execOverWebSocket }] = await Promise.all([import("./exec-websocket.ts"), this.#pools.load()]);
    return execOverWebSocket(request, {
      url: `${this.#origin.replace(/^http/, "ws")}${this.#prefix}`,
      namespace: this.namespace,
      clock: this.#clock,
      closed: this.#closed.signal,
      access: async () => {
        const credential = await this.#credentials.current();
        this.#closed.signal.throwIfAborted(); // no pool may be made after that
        return {
          headers: this.#headersWith(credential),
          dispatcher: this.#pools.of("watches", credential),
          limits: this.#pools.limits.calls,
          renew: () => this.#credentials.renewAfter(credential),
        };
      },
      refusal: refusalOf,
    });
  }

  async close(): Promise<void> {
    this.#closed.abort(new KubeError("KUBE_SHUT_DOWN", "the transport was closed"));
    await this.#pools.destroy();
  }

  /** Sends a request, with new credentials if the old ones are refused. What comes back is not an error. */
  async #send(request: ApiRequest, pool: PoolName): Promise<Dispatcher.ResponseData> {
    await this.#pools.load();
    const credential = await this.#untilEnded(request, this.#credentials.current());
    const response = await this.#dispatch(request, credential, pool);
    if (response.statusCode < 400) return response;
    const error = await this.#refusal(request, response);
    if (error.status !== 401) throw error;
    if (!(await this.#untilEnded(request, this.#credentials.renewAfter(credential)))) throw error;
    const second = await this.#dispatch(request, await this.#credentials.current(), pool);
    if (second.statusCode < 400) return second;
    throw await this.#refusal(request, second);
  }

  async #dispatch(request: ApiRequest, credential: Credential, pool: PoolName): Promise<Dispatcher.ResponseData> {
    this.#closed.signal.throwIfAborted();
    request.signal?.throwIfAborted();
    const method = methodOf(request.verb);
    const started = this.#clock.now();
    let status: number | undefined;
    try {
      const sent = this.#pools.of(pool, credential).request({
        origin: this.#origin,
        path: this.#prefix + pathOf(request),
        method,
        headers: {
          ...this.#headersWith(credential),
          accept: "application/json",
          ...(request.body !== undefined && { "content-type": contentTypeOf(request) }),
        },
        ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
        ...(request.signal && { signal: request.signal }),
        ...this.#pools.limits[pool],
        reset: false, // a DELETE with options would take its connection along otherwise, and a handshake costs more than it
      });
      // A request that waits for a connection notices its signal only when it gets one; it is not sent then.
      const response = await orAborted(sent, request.signal);
      status = response.statusCode;
      return response;
    } catch (error) {
      throw this.#failure(request, error);
    } finally {
      const seconds = (this.#clock.now() - started) / 1000;
      this.#options.onAnswer?.({ method, host: this.#host, status, seconds });
    }
  }

  /** Also what cannot be told to stop, such as a plug-in that others wait for too, is not waited for in vain. */
  #untilEnded<T>({ signal }: ApiRequest, promise: Promise<T>): Promise<T> {
    return orAborted(promise, signal, this.#closed.signal);
  }

  #headersWith({ authorization }: Credential): Record<string, string | string[]> {
    return authorization === undefined ? this.#headers : { ...this.#headers, authorization };
  }

  async #refusal(request: ApiRequest, { statusCode, headers, body }: Dispatcher.ResponseData): Promise<ApiError> {
    const text = await body.text().catch(() => ""); // that it was refused matters more
    return refusalOf(request, { statusCode, headers, text });
  }

  async #received<T>(request: ApiRequest, body: Promise<T>): Promise<T> {
    try {
      return await body;
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  #parsed(request: ApiRequest, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  /** Why a request got no answer, or only a part of it. */
  #failure(request: ApiRequest, error: unknown): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    if (this.#closed.signal.aborted) return this.#closed.signal.reason;
    if (error instanceof KubeError) return error;
    return new KubeError("KUBE_CONNECTION_FAILED", `${asked(request)}: ${messageOf(error)}`, { cause: error });
  }
}

function refusalOf(request: ApiRequest, { statusCode, headers, text }: RefusedUpgrade): ApiError {
  const retryAfter = Number(headers["retry-after"]);
  return new ApiError(
    { message: text.slice(0, 500), ...statusOf(text), code: statusCode },
    { asked: asked(request), retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined },
  );
}

function impersonation({ impersonate }: Connection): Record<string, string | string[]> {
  if (!impersonate) return {};
  return {
    "impersonate-user": impersonate.user,
    ...(impersonate.groups.length > 0 && { "impersonate-group": [...impersonate.groups] }),
    ...(impersonate.uid !== undefined && { "impersonate-uid": impersonate.uid }),
    ...Object.fromEntries(
      Object.entries(impersonate.extra ?? {}).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        [...values],
      ]),
    ),
  };
}

function eventOf(line: string): WatchEvent {
  let event: { type: string; object: Status & WatchEvent["object"] };
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new KubeError("KUBE_WATCH_BROKEN", `a watch sent something that is not JSON: ${line.slice(0, 80)}`, {
      cause,
    });
  }
  if (event.type === "ERROR") throw new ApiError({ ...event.object, code: event.object.code ?? 500 });
  return event as WatchEvent;
}

function statusOf(text: string): Status {
  try {
    const answer: Status | null = JSON.parse(text);
    // Some filters of the API server leave out the kind.
    return answer?.kind === "Status" || answer?.status === "Failure" ? answer : {};
  } catch {
    return {}; // a proxy's page, for instance
  }
}

const asked = (request: ApiRequest) => `${methodOf(request.verb)} ${pathOf(request).replace(/\?.*/, "")}`;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Errors of sockets and of undici have codes; those of whoever handles the events do not look like that. */
const isOfTheNetwork = (error: unknown) =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === "string";
