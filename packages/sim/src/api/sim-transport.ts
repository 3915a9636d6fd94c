/** The API server as a `Transport` of `@berth/kube`: objects in, frozen objects out, nothing copied, nothing parsed. */
import {
  ApiError,
  type ApiRequest,
  type ExecConnection,
  type ExecRequest,
  KubeError,
  type OnEvent,
  type Transport,
  type WatchEvent,
  type WatchRequest,
} from "@berth/kube";
import type { ApiServer, Caller } from "./api-server.ts";

/** As whom, and where. */
export interface SimTransportOptions {
  /** The namespace that is meant where none is given. Default: "default". */
  readonly namespace?: string;
  /** As whom. Default: an administrator. */
  readonly caller?: Caller;
  /** What a pod's container says. */
  readonly logs?: (request: ApiRequest) => AsyncIterable<Uint8Array>;
}

const ADMIN: Caller = { user: { username: "admin", groups: ["system:masters", "system:authenticated"] } };

/** The API server as a transport in its own process. */
export class SimTransport implements Transport {
  readonly namespace: string;
  readonly #server: ApiServer;
  readonly #caller: Caller;
  readonly #logs: SimTransportOptions["logs"];
  readonly #closed = new AbortController();

  constructor(server: ApiServer, { namespace = "default", caller = ADMIN, logs }: SimTransportOptions = {}) {
    this.namespace = namespace;
    this.#server = server;
    this.#caller = caller;
    this.#logs = logs;
  }

  async request(request: ApiRequest): Promise<unknown> {
    this.#closed.signal.throwIfAborted();
    request.signal?.throwIfAborted();
    await undefined; // no answer comes in the moment of the question
    return this.#server.request(request, this.#caller);
  }

  watch(request: WatchRequest, onEvent: OnEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      this.#closed.signal.throwIfAborted();
      signal?.throwIfAborted();
      let waiting: WatchEvent[] = [];
      /** The first that was not yet handed over. */
      let next = 0;
      let [busy, over] = [false, false];
      /** Hands over what has come, no faster than it is taken, and never in the moment of the change. */
      const handOver = () => {
        try {
          while (!over && next < waiting.length) {
            const pause = onEvent(waiting[next++] as WatchEvent);
            if (pause) {
              pause.then(handOver, fail);
              return;
            }
          }
        } catch (error) {
          fail(error);
        }
        waiting = [];
        next = 0;
        busy = false;
        if (ended) finish(resolve);
      };
      const fail = (error: unknown) => finish(() => reject(error));
      const finish = (settle: () => void) => {
        if (over) return;
        over = true;
        stop();
        signal?.removeEventListener("abort", onAbort);
        this.#closed.signal.removeEventListener("abort", onClosed);
        settle();
      };
      const onAbort = () => finish(() => reject(signal?.reason));
      const onClosed = () => finish(() => reject(this.#closed.signal.reason));
      const wake = () => {
        if (busy || over) return;
        busy = true;
        queueMicrotask(handOver);
      };
      let ended = false;
      const stop = this.#server.watch(request, {
        send: (event) => {
          waiting.push(event);
          wake();
        },
        end: () => {
          ended = true;
          wake();
        },
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#closed.signal.addEventListener("abort", onClosed, { once: true });
    });
  }

  async *bytes(request: ApiRequest): AsyncIterable<Uint8Array> {
    if (!this.#logs) throw new ApiError({ code: 501, message: "this server has no containers" });
    yield* this.#logs(request);
  }

  async exec(_request: ExecRequest): Promise<ExecConnection> {
    throw new ApiError({ code: 501, reason: "NotImplemented", message: "nothing runs in simulated containers" });
  }

  async close(): Promise<void> {
    this.#closed.abort(new KubeError("KUBE_SHUT_DOWN", "the transport was closed"));
  }
}
