/**
 * What an API server remembers: collections of frozen objects under one counter of versions, and who is told of changes.
 *
 * Guarantees:
 * - Each write has a version of its own, higher than all before it, whatever it writes.
 * - Listeners are told of every change, once, in the order of versions. A listener that writes does not get ahead of the
 *   others: they hear of the first change before anybody hears of the second.
 * - A listener that throws harms neither the write nor the other listeners.
 */
import { type AnyObject, frozen } from "../api/json.ts";
import { type Change, Collection, placeOf } from "./collection.ts";

/** Hears of changes, in the moment of the write. Whoever has more to do than to take note does it later. */
export type Listener = (change: Change, collection: string) => void;

export interface StoreOptions {
  /** How many changes of each collection can still be asked for. Default: 2000. */
  readonly remembered?: number;
  /** Told of what a listener throws. */
  readonly onFailure?: (error: unknown) => void;
}

export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #everything = new Set<Listener>();
  /** Who is told of changes of a collection, in order; forgotten when somebody comes or goes. */
  readonly #audiences = new Map<string, readonly Listener[]>();
  readonly #remembered: number;
  readonly #onFailure: (error: unknown) => void;
  /** Written, and not yet told. */
  readonly #untold: [Change, string][] = [];
  #telling = false;
  /** Never 0, which in requests means any version. */
  #version = 1;

  constructor({ remembered = 2000, onFailure = () => {} }: StoreOptions = {}) {
    this.#remembered = remembered;
    this.#onFailure = onFailure;
  }

  /** That of the last write. */
  get version(): number {
    return this.#version;
  }

  /** The objects under a name; there is a collection, maybe an empty one, for every name. */
  collection(name: string): Collection {
    let collection = this.#collections.get(name);
    if (!collection) {
      collection = new Collection(this.#remembered);
      // What was never remembered cannot be asked for either.
      collection.compact(this.#version);
      this.#collections.set(name, collection);
    }
    return collection;
  }

  /** Writes an object, which becomes frozen, with the version of the write in it. */
  put(name: string, object: AnyObject): AnyObject {
    const version = ++this.#version;
    object.metadata.resourceVersion = String(version);
    frozen(object);
    this.#tell(this.collection(name).record(version, placeOf(object), object), name);
    return object;
  }

  /** Removes an object. */
  remove(name: string, object: AnyObject): void {
    const version = ++this.#version;
    this.#tell(this.collection(name).record(version, placeOf(object), undefined), name);
  }

  /** Hears of every further change of one collection, or of all, until the function that it returns is called. */
  listen(name: string | undefined, listener: Listener): () => void {
    const listeners = name === undefined ? this.#everything : (this.#listeners.get(name) ?? new Set());
    if (name !== undefined) this.#listeners.set(name, listeners);
    listeners.add(listener);
    this.#audiences.clear();
    return () => {
      listeners.delete(listener);
      this.#audiences.clear();
    };
  }

  /** Forgets all history: from here on nobody can go on from an older version than the present one. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.compact(this.#version);
  }

  #tell(change: Change, name: string): void {
    this.#untold.push([change, name]);
    if (this.#telling) return; // whoever is telling goes on with it
    this.#telling = true;
    for (let index = 0; index < this.#untold.length; index++) {
      const [told, from] = this.#untold[index] as [Change, string];
      for (const listener of this.#audience(from)) {
        try {
          listener(told, from);
        } catch (error) {
          this.#onFailure(error);
        }
      }
    }
    this.#untold.length = 0;
    this.#telling = false;
  }

  #audience(name: string): readonly Listener[] {
    let audience = this.#audiences.get(name);
    if (!audience) {
      audience = [...this.#everything, ...(this.#listeners.get(name) ?? [])];
      this.#audiences.set(name, audience);
    }
    return audience;
  }
}
