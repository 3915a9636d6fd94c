/** The model of an API server as a transport in this process: for tests in virtual time. */
import { type Clock, sleep } from "../time/clock.ts";
import { ApiError, type Status } from "../transport/api-error.ts";
import { contentTypeOf, methodOf, pathOf } from "../transport/path.ts";
import type {
  ApiRequest,
  ExecConnection,
  ExecRequest,
  OnEvent,
  Transport,
  WatchEvent,
  WatchRequest,
} from "../transport/transport.ts";
import { answer, failureAnswer } from "./answers.ts";
import type { ModelApi } from "./model-api.ts";
import { readRequest } from "./routes.ts";
import { planWatch, runWatch } from "./watch-stream.ts";

export interface ModelTransportOptions {
  readonly clock: Clock;
  /** Asked before each request: what it returns is thrown instead of an answer. */
  readonly fail?: (request: ApiRequest) => unknown;
  /** Asked for each request: milliseconds that it is on its way, there and back. Default: none. */
  readonly latency?: (request: ApiRequest) => readonly [there: number, back: number];
  /** Asked after a request was carried out: what it returns is thrown instead of the answer. */
  readonly failAfter?: (request: ApiRequest) => unknown;
  /** Milliseconds between bookmarks. Default: 60 s, as the real server has it. */
  readonly bookmarkInterval?: number;
}

export class ModelTransport implements Transport {
  readonly namespace = "default";
  readonly requests: ApiRequest[] = [];
  readonly #model: ModelApi;
  readonly #options: ModelTransportOptions;

  constructor(model: ModelApi, options: ModelTransportOptions) {
    this.#model = model;
    this.#options = options;
  }

  async request(request: ApiRequest): Promise<unknown> {
    request.signal?.throwIfAborted();
    this.requests.push(request);
    const [there, back] = this.#options.latency?.(request) ?? [0, 0];
    if (there > 0) await sleep(this.#options.clock, there, request.signal);
    const failure = this.#options.fail?.(request);
    if (failure) throw failure;
    const text = request.body === undefined ? "" : JSON.stringify(request.body);
    const { code, body } = this.#answer(request, { contentType: contentTypeOf(request), text });
    await Promise.resolve(); // no answer comes in the moment of the question
    if (back > 0) await sleep(this.#options.clock, back, request.signal);
    const lost = this.#options.failAfter?.(request);
    if (lost) throw lost;
    if (code >= 400) throw new ApiError({ ...(body as Status), code });
    return structuredClone(body);
  }

  watch(request: WatchRequest, onEvent: OnEvent): Promise<void> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const asked = this.#read({ ...request, verb: "list", parameters: { ...request.parameters, watch: true } });
      const { clock, bookmarkInterval = 60_000 } = this.#options;
      const stop = runWatch(
        this.#orRefuse(() => planWatch(asked, this.#model, "supported")),
        { model: this.#model, clock, bookmarkInterval },
        {
          send: (event) => {
            if (event.type === "ERROR") reject(new ApiError({ ...event.object, code: event.object.code ?? 500 }));
            else void onEvent(structuredClone(event) as WatchEvent);
          },
          end: resolve,
        },
      );
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason);
      });
    });
  }

  // biome-ignore lint/correctness/useYield: the model has no containers
  async *bytes(): AsyncIterable<Uint8Array> {
    throw new ApiError({ code: 501, message: "the model has no containers" });
  }

  async exec(_request: ExecRequest): Promise<ExecConnection> {
    throw new ApiError({ code: 501, message: "the model has no containers" });
  }

  async close(): Promise<void> {}

  #read(request: ApiRequest) {
    const read = readRequest(methodOf(request.verb), new URL(pathOf(request), "http://localhost"));
    if (!read) throw new ApiError({ code: 404 });
    return read;
  }

  #answer(request: ApiRequest, body: Parameters<typeof answer>[2]): ReturnType<typeof answer> {
    try {
      return answer(this.#model, this.#read(request), body);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      return failureAnswer(error);
    }
  }

  #orRefuse<T>(plan: () => T): T {
    try {
      return plan();
    } catch (error) {
      const { code, body } = failureAnswer(error);
      throw new ApiError({ ...(body as Status), code });
    }
  }
}
