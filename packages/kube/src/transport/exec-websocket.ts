/** Commands in containers, over a WebSocket with Kubernetes' protocol `v5.channel.k8s.io`. */
import { type Dispatcher, WebSocket } from "undici";
import { KubeError } from "../errors.ts";
import { kindOf } from "../objects/meta.ts";
import type { Status } from "./api-error.ts";
import { pathOf } from "./path.ts";
import type { ApiRequest, ExecConnection, ExecRequest } from "./transport.ts";

const PROTOCOL = "v5.channel.k8s.io";
/** The first byte of a message says what it is. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;

export interface ExecEndpoint {
  /** Of the API server, with `ws` or `wss`. */
  readonly url: string;
  readonly headers: Record<string, string | string[]>;
  readonly dispatcher: Dispatcher;
  readonly namespace: string;
  /** Asks the same as an ordinary request: a WebSocket that is refused does not say why, this does. */
  readonly whyRefused: (request: ApiRequest) => Promise<unknown>;
}

export async function execOverWebSocket(request: ExecRequest, endpoint: ExecEndpoint): Promise<ExecConnection> {
  const { pod, container, command, stdin, tty, signal } = request;
  signal?.throwIfAborted();
  const asked: ApiRequest = {
    verb: "get",
    kind: kindOf("v1", "Pod", "pods"),
    namespace: pod.namespace ?? endpoint.namespace,
    name: pod.name,
    subresource: "exec",
    parameters: { container, command, stdin, tty, stdout: true, stderr: !tty },
  };
  const socket = new WebSocket(endpoint.url + pathOf(asked), {
    protocols: [PROTOCOL],
    dispatcher: endpoint.dispatcher,
    headers: Object.entries(endpoint.headers).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  });
  socket.binaryType = "arraybuffer";
  const abort = () => socket.close();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await opened(socket, asked, endpoint);
  } catch (error) {
    signal?.removeEventListener("abort", abort);
    throw signal?.aborted ? signal.reason : error;
  }
  const exitCode = conversation(socket, request).finally(() => signal?.removeEventListener("abort", abort));
  exitCode.catch(() => {}); // whoever does not ask for it need not hear of it
  const send = (channel: number, bytes: Uint8Array) => socket.send(Buffer.concat([Buffer.of(channel), bytes]));
  return {
    exitCode,
    write: (bytes) => send(CHANNEL.stdin, bytes),
    endInput: () => socket.send(Buffer.of(CHANNEL.close, CHANNEL.stdin)),
    resize: (columns, rows) => send(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
    close: () => socket.close(),
  };
}

async function opened(socket: WebSocket, asked: ApiRequest, { whyRefused }: ExecEndpoint): Promise<void> {
  const problem = await new Promise<string | undefined>((resolve) => {
    socket.addEventListener("open", () => resolve(undefined), { once: true });
    socket.addEventListener("error", (event) => resolve(event.message || "the connection failed"), { once: true });
    socket.addEventListener("close", () => resolve("the connection was closed"), { once: true });
  });
  if (problem === undefined) return;
  await whyRefused(asked); // throws the reason, unless there was none: then this request is as good as the first
  throw new KubeError("KUBE_CONNECTION_FAILED", `exec in pod ${asked.name}: ${problem}`);
}

/** Hands output over until the command has ended; its exit code. */
function conversation(socket: WebSocket, { pod, signal, onOutput }: ExecRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => reject(new KubeError("KUBE_EXEC_FAILED", `exec in pod ${pod.name}: ${message}`));
    socket.addEventListener("message", ({ data }) => {
      const message = Buffer.from(data as ArrayBuffer);
      const payload = message.subarray(1);
      if (message[0] === CHANNEL.stdout && payload.length > 0) onOutput("stdout", payload);
      if (message[0] === CHANNEL.stderr && payload.length > 0) onOutput("stderr", payload);
      if (message[0] === CHANNEL.status) {
        const code = exitCodeOf(JSON.parse(payload.toString()));
        if (typeof code === "number") resolve(code);
        else fail(code);
        socket.close();
      }
    });
    socket.addEventListener("close", () => {
      if (signal?.aborted) reject(signal.reason);
      else fail("the connection ended before the command");
    });
  });
}

/** The exit code in a status; what went wrong, if there is none. */
function exitCodeOf({ status, reason, message, details }: Status): number | string {
  if (status === "Success") return 0;
  const code = details?.causes?.find((cause) => cause.reason === "ExitCode")?.message;
  return reason === "NonZeroExitCode" && code !== undefined ? Number(code) : (message ?? "it failed");
}
