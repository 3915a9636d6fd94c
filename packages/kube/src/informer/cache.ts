/** One informer for each kind, shared by all who need it. */
import type { Client } from "../client/client.ts";
import type { Written } from "../client/sender.ts";
import { KubeError } from "../errors.ts";
import type { Logger } from "../log/logger.ts";
import type { Kind, KubernetesObject } from "../objects/meta.ts";
import type { Clock } from "../time/clock.ts";
import type { Random } from "../time/random.ts";
import { Informer, type InformerOptions } from "./informer.ts";

/** What a cache keeps, and how. */
export interface CacheOptions {
  /** The only namespace that is looked at. Default: all. */
  readonly namespace?: string | undefined;
  /** For all informers, unless a kind has its own. */
  readonly resyncMs?: number;
  readonly freeze?: boolean;
  /** What differs for some kinds: `[informed(coreV1.Pod, { labelSelector: "app=web" })]`. */
  readonly kinds?: readonly KindOptions[];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
}

/** How one kind is kept: see `informed`. */
export interface KindOptions {
  readonly kind: Kind;
  readonly options: InformerOptions<KubernetesObject>;
}

/** How one kind is kept: which of its objects, and what of them. */
export function informed<T extends KubernetesObject>(kind: Kind<T>, options: InformerOptions<T>): KindOptions {
  return { kind, options: options as unknown as InformerOptions<KubernetesObject> };
}

/** One informer for each kind, shared by all who need it. */
export class Cache {
  readonly #client: Client;
  readonly #options: CacheOptions;
  readonly #informers = new Map<string, Informer<KubernetesObject>>();
  /** The same by the kind that was asked for: there is no need to spell its name each time. */
  readonly #asked = new Map<Kind, Informer<KubernetesObject>>();
  readonly #kinds: KindOptions[];
  #started = false;

  constructor(client: Client, options: CacheOptions = {}) {
    this.#client = client;
    this.#options = options;
    this.#kinds = [...(options.kinds ?? [])];
  }

  /** How a kind is to be kept, unless somebody has said so before. For those who use the cache, before they ask for its informer. */
  keep(options: KindOptions): void {
    const name = nameOf(options.kind);
    if (this.#informers.has(name)) {
      const message = `the cache keeps ${options.kind.plural} already: how it is to do so has to be said before`;
      throw new KubeError("KUBE_MANAGER_MISUSED", message);
    }
    this.#kinds.push(options);
  }

  /** The kind's informer. Made when it is first asked for; it runs as soon as the cache does. */
  informer<T extends KubernetesObject>(kind: Kind<T>): Informer<T> {
    const asked = this.#asked.get(kind as Kind) as Informer<T> | undefined;
    if (asked) return asked;
    const name = nameOf(kind);
    let informer = this.#informers.get(name) as Informer<T> | undefined;
    if (!informer) {
      const { kinds: _, ...common } = this.#options;
      const own = this.#kinds.find((each) => nameOf(each.kind) === name)?.options as InformerOptions<T> | undefined;
      const namespace = kind.namespaced ? common.namespace : undefined;
      informer = new Informer(this.#client, kind, { ...common, namespace, ...own });
      this.#informers.set(name, informer as unknown as Informer<KubernetesObject>);
      if (this.#started) informer.start();
    }
    this.#asked.set(kind as Kind, informer as unknown as Informer<KubernetesObject>);
    return informer;
  }

  /** The kind's informer, if somebody has asked for it. */
  present<T extends KubernetesObject>(kind: Kind<T>): Informer<T> | undefined {
    return this.#informers.get(nameOf(kind)) as Informer<T> | undefined;
  }

  start(): void {
    this.#started = true;
    for (const informer of this.#informers.values()) informer.start();
  }

  async waitForSync(options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    await Promise.all(Array.from(this.#informers.values(), (informer) => informer.waitForSync(options)));
  }

  get hasSynced(): boolean {
    return this.unsynced.length === 0;
  }

  /** Those that do not know all objects yet. */
  get unsynced(): Informer<KubernetesObject>[] {
    return Array.from(this.#informers.values()).filter((informer) => !informer.hasSynced);
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#informers.values(), (informer) => informer.stop()));
  }

  /** For a client's `onWritten`: what it has written is seen here at once. */
  wrote({ kind, key, object, uid }: Written): void {
    const informer = this.present(kind);
    if (object) informer?.wrote(object);
    else informer?.wroteDeletion(key, uid);
  }
}

const nameOf = ({ group, version, plural }: Kind) => `${plural}.${version}.${group}`;
