/** Watches over HTTP: one JSON text in each line, for as long as somebody reads them. */

import type { WatchRequest } from "@berth/kube";
import type { ApiServer } from "../api/api-server.ts";
import type { AnyObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import type { WatchEvent } from "../api/watching.ts";
import type { Accepted } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import type { Outgoing } from "./outgoing.ts";
import { type IncludeObject, partial, tableOf } from "./table.ts";

/**
 * How far behind the present a watch may be, in bytes that nobody has read. Whoever is further behind is cut off, and asks
 * again from where it was: that costs it a little, and keeps our memory for others.
 */
const FURTHEST_BEHIND = 16 * 1024 * 1024;

export interface WatchOptions {
  readonly accepted: Accepted;
  readonly include: IncludeObject;
}

/** How many events are kept as texts, for others who will hear of them in the same moment. */
const TEXTS_KEPT = 200;

export class WatchStreams {
  readonly #server: ApiServer;
  readonly #outgoing: Outgoing;
  readonly #open = new Set<() => void>();
  readonly #texts = new Map<AnyObject, { readonly type: string; readonly resource: Resource; readonly text: string }>();

  constructor(server: ApiServer, outgoing: Outgoing) {
    this.#server = server;
    this.#outgoing = outgoing;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Begins a watch; it goes on after this returns. */
  serve(exchange: Exchange, request: WatchRequest, resource: Resource, options: WatchOptions): void {
    const show = this.#shower(resource, options);
    let limit = Number.POSITIVE_INFINITY;
    let waiting: WatchEvent[] = [];
    const begin = () => {
      if (!exchange.hasBegun) exchange.begin(200, { "content-type": "application/json" });
    };
    const flush = () => {
      const events = waiting;
      waiting = [];
      for (const event of events) exchange.write(show(event));
      if (exchange.unread > limit) exchange.cutOff();
    };
    // Not in the moment of the change: only when that is over is it known who owns what.
    const send = (event: WatchEvent) => {
      waiting.push(event);
      if (waiting.length === 1) queueMicrotask(flush);
    };
    let stop = () => {};
    const end = () => {
      stop();
      flush();
      exchange.end();
    };
    try {
      stop = this.#server.watch(request, { send, end });
    } catch (error) {
      if (!(error instanceof Refusal) || !isTold(error)) throw error;
      begin();
      exchange.write(`${JSON.stringify({ type: "ERROR", object: error.body })}\n`);
      exchange.end();
      return;
    }
    begin();
    flush();
    // What was there at the beginning comes all at once, however slowly it is read.
    limit = exchange.unread + FURTHEST_BEHIND;
    exchange.onDrain(() => {
      limit = FURTHEST_BEHIND;
    });
    this.#open.add(end);
    exchange.onClose(() => {
      stop();
      this.#open.delete(end);
    });
  }

  endAll(): void {
    for (const end of [...this.#open]) end();
  }

  /** How an event is written. */
  #shower(resource: Resource, { accepted: { as }, include }: WatchOptions): (event: WatchEvent) => string {
    if (!as) return (event) => this.#plain(event, resource);
    let headers = true;
    return ({ type, object }) => {
      const complete = as.kind === "Table" ? object : this.#outgoing.object(object, resource);
      const now = this.#server.clock.now();
      const shown =
        as.kind === "Table"
          ? tableOf(complete, resource, { version: as.version, include, now, headers })
          : partial(complete, as.version);
      headers = false;
      return `${JSON.stringify({ type, object: shown })}\n`;
    };
  }

  /** Many watch the same objects, and hear of a change one after the other. */
  #plain({ type, object }: WatchEvent, resource: Resource): string {
    const known = this.#texts.get(object);
    if (known?.type === type && known.resource === resource) return known.text;
    const text = `${JSON.stringify({ type, object: this.#outgoing.object(object, resource) })}\n`;
    if (this.#texts.size === TEXTS_KEPT) this.#texts.clear();
    if (this.#open.size > 1) this.#texts.set(object, { type, resource, text });
    return text;
  }
}

/** What is wrong with the version that a watch begins at is told as an event; anything else instead of a watch. */
function isTold({ status }: Refusal): boolean {
  return status === 410 || status === 504;
}
