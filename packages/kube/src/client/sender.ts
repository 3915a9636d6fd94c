/** Sends a client's requests: again where that is safe, with its defaults, and telling of what was written. */

import { keyOf, type ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject, ObjectMeta } from "../objects/meta.ts";
import { type Clock, sleep, WallClock } from "../time/clock.ts";
import { type Random, SystemRandom } from "../time/random.ts";
import type { ApiRequest, Transport } from "../transport/transport.ts";
import type { WriteOptions } from "./options.ts";
import { pauseBeforeRetry } from "./retry.ts";

/** What holds for all requests of a client. */
export interface ClientOptions {
  /** Who is recorded as the owner of the fields that are written. Default: "berth-kube". */
  readonly fieldManager?: string;
  /** What to do with unknown fields in what is written. Default: the server's choice, "Warn". */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  /** How often a request is sent again, where that is safe. Default: 5 times. */
  readonly maxRetries?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told of everything that was written, before the caller is. */
  readonly onWritten?: (written: Written) => void;
}

/** What a write has made of an object. */
export interface Written {
  readonly kind: Kind;
  readonly key: ObjectKey;
  /** As it is now; `undefined` if it is gone. */
  readonly object: KubernetesObject | undefined;
  /** Of the object that is gone. */
  readonly uid?: string | undefined;
}

/** What a deletion says of itself, as far as it matters here. */
export interface DeletionBody {
  readonly dryRun?: readonly string[];
}

/** What the API server answers to a deletion that is over. */
interface DeletedStatus {
  readonly kind: "Status";
  readonly details?: { readonly uid?: string };
}

export class Sender {
  readonly transport: Transport;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(transport: Transport, options: ClientOptions) {
    this.transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? new WallClock();
    this.#random = options.random ?? new SystemRandom();
  }

  async send<T>(request: ApiRequest): Promise<T> {
    const { maxRetries = 5 } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        return (await this.transport.request(request)) as T;
      } catch (error) {
        const pause = pauseBeforeRetry(error, request.verb, attempt, this.#random);
        if (pause === undefined || attempt >= maxRetries) throw error;
        await sleep(this.#clock, pause, request.signal);
      }
    }
  }

  async write<T>(request: ApiRequest, options: WriteOptions): Promise<T> {
    const { dryRun, signal } = options;
    const answer = await this.send<T & Partial<KubernetesObject>>({
      ...request,
      parameters: {
        ...request.parameters,
        fieldManager: options.fieldManager ?? this.#options.fieldManager ?? "berth-kube",
        fieldValidation: options.fieldValidation ?? this.#options.fieldValidation,
        dryRun: dryRun ? "All" : undefined,
      },
      signal,
    });
    // Some subresources answer with an object of another kind: an eviction with a status, for instance.
    const { kind, metadata } = answer ?? {};
    if (!dryRun && kind === request.kind.kind && metadata?.name !== undefined) {
      this.#tell(request.kind, answer as KubernetesObject, isGone(metadata));
    }
    return answer;
  }

  /** The object if it has yet to finish something; `undefined` if it is gone. */
  async delete<T extends KubernetesObject>(
    request: ApiRequest & { readonly name: string; readonly body: DeletionBody },
  ): Promise<T | undefined> {
    const answer = await this.send<T | DeletedStatus>(request);
    const { kind, namespace, name, body } = request;
    if (isStatus(answer)) {
      const uid = answer.details?.uid;
      if (!body.dryRun) this.#options.onWritten?.({ kind, key: { namespace, name }, object: undefined, uid });
      return undefined;
    }
    // Some kinds answer with the object although it is gone: as it was last, or marked with nothing left to wait for.
    const gone = answer.metadata.deletionTimestamp === undefined || isGone(answer.metadata);
    if (!body.dryRun) this.#tell(kind, answer, gone);
    return gone ? undefined : answer;
  }

  #tell(kind: Kind, object: KubernetesObject, gone: boolean): void {
    const key = keyOf(object);
    const { uid } = object.metadata;
    this.#options.onWritten?.(gone ? { kind, key, object: undefined, uid } : { kind, key, object });
  }

  /** Where an object is: for namespaced kinds in the connection's namespace, if no other is named. */
  place(kind: Kind, { namespace, name }: ObjectKey): { name: string; namespace: string | undefined } {
    return { name, namespace: this.namespaceOf(kind, namespace) };
  }

  namespaceOf(kind: Kind, namespace: string | undefined): string | undefined {
    return kind.namespaced ? namespace || this.transport.namespace : undefined;
  }
}

/** Whether nothing keeps an object any more that is to be deleted: then the answer is the last that is heard of it. */
function isGone({ deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
}

const isStatus = (answer: KubernetesObject | DeletedStatus): answer is DeletedStatus => answer.kind === "Status";
