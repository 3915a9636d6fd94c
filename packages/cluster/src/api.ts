/** Just enough of an API client to set a cluster up: JSON in, JSON out, with the administrator's certificate. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { timeout } from "./clock.ts";
import type { KeyPair } from "./control-plane/pki.ts";
import { ClusterError } from "./errors.ts";

/** The parts of a Kubernetes object that this package reads; everything else is passed through. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
    ownerReferences?: { kind: string; name: string }[];
  };
  // biome-ignore lint/suspicious/noExplicitAny: objects of any kind pass through here; packages/kube has the types.
  spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  status?: any;
}

/** An answer other than 2xx. `reason` is Kubernetes' own (NotFound, AlreadyExists …). */
export class ApiError extends ClusterError {
  readonly status: number;
  readonly reason: string;

  constructor(method: string, path: string, status: number, body: string) {
    const answer = parseStatus(body);
    super("BERTH_CLUSTER_API", `${method} ${path}: ${status} ${answer.reason ?? ""} ${answer.message ?? body}`.trim());
    this.status = status;
    this.reason = answer.reason ?? "";
  }
}

interface CallOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly signal?: AbortSignal | undefined;
}

export class Api {
  readonly server: string;
  readonly #agent: Agent;

  constructor(server: string, authority: string, user: KeyPair) {
    this.server = server;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 16,
      ca: readFileSync(authority),
      cert: readFileSync(user.certificate),
      key: readFileSync(user.key),
    });
  }

  get<T = KubeObject>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#call("GET", path, { signal });
  }

  async list(path: string, signal?: AbortSignal): Promise<KubeObject[]> {
    const { items } = await this.#call<{ items: KubeObject[] }>("GET", path, { signal });
    return items;
  }

  create<T = KubeObject>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.#call("POST", path, { body, signal });
  }

  /** Deletes; what is already gone is fine. */
  async delete(path: string): Promise<void> {
    await this.#call("DELETE", path, {}).catch(ignoreReason("NotFound"));
  }

  mergePatch<T = KubeObject>(path: string, body: unknown): Promise<T> {
    return this.#call("PATCH", path, { body, type: "application/merge-patch+json" });
  }

  #call<T>(method: string, path: string, { body, type = "application/json", signal }: CallOptions): Promise<T> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    // The API server itself gives up after a minute; one that is stopped or wedged answers nothing at all.
    const limit = AbortSignal.any([timeout(70_000), ...(signal ? [signal] : [])]);
    return new Promise((resolve, reject) => {
      const call = request(
        new URL(path, this.server),
        {
          method,
          agent: this.#agent,
          signal: limit,
          headers: payload === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(payload) },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            const status = response.statusCode ?? 0;
            if (status < 200 || status > 299) reject(new ApiError(method, path, status, text));
            else resolve(parseBody(text) as T);
          });
        },
      );
      call.on("error", (error) => reject(signal?.aborted ? signal.reason : error));
      call.end(payload);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** For `.catch()`: swallows API errors of the given reason. */
export function ignoreReason(reason: string): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof ApiError && error.reason === reason) return undefined;
    throw error;
  };
}

/** Runs `work` for every item, at most `width` at once. After a failure no further item is begun. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++] as T;
      await work(item).catch((error: unknown) => {
        next = items.length;
        throw error;
      });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: width }, worker));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) throw failure.reason;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // /readyz and the like answer in plain text
  }
}

function parseStatus(body: string): { reason?: string; message?: string } {
  const parsed = parseBody(body);
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}
