/**
 * What an API server stores, and what it makes of requests: no network, no processes, any resource.
 *
 * Every object is treated as a custom resource with a status is: `metadata.generation` counts what was wanted, status is
 * written only by itself, and a write that changes nothing is none. Neither definitions nor namespaces need to exist, and
 * nothing is validated beyond `metadata`. Objects handed out are frozen.
 */
import { deepFreeze } from "../informer/admission.ts";
import { keyOf, keyText, type ObjectKey } from "../objects/key.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import { kubernetesTime } from "../objects/times.ts";
import { type Clock, WallClock } from "../time/clock.ts";
import { type Random, SystemRandom } from "../time/random.ts";
import { uuid, withName } from "./generated.ts";
import { type Change, History, type StoredObject } from "./history.ts";
import {
  apiVersionOf,
  checkCreate,
  checkDelete,
  checkUpdate,
  markedObject,
  mergePatch,
  newObject,
  type Part,
  type Preconditions,
  plain,
  updatedObject,
} from "./object-rules.ts";
import { type ListOptions, type ObjectList, page, parseVersion } from "./pages.ts";
import { eventOf, type SelectionOptions, selection, type WatchEvent } from "./selection.ts";
import { ApiFailure, alreadyExists, notFound, type ResourceName, tooLarge } from "./status.ts";

export interface ModelApiOptions {
  /** For the times in metadata. Default: the world's. */
  readonly clock?: Clock;
  /** For uids and generated names. Default: the system's. */
  readonly random?: Random;
}

export interface Deletion<T> {
  /** As it was last. */
  readonly object: T;
  /** False while it waits for its finalizers. */
  readonly gone: boolean;
}

export interface WatchOptions extends SelectionOptions {
  /** Where to go on. Without one, or from "0", everything there is comes first as ADDED. */
  readonly resourceVersion?: string | undefined;
  /** Refused if there is no such version yet. */
  readonly notOlderThan?: string | undefined;
}

interface Collection {
  readonly resource: ResourceName;
  readonly history: History;
  kind: string;
}

export class ModelApi {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #collections = new Map<string, Collection>();
  /** One counter for all resources. It is never 0, which in requests means any version. */
  #version = 1;
  #compacted = 0;

  constructor({ clock = new WallClock(), random = new SystemRandom() }: ModelApiOptions = {}) {
    this.#clock = clock;
    this.#random = random;
  }

  /** That of the last write, whatever it wrote. */
  get resourceVersion(): string {
    return `${this.#version}`;
  }

  /** The kind of a resource's objects, as far as anybody has told. */
  kindOf(resource: ResourceName): string {
    return this.#collection(resource).kind;
  }

  create<T extends KubernetesObject>(resource: ResourceName<T>, object: T): T {
    const collection = this.#collection(resource);
    const given = withName(plain(object), this.#random);
    const kind = given.kind ?? collection.kind;
    checkCreate(resource, kind, given);
    const key = keyOf(given);
    if (collection.history.get(keyText(key))) throw alreadyExists(resource, key.name);
    collection.kind = kind;
    const type = { apiVersion: apiVersionOf(resource), kind };
    const fresh = newObject(given, type, { uid: uuid(this.#random), creationTimestamp: this.#time() });
    return this.#store(collection, fresh) as T;
  }

  get<T extends KubernetesObject>(resource: ResourceName<T>, key: ObjectKey): T {
    return this.#find(this.#collection(resource), key) as T;
  }

  /** Refused if the object carries a resourceVersion that is not the present one; without one, the last to write wins. */
  replace<T extends KubernetesObject>(resource: ResourceName<T>, object: T, part?: Part): T {
    return this.#update(resource, keyOf(object), () => plain(object), part) as T;
  }

  /** Applies a merge patch. */
  patch<T extends KubernetesObject>(resource: ResourceName<T>, key: ObjectKey, patch: unknown, part?: Part): T {
    return this.#update(resource, key, (before) => mergePatch(before, plain(patch)) as StoredObject, part) as T;
  }

  delete<T extends KubernetesObject>(resource: ResourceName<T>, key: ObjectKey, must: Preconditions = {}): Deletion<T> {
    const collection = this.#collection(resource);
    const before = this.#find(collection, key);
    checkDelete({ ...resource, kind: collection.kind }, before, must);
    const { finalizers, deletionTimestamp } = before.metadata;
    if (!finalizers?.length) {
      this.#remove(collection, before);
      return { object: before as T, gone: true };
    }
    if (deletionTimestamp) return { object: before as T, gone: false };
    return { object: this.#store(collection, markedObject(before, this.#time())) as T, gone: false };
  }

  list<T extends KubernetesObject>(resource: ResourceName<T>, options: ListOptions = {}): ObjectList<T> {
    const { history, kind } = this.#collection(resource);
    const found = page(history, options, { current: this.#version, compacted: this.#compacted });
    const list: ObjectList = { apiVersion: apiVersionOf(resource), kind: `${kind}List`, ...found };
    return list as ObjectList<T>;
  }

  /** Tells the past before it returns, then every change as it happens, until the function that it returns is called. */
  watch(resource: ResourceName, options: WatchOptions, listener: (event: WatchEvent) => void): () => void {
    const selected = selection(options);
    const { history } = this.#collection(resource);
    const from = parseVersion(options.resourceVersion ?? "");
    const least = parseVersion(options.notOlderThan ?? "");
    if (least > this.#version) throw tooLarge(least, this.#version);
    const tell = (change: Change) => {
      const event = change.version > from ? eventOf(change, selected) : undefined;
      if (event) listener(event);
    };
    if (from === 0) {
      for (const [, object] of history.at(this.#version)) if (selected(object)) listener({ type: "ADDED", object });
    } else {
      if (from < this.#compacted) throw new ApiFailure(410, `too old resource version: ${from} (${this.#compacted})`);
      for (const change of history.since(from)) tell(change);
    }
    return history.listen(tell);
  }

  /** Forgets all history: from here on nobody can go on from an older version than the present one. */
  compact(): void {
    this.#compacted = this.#version;
    for (const { history } of this.#collections.values()) history.compact(this.#version);
  }

  #update(
    resource: ResourceName,
    key: ObjectKey,
    change: (before: StoredObject) => StoredObject,
    part: Part = "main",
  ): StoredObject {
    const collection = this.#collection(resource);
    const before = this.#find(collection, key);
    const given = change(before);
    checkUpdate(resource, before, given);
    const next = updatedObject(before, given, part);
    if (next === before) return before;
    if (!before.metadata.deletionTimestamp || next.metadata.finalizers?.length) return this.#store(collection, next);
    // The last finalizer is gone, and the object with it. What was to be written never is.
    this.#remove(collection, before);
    return deepFreeze(next);
  }

  #store({ history }: Collection, object: StoredObject): StoredObject {
    const resourceVersion = `${++this.#version}`;
    const stored = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion } });
    history.record(this.#version, keyText(keyOf(stored)), stored);
    return stored;
  }

  #remove({ history }: Collection, object: StoredObject): void {
    history.record(++this.#version, keyText(keyOf(object)), undefined);
  }

  #time(): string {
    return kubernetesTime(this.#clock.now());
  }

  #find({ resource, history }: Collection, key: ObjectKey): StoredObject {
    const object = history.get(keyText(key));
    if (!object) throw notFound(resource, key.name);
    return object;
  }

  #collection(resource: ResourceName): Collection {
    const { plural, kind } = resource;
    const place = `${apiVersionOf(resource)}/${plural}`;
    const guess = plural.slice(0, 1).toUpperCase() + plural.slice(1).replace(/s$/, "");
    const collection = this.#collections.get(place) ?? { resource, history: new History(), kind: guess };
    if (kind) collection.kind = kind;
    this.#collections.set(place, collection);
    return collection;
  }
}
