/**
 * A client that reads from the cache whatever is in it, and everything else from the API server.
 *
 * In the cache are the kinds that somebody watches. What this client has written, it reads at once: a reconciler never acts
 * on a state older than its own last write. Objects from the cache are shared and must not be changed.
 */
import { Client, type ObjectList } from "../client/client.ts";
import type { GetOptions, ListOptions } from "../client/options.ts";
import type { ClientOptions } from "../client/sender.ts";
import { KubeError } from "../errors.ts";
import type { Cache } from "../informer/cache.ts";
import type { Informer } from "../informer/informer.ts";
import type { ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject } from "../objects/meta.ts";
import { ApiError } from "../transport/api-error.ts";
import type { Transport } from "../transport/transport.ts";
import { FieldSelector, fieldOf } from "../values/selectors.ts";

export class CachedClient extends Client {
  readonly #cache: Cache;

  constructor(transport: Transport, cache: Cache, options: ClientOptions = {}) {
    super(transport, { ...options, onWritten: (written) => cache.wrote(written) });
    this.#cache = cache;
  }

  override async get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const read = await this.#cached(kind, key, options);
    if (!read) return super.get(kind, key, options);
    const object = read();
    if (object) return object;
    const { group, plural } = kind;
    const message = `${plural}${group && `.${group}`} "${key.name}" not found`;
    throw new ApiError({ code: 404, reason: "NotFound", message, details: { name: key.name, group, kind: plural } });
  }

  /** Without the error that `get` would make and throw away: most of what is asked for in vain is asked for here. */
  override async find<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options: GetOptions = {},
  ): Promise<T | undefined> {
    const read = await this.#cached(kind, key, options);
    return read ? read() : super.find(kind, key, options);
  }

  override async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const fields = FieldSelector.parse(String(options.fieldSelector ?? ""));
    // Which fields there are, and what they say if they are not there, only the server knows.
    const known = fields.requirements.every(({ field }) => field === "metadata.name" || field === "metadata.namespace");
    const live = options.resourceVersion !== undefined || !known;
    const informer = live ? undefined : await this.#informer(kind, options.namespace, options);
    if (!informer) return super.list(kind, options);
    const items = informer.list(options).filter((object) => fields.matches((field) => fieldOf(object, field)));
    return { items, resourceVersion: informer.resourceVersion };
  }

  /** How to read an object from the cache; `undefined` if it is the server that has to be asked. */
  async #cached<T extends KubernetesObject>(
    kind: Kind<T>,
    { namespace, name }: ObjectKey,
    options: GetOptions,
  ): Promise<(() => T | undefined) | undefined> {
    if (options.resourceVersion !== undefined) return undefined;
    const place = { name, namespace: kind.namespaced ? namespace || this.transport.namespace : undefined };
    const informer = await this.#informer(kind, place.namespace, options);
    return informer && (() => informer.get(place));
  }

  /** The informer that knows the namespace, once it has synced. */
  async #informer<T extends KubernetesObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    { signal }: { signal?: AbortSignal | undefined },
  ): Promise<Informer<T> | undefined> {
    const informer = this.#cache.present(kind);
    if (!informer || (informer.namespace !== undefined && namespace !== informer.namespace)) return undefined;
    if (!informer.hasSynced) {
      // It would be waited for in vain.
      if (!informer.isRunning) throw new KubeError("KUBE_NOT_SYNCED", `the cache of ${kind.plural} does not run`);
      await informer.waitForSync({ signal });
    }
    return informer;
  }
}
