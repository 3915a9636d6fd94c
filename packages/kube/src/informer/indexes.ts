/** Objects by what they say, as well as by name: pods by node, by owner … */
import { KubeError } from "../errors.ts";

/** The values under which an object is found. */
export type IndexFunction<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  /** Value → keys of the objects that have it. */
  readonly keys: Map<string, Set<string>>;
}

export class Indexes<T> {
  readonly #indexes = new Map<string, Index<T>>();

  has(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Adds an index, and finds the objects that are there already. */
  add(name: string, valuesOf: IndexFunction<T>, objects: Iterable<[string, T]>): void {
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of objects) insert(index, key, object);
  }

  keys(name: string, value: string): Iterable<string> {
    const index = this.#indexes.get(name);
    if (!index) throw new KubeError("KUBE_INDEX_UNKNOWN", `there is no index "${name}"`);
    return index.keys.get(value) ?? [];
  }

  change(key: string, before: T | undefined, after: T | undefined): void {
    for (const index of this.#indexes.values()) {
      if (before !== undefined) remove(index, key, before);
      if (after !== undefined) insert(index, key, after);
    }
  }
}

function insert<T>({ valuesOf, keys }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) {
    const present = keys.get(value);
    if (present) present.add(key);
    else keys.set(value, new Set([key]));
  }
}

function remove<T>({ valuesOf, keys }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) {
    const present = keys.get(value);
    present?.delete(key);
    if (present?.size === 0) keys.delete(value);
  }
}
