/**
 * Commands in containers, over a WebSocket with Kubernetes' protocol `v5.channel.k8s.io`.
 *
 * undici's WebSocket keeps two things to itself that are needed here: why a server refused, and the stream below, which
 * alone can be hung up without the other side's consent and says when it has room. Both are seen on their way to it.
 */
import type { Duplex } from "node:stream";
import { type Dispatcher, ping, WebSocket } from "undici";
import { KubeError } from "../errors.ts";
import { kindOf } from "../objects/meta.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { orAborted } from "../time/or-aborted.ts";
import type { ApiError, Status } from "./api-error.ts";
import { pathOf } from "./path.ts";
import type { ApiRequest, ExecConnection, ExecRequest } from "./transport.ts";

const PROTOCOL = "v5.channel.k8s.io";
/** The first byte of a message says what it is. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;
/** Load balancers cut connections that are silent, many of them after a minute. */
const PING_MS = 30_000;
/** How long the other side may take to say good-bye. */
const GOODBYE_MS = 5_000;
/** As much input as kubectl puts into one message; servers have a limit. */
const PIECE = 32 * 1024;
/** Enough for the reason of a refusal. */
const REFUSAL_LIMIT = 64 * 1024;

/** The API server, as far as commands need it. */
export interface ExecEndpoint {
  /** Of the API server, with `ws` or `wss`. */
  readonly url: string;
  readonly namespace: string;
  readonly clock: Clock;
  /** Aborted when the transport is closed: ends what runs, refuses what comes. */
  readonly closed: AbortSignal;
  /** Asked for each attempt to connect. */
  readonly access: () => Promise<ExecAccess>;
  /** The error that an answer means which is no WebSocket. */
  readonly refusal: (asked: ApiRequest, answer: RefusedUpgrade) => ApiError;
}

/** Who we are, and over which connections, as of now. */
export interface ExecAccess {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly dispatcher: Dispatcher;
  /** How long the server may say nothing, in milliseconds, until the connection is open. */
  readonly limits: Required<Pick<Dispatcher.DispatchOptions, "headersTimeout" | "bodyTimeout">>;
  /** The server does not take this credential: gets a new one, and says whether there is another. */
  readonly renew: () => Promise<boolean>;
}

/** What the server answered instead of opening a WebSocket. */
export interface RefusedUpgrade {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Starts a command. Resolves when the server has agreed to it; whether it could be run shows at its end. */
export async function execOverWebSocket(request: ExecRequest, endpoint: ExecEndpoint): Promise<ExecConnection> {
  const signals = [request.signal, endpoint.closed];
  const line = await connected(request, endpoint, true);
  const exitCode = orAborted(line.exitCode, ...signals);
  exitCode.catch(() => {
    if (signals.some((signal) => signal?.aborted)) line.cut();
  });
  return {
    exitCode,
    write: (bytes) => line.write(bytes),
    endInput: () => line.send(CHANNEL.close, Buffer.of(CHANNEL.stdin)),
    resize: (columns, rows) => line.send(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
    close: () => line.fail("it was closed before the command ended"),
  };
}

async function connected(request: ExecRequest, endpoint: ExecEndpoint, mayRenew: boolean): Promise<Line> {
  const { pod, container, command, stdin, tty, signal } = request;
  const { url, namespace, closed } = endpoint;
  const step = <T>(promise: Promise<T>) => orAborted(promise, signal, closed);
  for (const each of [signal, closed]) each?.throwIfAborted();
  const asked: ApiRequest = {
    verb: "get",
    kind: kindOf("v1", "Pod", "pods"),
    namespace: pod.namespace ?? namespace,
    name: pod.name,
    subresource: "exec",
    parameters: { container, command, stdin, tty, stdout: true, stderr: !tty },
  };
  const path = pathOf(asked);
  const access = await step(endpoint.access());
  const line = new Line(url + path, access, request, endpoint.clock);
  try {
    const refused = await step(line.opened);
    if (!refused) return line;
    if (refused.statusCode !== 401 || !mayRenew || !(await step(access.renew()))) throw reasonOf(refused);
  } catch (error) {
    line.cut();
    throw error;
  }
  return connected(request, endpoint, false);

  function reasonOf(refused: RefusedUpgrade): KubeError {
    const error = endpoint.refusal(asked, refused);
    if (error.status !== 400 || !/upgrade request required/i.test(error.message)) return error;
    const problem = "something on the way to the API server lets no WebSocket through";
    return new KubeError("KUBE_CONNECTION_FAILED", `exec in pod ${pod.name}: ${problem}`, { cause: error });
  }
}

/** One WebSocket, and the stream below it. */
class Line {
  readonly #request: ExecRequest;
  readonly #clock: Clock;
  readonly #opened = Promise.withResolvers<RefusedUpgrade | undefined>();
  readonly #exitCode = Promise.withResolvers<number>();
  readonly #socket: WebSocket;
  readonly #handshake: Handshake = {};
  #timer: Timer | undefined;
  #room: Promise<void> | undefined;

  constructor(url: string, access: ExecAccess, request: ExecRequest, clock: Clock) {
    this.#request = request;
    this.#clock = clock;
    this.#exitCode.promise.catch(() => {}); // of a line that was never open
    this.#socket = new WebSocket(url, { protocols: [PROTOCOL], dispatcher: observed(access, this.#handshake) });
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("open", () => this.#open());
    this.#socket.addEventListener("message", ({ data }) => this.#hear(data));
    this.#socket.addEventListener("close", () => this.#end());
  }

  /** Resolves when the connection is open, or with the server's refusal. */
  get opened(): Promise<RefusedUpgrade | undefined> {
    return this.#opened.promise;
  }

  get exitCode(): Promise<number> {
    return this.#exitCode.promise;
  }

  send(channel: number, bytes: Uint8Array): void {
    this.#socket.send(Buffer.concat([Buffer.of(channel), bytes]));
  }

  /** Sends input. Resolves when there is room for more. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE) this.send(CHANNEL.stdin, bytes.subarray(at, at + PIECE));
    const { stream } = this.#handshake;
    if (!stream?.writableNeedDrain) return;
    this.#room ??= drained(stream).finally(() => {
      this.#room = undefined;
    });
    await this.#room;
  }

  /** Ends it with an error, and hangs up. */
  fail(message: string): void {
    this.#exitCode.reject(this.#error("KUBE_EXEC_FAILED", message));
    this.#hangUp();
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#socket.close();
    this.#handshake.stream?.destroy();
    this.#timer?.cancel();
  }

  #open(): void {
    if (this.#handshake.stream?.destroyed) return; // it was cut in this very moment
    this.#opened.resolve(undefined);
    this.#keepAlive();
  }

  #keepAlive(): void {
    this.#timer = this.#clock.setTimer(PING_MS, () => {
      if (this.#socket.readyState === WebSocket.OPEN) ping(this.#socket);
      else this.#handshake.stream?.destroy(); // the other side has said good-bye, and then did not go
      this.#keepAlive();
    });
  }

  #hear(data: unknown): void {
    try {
      const exitCode = this.#understand(data);
      if (exitCode === undefined) return;
      this.#exitCode.resolve(exitCode);
    } catch (error) {
      this.#exitCode.reject(error);
    }
    this.#hangUp();
  }

  /** Passes output on. The exit code, if that is what has come. */
  #understand(data: unknown): number | undefined {
    if (!(data instanceof ArrayBuffer)) throw this.#error("KUBE_EXEC_FAILED", "the server sent a message of text");
    const message = Buffer.from(data);
    if (message.length === 0) throw this.#error("KUBE_EXEC_FAILED", "the server sent an empty message");
    const payload = message.subarray(1);
    if (payload.length === 0) return undefined; // it only says that the channel is there
    if (message[0] === CHANNEL.stdout) this.#request.onOutput("stdout", payload);
    if (message[0] === CHANNEL.stderr) this.#request.onOutput("stderr", payload);
    if (message[0] !== CHANNEL.status) return undefined;
    const outcome = exitCodeOf(payload.toString());
    if (typeof outcome === "string") throw this.#error("KUBE_EXEC_FAILED", outcome);
    return outcome;
  }

  /** Says good-bye, and gives the other side some time to say it too. */
  #hangUp(): void {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#timer?.cancel();
    this.#socket.close();
    this.#timer = this.#clock.setTimer(GOODBYE_MS, () => this.#handshake.stream?.destroy());
  }

  /** The connection is gone, or never was. */
  #end(): void {
    const { stream, refused, problem } = this.#handshake;
    this.#timer?.cancel();
    this.#exitCode.reject(this.#error("KUBE_EXEC_FAILED", "the connection ended before the command"));
    if (refused) this.#opened.resolve(refused);
    const why = stream ? `the server does not speak ${PROTOCOL}` : problem?.message || "the connection failed";
    this.#opened.reject(this.#error("KUBE_CONNECTION_FAILED", why, problem));
  }

  #error(code: "KUBE_EXEC_FAILED" | "KUBE_CONNECTION_FAILED", message: string, cause?: Error): KubeError {
    return new KubeError(code, `exec in pod ${this.#request.pod.name}: ${message}`, cause && { cause });
  }
}

/** What was seen of a WebSocket's beginning: one of these. */
interface Handshake {
  stream?: Duplex;
  refused?: RefusedUpgrade;
  problem?: Error;
}

/**
 * A dispatcher for one WebSocket, which notes what happens. A refusal goes no further: undici would only ask again, with
 * the same credential. Headers are added here because a WebSocket makes one of several with the same name.
 */
function observed({ dispatcher, headers, limits }: ExecAccess, handshake: Handshake): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const all = { ...(options.headers as Record<string, string>), ...headers }; // it hands over an object
    let text = Buffer.alloc(0);
    let refused: Omit<RefusedUpgrade, "text"> | undefined;
    const refuse = (controller: Dispatcher.DispatchController) => {
      if (refused) handshake.refused = { ...refused, text: text.toString() };
      handler.onResponseError?.(controller, new Error("the server refused"));
    };
    return dispatch(
      { ...options, ...limits, headers: all },
      {
        onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
        onRequestUpgrade(controller, statusCode, answered, stream) {
          handshake.stream = stream;
          stream.on("error", () => {}); // its end is told besides
          handler.onRequestUpgrade?.(controller, statusCode, answered, stream);
        },
        onResponseStart(_controller, statusCode, answered) {
          if (statusCode >= 200) refused = { statusCode, headers: answered };
        },
        onResponseData(_controller, chunk) {
          text = Buffer.concat([text, chunk]).subarray(0, REFUSAL_LIMIT);
        },
        onResponseEnd: refuse,
        onResponseError(controller, error) {
          handshake.problem = error;
          if (refused) refuse(controller);
          else handler.onResponseError?.(controller, error);
        },
      },
    );
  });
}

/** Resolves when a stream has sent what it holds, or will never do so. */
function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}

/** The exit code in a status; what went wrong, if there is none. */
function exitCodeOf(text: string): number | string {
  try {
    const answer: Status | null = JSON.parse(text);
    if (answer?.status === "Success") return 0;
    const causes = answer?.reason === "NonZeroExitCode" ? answer.details?.causes : undefined;
    const code = causes?.find(({ reason }) => reason === "ExitCode")?.message;
    return code !== undefined && /^\d+$/.test(code) ? Number(code) : (answer?.message ?? "it failed");
  } catch {
    return `the server sent a status that cannot be read: ${text.slice(0, 80)}`;
  }
}
