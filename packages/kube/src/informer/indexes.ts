/** Objects by what they say, as well as by name: pods by node, by owner … */
import { KubeError } from "../errors.ts";

/** The values under which an object is found. */
export type IndexFunction<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  /** Value → keys of the objects that have it. */
  readonly keys: Map<string, Set<string>>;
  /** Key → the values under which the object is in the index. */
  readonly values: Map<string, readonly string[]>;
}

export class Indexes<T> {
  readonly #indexes = new Map<string, Index<T>>();
  readonly #onError: (error: unknown, index: string, key: string) => void;

  /** @param onError - Told when an index function throws; the object is then in no place of that index. */
  constructor(onError: (error: unknown, index: string, key: string) => void) {
    this.#onError = onError;
  }

  has(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Adds an index, and finds the objects that are there already. */
  add(name: string, valuesOf: IndexFunction<T>, objects: Iterable<[string, T]>): void {
    const index: Index<T> = { valuesOf, keys: new Map(), values: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of objects) this.#insert(name, index, key, object);
  }

  keys(name: string, value: string): Iterable<string> {
    const index = this.#indexes.get(name);
    if (!index) throw new KubeError("KUBE_INDEX_UNKNOWN", `there is no index "${name}"`);
    return index.keys.get(value) ?? [];
  }

  /** An object is this now; `undefined`: it is gone. */
  change(key: string, object: T | undefined): void {
    for (const [name, index] of this.#indexes) {
      if (object !== undefined) this.#insert(name, index, key, object);
      else replace(index, key, NONE);
    }
  }

  #insert(name: string, index: Index<T>, key: string, object: T): void {
    let found: readonly string[] = NONE;
    try {
      found = index.valuesOf(object);
    } catch (error) {
      this.#onError(error, name, key);
    }
    replace(index, key, found);
  }
}

const NONE: readonly string[] = [];

function replace<T>({ keys, values }: Index<T>, key: string, found: readonly string[]): void {
  // What was found when it was put in: the function may say something else today, or throw.
  const before = values.get(key) ?? NONE;
  if (before.length === found.length && before.every((value, at) => value === found[at])) return; // nearly always
  for (const value of before) {
    const present = keys.get(value);
    present?.delete(key);
    if (present?.size === 0) keys.delete(value);
  }
  for (const value of found) {
    const present = keys.get(value);
    if (present) present.add(key);
    else keys.set(value, new Set([key]));
  }
  if (found.length > 0) values.set(key, found);
  else values.delete(key);
}
