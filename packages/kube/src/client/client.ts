/**
 * A client of an API server.
 *
 * The kind comes first, and says what type the objects have: `client.get(coreV1.Pod, { namespace, name })`.
 * Where a namespaced kind is asked for by name without a namespace, the connection's is meant; a list without a namespace
 * is one over all of them.
 */

import { keyOf, type ObjectKey } from "../objects/key.ts";
import { type Kind, type KubernetesObject, kindOf, type ObjectMeta, type WritableKind } from "../objects/meta.ts";
import { isNotFound } from "../transport/api-error.ts";
import type { Transport, WatchEvent } from "../transport/transport.ts";
import { LabelSelector } from "../values/selectors.ts";
import { Exec } from "./exec.ts";
import { linesOf } from "./log-lines.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  ExecOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from "./options.ts";
import { type Patch, patchBody } from "./patch.ts";
import { type ClientOptions, type DeletionBody, Sender } from "./sender.ts";
import { SubresourceClient } from "./subresource-client.ts";
import { typed } from "./typed.ts";
import { watchEvents } from "./watch-events.ts";

/** A whole list, as of one moment. */
export interface ObjectList<T> {
  readonly items: T[];
  readonly resourceVersion: string;
}

/** A part of a list. */
export interface ListPage<T> extends ObjectList<T> {
  /** How many are still to come, if the server says so. */
  readonly remaining: number | undefined;
}

/** All fields optional, at every depth: what is applied need not be complete. */
export type Applied<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Applied<T[K]> } : T;

interface ListAnswer<T> {
  readonly items: T[] | null;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

const POD = kindOf("v1", "Pod", "pods");

/** Reads and writes the objects of an API server. */
export class Client {
  readonly transport: Transport;
  readonly #sender: Sender;

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.transport = transport;
    this.#sender = new Sender(transport, options);
  }

  /** The status of objects, which is written apart from the rest: `client.status.update(Kind, object)`. */
  get status(): SubresourceClient {
    return this.subresource("status");
  }

  /** A part of objects with a life of its own: "scale", "eviction", "binding", "token" … */
  subresource(name: string): SubresourceClient {
    return new SubresourceClient(name, this.#sender);
  }

  /** The object. If it is not there: `isNotFound(error)`. */
  async get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const { signal, ...parameters } = options;
    return this.#sender.send({ verb: "get", kind, ...this.#sender.place(kind, key), parameters, signal });
  }

  /** The object; `undefined` if it is not there. */
  async find<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options: GetOptions = {},
  ): Promise<T | undefined> {
    return this.get(kind, key, options).catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  /** All objects that are meant, as of one moment, fetched page by page. */
  async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const items: T[] = [];
    let resourceVersion = "";
    for await (const page of this.pages(kind, options)) {
      for (const item of page.items) items.push(item);
      resourceVersion = page.resourceVersion;
    }
    return { items, resourceVersion };
  }

  /** The same, a page at a time. A list that takes too long ends with `isExpired(error)`. */
  async *pages<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): AsyncIterable<ListPage<T>> {
    const { pageSize = 500, resourceVersion, resourceVersionMatch, signal } = options;
    let next: string | undefined;
    do {
      const { items, metadata }: ListAnswer<T> = await this.#sender.send({
        verb: "list",
        kind,
        namespace: options.namespace,
        parameters: {
          ...selection(options),
          limit: pageSize,
          // Later pages are of the moment of the first one; the server refuses to be told so again.
          ...(next === undefined ? { resourceVersion, resourceVersionMatch } : { continue: next }),
        },
        signal,
      });
      next = metadata.continue || undefined;
      yield {
        // The list says once what its items are, they do not; who holds a single one wants to know.
        items: (items ?? []).map((item) => typed(kind, item)),
        resourceVersion: metadata.resourceVersion,
        remaining: metadata.remainingItemCount,
      };
    } while (next !== undefined);
  }

  /**
   * Changes as they happen, until the server ends the stream. It is not begun again: that is what informers are for.
   * Whoever stops iterating ends the watch.
   */
  watch<T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    const { resourceVersion, timeoutSeconds, bookmarks, sendInitialEvents, namespace, signal } = options;
    return watchEvents<T>(this.transport, {
      kind,
      namespace,
      parameters: {
        ...selection(options),
        resourceVersion,
        timeoutSeconds,
        ...((bookmarks || sendInitialEvents) && { allowWatchBookmarks: true }),
        ...(sendInitialEvents && { sendInitialEvents, resourceVersionMatch: "NotOlderThan" }),
      },
      signal,
    });
  }

  /** Creates an object; `apiVersion` and `kind` may be left out. If there is one already: `isAlreadyExists(error)`. */
  async create<T extends KubernetesObject, W extends KubernetesObject>(
    kind: WritableKind<T, W>,
    object: W,
    options: WriteOptions = {},
  ): Promise<T> {
    const namespace = this.#sender.namespaceOf(kind, object.metadata.namespace);
    return this.#sender.write({ verb: "create", kind, namespace, body: typed(kind, object) }, options);
  }

  /** Replaces the object. With a resourceVersion, only if nobody has written since: else `isConflict(error)`. */
  async update<T extends KubernetesObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const place = this.#sender.place(kind, keyOf(object));
    return this.#sender.write({ verb: "update", kind, ...place, body: typed(kind, object) }, options);
  }

  /** Changes a part of the object. */
  async patch<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#sender.write({ verb: "patch", kind, ...this.#sender.place(kind, key), ...patchBody(patch) }, options);
  }

  /** Server-side apply: the fields given become ours and have these values, whether the object exists or not. */
  async apply<T extends KubernetesObject>(
    kind: Kind<T>,
    object: Applied<T> & { metadata: ObjectMeta },
    { force, ...options }: ApplyOptions = {},
  ): Promise<T> {
    const place = this.#sender.place(kind, keyOf(object));
    const applied = { patchType: "apply", body: typed(kind, object), parameters: { force } } as const;
    return this.#sender.write({ verb: "patch", kind, ...place, ...applied }, options);
  }

  /** Deletes the object. Resolves to the object if it has yet to finish something; to `undefined` if it is gone. */
  async delete<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    return this.#sender.delete({ verb: "delete", kind, ...this.#sender.place(kind, key), ...deletion(options) });
  }

  /** Deletes all objects of a kind that are meant; of a namespaced kind those in one namespace. */
  async deleteAllOf(kind: Kind, options: Selection & DeleteOptions = {}): Promise<void> {
    await this.#sender.send({
      verb: "deletecollection",
      kind,
      namespace: this.#sender.namespaceOf(kind, options.namespace),
      parameters: selection(options),
      ...deletion(options),
    });
  }

  /** A container's log, line by line. */
  logs(pod: ObjectKey, { signal, ...parameters }: LogOptions = {}): AsyncIterable<string> {
    const place = this.#sender.place(POD, pod);
    const request = { kind: POD, ...place, subresource: "log", parameters: { ...parameters }, signal };
    return linesOf(this.transport.bytes({ verb: "get", ...request }));
  }

  /** Runs a command in a container. */
  async exec(pod: ObjectKey, options: ExecOptions): Promise<Exec> {
    return Exec.start(this.transport, pod, options);
  }
}

const selection = ({ labelSelector, fieldSelector }: Selection) => ({
  labelSelector: labelSelector === undefined ? undefined : LabelSelector.from(labelSelector).toString(),
  fieldSelector: fieldSelector?.toString(),
});

/** All of it in the body: where there is one, the API server ignores the query, dry runs included. */
function deletion(options: DeleteOptions): { body: DeletionBody; signal: AbortSignal | undefined } {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun, signal } = options;
  const common = { apiVersion: "v1", kind: "DeleteOptions" } as const;
  const body = { ...common, gracePeriodSeconds, propagationPolicy, preconditions, ...(dryRun && { dryRun: ["All"] }) };
  return { body, signal };
}
