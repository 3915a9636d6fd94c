/** JSON patches (RFC 6902), with the liberties that the real API server takes: see the comments. */
import { copyOf, define, equal, isObject, type JsonObject } from "../api/json.ts";

/** How much copies may add to an object, in characters of JSON: what is copied can be copied again. */
const COPY_LIMIT = 3 * 1024 * 1024;

/** A patch that does not fit the object. Clients are not told why; the message is for those who debug. */
export class DoesNotApply extends Error {}

/**
 * A document after the operations, in order. Nothing given is changed; what no operation touches is shared.
 *
 * @throws `DoesNotApply`
 */
export function jsonPatched(document: unknown, operations: readonly unknown[]): unknown {
  const work = new Work(document);
  for (const operation of operations) work.apply(isObject(operation) ? operation : {});
  return work.document;
}

/** Where a path leads to: the object or list, and what is meant in it. */
interface Place {
  readonly container: JsonObject | unknown[];
  readonly key: string;
}

class Work {
  document: unknown;
  /** What was made here, and may be changed in place: so that many operations on one list do not copy it many times. */
  readonly #own = new Set<object>();
  #copied = 0;

  constructor(document: unknown) {
    this.document = document;
  }

  apply(operation: JsonObject): void {
    const { op, value = null } = operation;
    const to = () => pathIn(operation, "path");
    const from = () => pathIn(operation, "from");
    if (op === "add") this.#add(to(), value);
    else if (op === "remove") this.#remove(to());
    else if (op === "replace") this.#replace(to(), value);
    else if (op === "move") {
      const moved = this.#remove(from());
      this.#add(to(), moved);
    } else if (op === "copy") this.#add(to(), this.#copy(from()));
    else if (op === "test") this.#test(to(), value);
    else throw new DoesNotApply(`unexpected kind: ${String(op)}`);
  }

  #add(path: string, value: unknown): void {
    const { container, key } = this.#writable(path);
    if (!Array.isArray(container)) define(container, key, value);
    else if (key === "-") container.push(value);
    else container.splice(indexIn(container, key, container.length + 1), 0, value);
  }

  #remove(path: string): unknown {
    const { container, key } = this.#writable(path);
    if (Array.isArray(container)) return container.splice(indexIn(container, key, container.length), 1)[0];
    if (!Object.hasOwn(container, key)) throw new DoesNotApply(`there is no ${path} to remove`);
    const removed = container[key];
    delete container[key];
    return removed;
  }

  #replace(path: string, value: unknown): void {
    if (path === "") {
      if (typeof value !== "object" || value === null) throw new DoesNotApply("a document must be an object or a list");
      this.document = value;
      return;
    }
    const { container, key } = this.#writable(path);
    // A field that is not there is added: so does the real server, against the RFC.
    if (!Array.isArray(container)) define(container, key, value);
    else container[indexIn(container, key, container.length)] = value;
  }

  #copy(path: string): unknown {
    const copy = copyOf(this.#get(path));
    this.#copied += JSON.stringify(copy).length;
    if (this.#copied > COPY_LIMIT) throw new DoesNotApply(`copies of more than ${COPY_LIMIT} characters`);
    return copy;
  }

  #test(path: string, value: unknown): void {
    const found = path === "" ? this.document : this.#get(path);
    if (!equal(found, value)) throw new DoesNotApply(`${path} is something else`);
  }

  /** What a path leads to. A field that is not there is `null`, as in the real server, against the RFC. */
  #get(path: string): unknown {
    const tokens = tokensOf(path);
    const key = tokens.pop() as string;
    let container = this.document;
    for (const token of tokens) container = child(container, token, path);
    return child(container, key, path) ?? null;
  }

  /** Where a path leads to, with everything on the way copied, unless it was before. */
  #writable(path: string): Place {
    const tokens = tokensOf(path);
    const key = tokens.pop() as string;
    let container = this.#owned(this.document, path);
    this.document = container;
    for (const token of tokens) {
      const next = this.#owned(child(container, token, path), path);
      if (Array.isArray(container)) container[indexIn(container, token, container.length)] = next;
      else define(container, token, next);
      container = next;
    }
    return { container, key };
  }

  #owned(value: unknown, path: string): JsonObject | unknown[] {
    if (typeof value !== "object" || value === null) throw new DoesNotApply(`the document has no ${path}`);
    if (this.#own.has(value)) return value as JsonObject | unknown[];
    const copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
    this.#own.add(copy);
    return copy;
  }
}

function pathIn(operation: JsonObject, field: "path" | "from"): string {
  const path = operation[field];
  if (typeof path !== "string") throw new DoesNotApply(`an operation without ${field}`);
  return path;
}

/** What stands before the first slash does not count in the real server, whatever it is. */
function tokensOf(path: string): string[] {
  const tokens = path.split("/").slice(1);
  if (tokens.length === 0) throw new DoesNotApply(`the document has no ${path}`);
  return path.includes("~") ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")) : tokens;
}

function child(container: unknown, token: string, path: string): unknown {
  if (Array.isArray(container)) return container[indexIn(container, token, container.length)];
  if (!isObject(container)) throw new DoesNotApply(`the document has no ${path}`);
  return Object.hasOwn(container, token) ? container[token] : undefined;
}

const WHOLE_NUMBER = /^[+-]?\d{1,15}$/;

/** A negative index counts from the end, in the real server. */
function indexIn(list: readonly unknown[], key: string, end: number): number {
  if (!WHOLE_NUMBER.test(key)) throw new DoesNotApply(`${key} is not the index of an item`);
  const index = Number(key);
  if (index >= end || index < -end) throw new DoesNotApply(`no item ${key} in a list of ${list.length}`);
  return index < 0 ? index + end : index;
}
