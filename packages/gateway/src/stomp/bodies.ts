/** Bodies of messages as octets: one change is encoded once, however many get it. */
import type { Change } from "../feed.ts";

/** How many objects a message of a snapshot has at most. */
export const PAGE_SIZE = 500;

/** Shared by all connections. */
export class Bodies {
  /** For as long as the feed, or somebody who catches up, still has the change. */
  readonly #encoded = new WeakMap<Change, Buffer>();

  /** The body of a change. */
  of(change: Change): Buffer {
    let body = this.#encoded.get(change);
    if (!body) {
      body = Buffer.from(change.json);
      this.#encoded.set(change, body);
    }
    return body;
  }
}

/** The body of the message of a snapshot that begins with the item at `start`. */
export function pageOf(items: readonly unknown[], start: number): Buffer {
  const end = start + PAGE_SIZE;
  return Buffer.from(JSON.stringify({ type: "snapshot", items: items.slice(start, end), last: end >= items.length }));
}
