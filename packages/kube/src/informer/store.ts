/**
 * The objects of an informer, by name and by index; and what changes in them.
 *
 * Two streams write to it: what the API server tells, in order but late; and what this process itself has written, at once
 * but out of order. Guarantees (the numbers are those of SPEC.md):
 * - I4 Nothing goes back: a state older than the one that is known changes nothing.
 * - I5 What this process has written is there at once, and stays until the server has told as much or more.
 * - I6 A list replaces everything in one moment: nobody sees half of it.
 */
import { keyOf, keyText } from "../objects/key.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import { Indexes, type IndexFunction } from "./indexes.ts";
import { isNewer } from "./resource-version.ts";

/** One change, as it is told to handlers. */
export type Change<T> =
  | { readonly type: "add"; readonly object: T; readonly initial: boolean }
  | { readonly type: "update"; readonly object: T; readonly old: T }
  | { readonly type: "delete"; readonly object: T };

/** What this process has done to an object that the server has not told of yet. */
type OwnWrite<T> =
  | { readonly type: "written"; readonly object: T }
  /** As of a version it is none of the objects that are meant here any more. */
  | { readonly type: "left"; readonly version: string }
  /** The server does not say as of which version it is gone; but this one never comes back. */
  | { readonly type: "deleted"; readonly uid: string };

export interface StoreListener<T> {
  onChange(change: Change<T>): void;
  onIndexError(error: unknown, index: string, key: string): void;
}

export class Store<T extends KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes: Indexes<T>;
  readonly #ownWrites = new Map<string, OwnWrite<T>>();
  readonly #listener: StoreListener<T>;
  /** A list on its way in; `undefined` while there is none. */
  #incoming: Map<string, T> | undefined;
  /** The server's version up to which everything is known; `undefined` before the first list. */
  #position: string | undefined;
  /** What has changed and has not been told: handlers shall find all of it done. */
  #changes: Change<T>[] = [];

  constructor(listener: StoreListener<T>) {
    this.#listener = listener;
    this.#indexes = new Indexes((...error) => listener.onIndexError(...error));
  }

  get position(): string | undefined {
    return this.#position;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#indexes.add(name, valuesOf, this.#objects);
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  byIndex(name: string, value: string): T[] {
    return Array.from(this.#indexes.keys(name, value), (key) => this.#objects.get(key) as T);
  }

  /** A list begins; whatever came of an earlier one is forgotten. */
  beginList(): void {
    this.#incoming = new Map();
  }

  /** A list is coming in. */
  get isListing(): boolean {
    return this.#incoming !== undefined;
  }

  listed(object: T): void {
    this.#incoming?.set(keyText(keyOf(object)), object);
  }

  unlisted(object: T): void {
    this.#incoming?.delete(keyText(keyOf(object)));
  }

  /** The list is complete, as of a version: it replaces what was known, except for what we have written since. */
  endList(resourceVersion: string): void {
    const incoming = this.#incoming ?? new Map<string, T>();
    this.#incoming = undefined;
    for (const [key, write] of this.#ownWrites) {
      const listed = incoming.get(key);
      if (write.type === "written" && isNewer(write.object.metadata.resourceVersion, resourceVersion)) {
        incoming.set(key, write.object);
      } else if (write.type === "left" && isNewer(write.version, resourceVersion)) {
        incoming.delete(key);
      } else if (write.type === "deleted" && listed?.metadata.uid === write.uid) {
        incoming.delete(key); // the list was made before its end
      } else {
        this.#ownWrites.delete(key); // the list was made after it
      }
    }
    const initial = this.#position === undefined;
    this.#position = resourceVersion;
    for (const [key, object] of this.#objects) if (!incoming.has(key)) this.#forget(key, object);
    for (const [key, object] of incoming) this.#put(key, object, initial);
    this.#tell();
  }

  /** The server tells of a new state. "disorder": the server's events cannot have been in order. */
  applied(object: T): "fine" | "disorder" {
    const key = keyText(keyOf(object));
    const version = object.metadata.resourceVersion;
    if (isNewer(version, this.#position) === false) {
      // It was told before, or a later one was told first. That matters unless this object is known as well or better.
      const known = this.#objects.get(key);
      return known && !isNewer(version, known.metadata.resourceVersion) ? "fine" : "disorder";
    }
    this.#position = version;
    if (this.#isOvertaken(key, object)) return "fine";
    this.#ownWrites.delete(key);
    this.#put(key, object, false);
    this.#tell();
    return "fine";
  }

  /** The server tells of an end. */
  deleted(object: T): "fine" | "disorder" {
    const key = keyText(keyOf(object));
    const version = object.metadata.resourceVersion;
    const known = this.#objects.get(key);
    if (isNewer(version, this.#position) === false) {
      return !known || isNewer(known.metadata.resourceVersion, version) ? "fine" : "disorder";
    }
    this.#position = version;
    const write = this.#ownWrites.get(key);
    // Of another object of that name, which ours came after.
    if (write?.type === "written" && isNewer(write.object.metadata.resourceVersion, version)) return "fine";
    this.#ownWrites.delete(key);
    if (known) this.#forget(key, object);
    this.#tell();
    return "fine";
  }

  /** The server tells that nothing else has happened up to a version. */
  reached(resourceVersion: string): void {
    this.#position = resourceVersion;
  }

  /** This process has written an object, and this is what came of it. */
  wrote(object: T): void {
    const key = keyText(keyOf(object));
    if (this.#isOldNews(key, object.metadata.resourceVersion)) return;
    this.#ownWrites.set(key, { type: "written", object });
    if (this.#position !== undefined) this.#put(key, object, false);
    this.#tell();
  }

  /** This process has written an object, and as of that version it is none of those that are meant here. */
  outgrew(key: string, version: string | undefined): void {
    const known = this.#objects.get(key);
    if (version === undefined || this.#isOldNews(key, version)) return;
    this.#ownWrites.set(key, { type: "left", version });
    if (known) this.#forget(key, known);
    this.#tell();
  }

  /** This process has deleted an object, and it is gone. */
  wroteDeletion(key: string, uid: string | undefined): void {
    const known = this.#objects.get(key);
    if (!known || uid === undefined || known.metadata.uid !== uid) return;
    this.#ownWrites.set(key, { type: "deleted", uid });
    this.#forget(key, known);
    this.#tell();
  }

  /** Whether the server has told of this version already, or of a later one. If nobody can tell, it is left to the server. */
  #isOldNews(key: string, version: string | undefined): boolean {
    const known = this.#objects.get(key);
    if (this.#position !== undefined && !isNewer(version, this.#position)) return true;
    return known !== undefined && !isNewer(version, known.metadata.resourceVersion);
  }

  /** Whether what the server tells happened before what this process has done to the object. */
  #isOvertaken(key: string, { metadata: { uid, resourceVersion } }: T): boolean {
    const write = this.#ownWrites.get(key);
    switch (write?.type) {
      case "written":
        return isNewer(write.object.metadata.resourceVersion, resourceVersion) === true;
      case "left":
        return isNewer(resourceVersion, write.version) === false;
      case "deleted":
        return write.uid === uid;
      default:
        return false;
    }
  }

  #put(key: string, object: T, initial: boolean): void {
    let known = this.#objects.get(key);
    if (known && known.metadata.uid !== object.metadata.uid) {
      this.#forget(key, known); // another object of the same name: the end of the first was missed
      known = undefined;
    }
    if (known && known.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#objects.set(key, object);
    this.#changes.push(known ? { type: "update", object, old: known } : { type: "add", object, initial });
    this.#indexes.change(key, object);
  }

  /** @param last - How the object was last seen; the server's last word, if there is one. */
  #forget(key: string, last: T): void {
    this.#objects.delete(key);
    this.#changes.push({ type: "delete", object: last });
    this.#indexes.change(key, undefined);
  }

  #tell(): void {
    if (this.#changes.length === 1)
      this.#listener.onChange(this.#changes.pop() as Change<T>); // nearly always
    else for (const change of this.#changes.splice(0)) this.#listener.onChange(change);
  }
}
