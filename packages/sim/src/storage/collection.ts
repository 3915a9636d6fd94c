/** All objects of one resource, and how they came to be what they are: what etcd keeps under one prefix. */
import { type AnyObject, frozen } from "../api/json.ts";

/** One write. A creation has no `before`, a deletion no `after`. */
export interface Change {
  readonly version: number;
  readonly key: string;
  readonly before: AnyObject | undefined;
  readonly after: AnyObject | undefined;
  /** What is said of an object when it is gone: what it was, with the version of its end. */
  readonly last?: AnyObject;
}

/** The place of an object in its collection, in the order of etcd: "default/pi", or "node-1" where there are no namespaces. */
export function placeOf({ metadata: { namespace, name = "" } }: AnyObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export class Collection {
  readonly #objects = new Map<string, AnyObject>();
  readonly #byNamespace = new Map<string, Map<string, AnyObject>>();
  /** The keys in order, by namespace and for all ("" is no namespace); thrown away when one comes or goes. */
  readonly #ordered = new Map<string, readonly string[]>();
  /** By version, ascending; those before `#first` are forgotten. */
  #changes: Change[] = [];
  readonly #remembered: number;
  #forgotten = 0;

  /** @param remembered - How many of the last changes can still be asked for. */
  constructor(remembered: number) {
    this.#remembered = remembered;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The version up to which changes are forgotten: whoever wants to go on from an older one must begin anew. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get(key: string): AnyObject | undefined {
    return this.#objects.get(key);
  }

  /** How many objects a namespace has. */
  count(namespace: string): number {
    return this.#byNamespace.get(namespace)?.size ?? 0;
  }

  /** What there is, in no particular order. */
  values(namespace?: string): Iterable<AnyObject> {
    return (namespace === undefined ? this.#objects : this.#byNamespace.get(namespace))?.values() ?? [];
  }

  /** The keys of what there is, in order. */
  keys(namespace?: string): readonly string[] {
    const known = this.#ordered.get(namespace ?? "");
    if (known) return known;
    const keys = [
      ...((namespace === undefined ? this.#objects : this.#byNamespace.get(namespace))?.keys() ?? []),
    ].sort();
    this.#ordered.set(namespace ?? "", keys);
    return keys;
  }

  /** Takes note of a write. */
  record(version: number, key: string, after: AnyObject | undefined): Change {
    const before = this.#objects.get(key);
    const last = before && !after ? ended(before, version) : undefined;
    const change: Change = { version, key, before, after, ...(last && { last }) };
    if (after) this.#put(key, after, before === undefined);
    else if (before) this.#remove(key, before);
    this.#changes.push(change);
    // In bulk, so that forgetting costs next to nothing for each.
    if (this.#changes.length > 2 * this.#remembered) this.#forget(this.#changes.length - this.#remembered);
    return change;
  }

  /** What was written after a version. */
  since(version: number): readonly Change[] {
    return this.#changes.slice(this.#indexAfter(version));
  }

  /** The objects as they were at a version, in order: what there is now, with everything since undone. */
  at(version: number, namespace?: string): [key: string, object: AnyObject][] {
    const first = this.#indexAfter(version);
    if (first === this.#changes.length) {
      return this.keys(namespace).map((key) => [key, this.#objects.get(key) as AnyObject]);
    }
    const objects = new Map(this.#objects);
    for (let index = this.#changes.length - 1; index >= first; index--) {
      const { key, before } = this.#changes[index] as Change;
      if (before) objects.set(key, before);
      else objects.delete(key);
    }
    const entries = [...objects].filter(
      ([, { metadata }]) => namespace === undefined || metadata.namespace === namespace,
    );
    return entries.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Forgets how it came to what there was at a version. */
  compact(version: number): void {
    this.#forget(this.#indexAfter(version));
    this.#forgotten = Math.max(this.#forgotten, version);
  }

  #put(key: string, object: AnyObject, isNew: boolean): void {
    this.#objects.set(key, object);
    const { namespace } = object.metadata;
    if (namespace !== undefined) {
      const siblings = this.#byNamespace.get(namespace) ?? new Map<string, AnyObject>();
      siblings.set(key, object);
      this.#byNamespace.set(namespace, siblings);
    }
    if (isNew) this.#disorder(namespace);
  }

  #remove(key: string, { metadata: { namespace } }: AnyObject): void {
    this.#objects.delete(key);
    if (namespace !== undefined) {
      const siblings = this.#byNamespace.get(namespace);
      siblings?.delete(key);
      if (siblings?.size === 0) this.#byNamespace.delete(namespace);
    }
    this.#disorder(namespace);
  }

  #disorder(namespace: string | undefined): void {
    if (this.#ordered.size === 0) return;
    this.#ordered.delete("");
    if (namespace !== undefined) this.#ordered.delete(namespace);
  }

  #forget(count: number): void {
    if (count === 0) return;
    this.#forgotten = (this.#changes[count - 1] as Change).version;
    this.#changes = this.#changes.slice(count);
  }

  /** Where the changes after a version begin. */
  #indexAfter(version: number): number {
    let [low, high] = [0, this.#changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle] as Change).version <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function ended(object: AnyObject, version: number): AnyObject {
  return frozen({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
}
