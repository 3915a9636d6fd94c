/** All versions of all objects of one resource since the last compaction, as etcd keeps them. */
import type { KubernetesObject } from "../objects/meta.ts";

/** As it is stored: frozen, since lists and events of the past refer to it. */
export interface StoredObject extends KubernetesObject {
  readonly status?: unknown;
}

/** One write. A creation has no `before`, a deletion no `after`. */
export interface Change {
  readonly version: number;
  readonly key: string;
  readonly before: StoredObject | undefined;
  readonly after: StoredObject | undefined;
}

export class History {
  /** What there is now, by key. */
  readonly #current = new Map<string, StoredObject>();
  /** What there was when the changes begin. */
  #base: ReadonlyMap<string, StoredObject> = new Map();
  /** By version, ascending. */
  #changes: Change[] = [];
  readonly #listeners = new Set<(change: Change) => void>();

  get(key: string): StoredObject | undefined {
    return this.#current.get(key);
  }

  /** Takes note of a write, and tells whoever listens. */
  record(version: number, key: string, after: StoredObject | undefined): void {
    const change = { version, key, before: this.#current.get(key), after };
    apply(this.#current, change);
    this.#changes.push(change);
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** The objects as they were at a version, by key, ascending. */
  at(version: number): [key: string, object: StoredObject][] {
    const objects = this.#replay(version);
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** What was written after a version. */
  since(version: number): Change[] {
    return this.#changes.filter((change) => change.version > version);
  }

  /** Forgets how it came to what there was at a version. */
  compact(version: number): void {
    this.#base = this.#replay(version);
    this.#changes = this.since(version);
  }

  /** Hears of every further write, until the function that it returns is called. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #replay(version: number): Map<string, StoredObject> {
    const objects = new Map(this.#base);
    for (const change of this.#changes) if (change.version <= version) apply(objects, change);
    return objects;
  }
}

function apply(objects: Map<string, StoredObject>, { key, after }: Change): void {
  if (after) objects.set(key, after);
  else objects.delete(key);
}
