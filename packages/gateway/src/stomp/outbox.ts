/**
 * What the subscribers of one connection get: changes at once, and a snapshot page by page, as fast as it is read.
 *
 * # Guarantees
 * - In one subscription the snapshot comes first, and then every change that came after it, in order.
 * - What waits to be read stays bounded: `sendBuffer` octets and one page or batch. When they are full, changes are held
 *   back, which costs little, for all connections hold the same ones; that gets a client over a burst. Whoever lets too
 *   many wait, or does not read at all, is too slow and is given up.
 */
import type { Clock, Timer } from "@berth/kube";
import type { Change, Feed, Subscription } from "../feed.ts";
import { type Bodies, PAGE_SIZE, pageOf } from "./bodies.ts";
import type { StompSubscription } from "./subscription.ts";

/** Where octets go. */
export interface Sink {
  /** How many octets have been sent and not been taken. */
  readonly bufferedAmount: number;
  /** @param taken - Called later, when they have been. */
  send(bytes: Buffer, taken?: () => void): void;
}

/** How much may wait. */
export interface OutboxLimits {
  /** How many octets may wait to be read; more changes are held back then. Default: 1 MiB. */
  readonly sendBuffer: number;
  /** How many changes of a subscription may be held back. Default: 10,000. */
  readonly held: number;
  /** How many messages of a subscription may wait to be acknowledged. Default: 10,000. */
  readonly unacknowledged: number;
  /** How many milliseconds it may take until a page is read, or there is room for the next. Default: 10,000. */
  readonly patience: number;
}

/** What an outbox needs. */
export interface OutboxContext {
  readonly feed: Feed;
  readonly bodies: Bodies;
  readonly clock: Clock;
  readonly sink: Sink;
  readonly limits: OutboxLimits;
  /** Makes a MESSAGE. */
  readonly message: (subscription: StompSubscription, body: Buffer) => Buffer;
  /** The other side does not keep up; the outbox has been closed. */
  readonly tooSlow: (why: string) => void;
}

/** How many changes that were held back are sent at a time. */
const BATCH = 100;
/** How often is looked whether there is room again. */
const LOOK_EVERY_MS = 20;

/** One subscription on its way. */
interface Delivery {
  readonly subscription: StompSubscription;
  source?: Subscription;
  /** What is to be sent before changes can be sent at once. */
  behind: Behind | undefined;
}

interface Behind {
  items: readonly unknown[];
  /** Where the next page of them begins; `undefined` if there is none. */
  next: number | undefined;
  readonly held: Change[];
}

/** Serves the subscriptions of one connection. */
export class Outbox {
  readonly #context: OutboxContext;
  readonly #deliveries = new Map<StompSubscription, Delivery>();
  /** Who is behind; the first one catches up. One at a time, or a client could have a page of each subscription wait. */
  #behind: Delivery[] = [];
  /** Whether somebody catches up: a page is on its way, or the next one is due. */
  #catchingUp = false;
  /** Octets of the page that has not been taken yet: it may be large, and it is not held against the client. */
  #page = 0;
  /** The next page, or the end of patience with this one. */
  #timer: Timer | undefined;
  #closed = false;

  constructor(context: OutboxContext) {
    this.#context = context;
  }

  /** How many octets wait to be read, the page that is on its way aside. */
  get waiting(): number {
    return this.#context.sink.bufferedAmount - this.#page;
  }

  /** Begins to serve a subscription. Its snapshot, if it is to get one, is not sent before this has returned. */
  open(subscription: StompSubscription, { snapshot }: { snapshot: boolean }): void {
    const delivery: Delivery = { subscription, behind: snapshot ? { items: [], next: 0, held: [] } : undefined };
    this.#deliveries.set(subscription, delivery);
    delivery.source = this.#context.feed.subscribe(subscription.topic, (change) => this.#changed(delivery, change));
    if (!delivery.behind) return;
    delivery.behind.items = delivery.source.snapshot;
    this.#queue(delivery);
  }

  /** Ends to serve it. */
  cancel(subscription: StompSubscription): void {
    const delivery = this.#deliveries.get(subscription);
    this.#deliveries.delete(subscription);
    this.#behind = this.#behind.filter((each) => each !== delivery);
    delivery?.source?.cancel();
  }

  /** Ends to serve anybody. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    for (const { source } of this.#deliveries.values()) source?.cancel();
    this.#deliveries.clear();
    this.#behind = [];
  }

  /** A thousand connections do this for every change: whatever is not needed is not done. */
  #changed(delivery: Delivery, change: Change): void {
    if (this.#closed) return;
    const { limits, bodies } = this.#context;
    const { behind } = delivery;
    if (behind) {
      if (behind.held.length < limits.held) behind.held.push(change);
      else this.#giveUp("changes come faster than they are read");
    } else if (this.waiting <= limits.sendBuffer) {
      this.#send(delivery, bodies.of(change));
    } else {
      delivery.behind = { items: [], next: undefined, held: [change] };
      this.#queue(delivery);
    }
  }

  /** How many octets it was; none if the client was given up instead. */
  #send({ subscription }: Delivery, body: Buffer, taken?: () => void): number {
    if (this.#closed) return 0;
    const { sink, limits, message } = this.#context;
    if (subscription.unacknowledged >= limits.unacknowledged) {
      this.#giveUp(`${limits.unacknowledged} messages were not acknowledged`);
      return 0;
    }
    const bytes = message(subscription, body);
    sink.send(bytes, taken);
    return bytes.length;
  }

  #giveUp(why: string): void {
    this.close();
    this.#context.tooSlow(why);
  }

  #queue(delivery: Delivery): void {
    this.#behind.push(delivery);
    if (!this.#catchingUp) this.#goOn();
  }

  /** Lets others have their turn first: a snapshot may have many pages, and each takes a while to encode. */
  #goOn(): void {
    const { clock } = this.#context;
    this.#catchingUp = true;
    const since = clock.steady();
    this.#timer = clock.setTimer(0, () => this.#catchUp(since));
  }

  /** @param since - When it was due. */
  #catchUp(since: number): void {
    const { clock, sink, limits } = this.#context;
    const [delivery] = this.#behind;
    if (!delivery?.behind) {
      this.#catchingUp = false; // it was cancelled meanwhile
    } else if (sink.bufferedAmount <= limits.sendBuffer) {
      this.#sendNext(delivery, delivery.behind);
    } else if (clock.steady() - since < limits.patience) {
      this.#timer = clock.setTimer(LOOK_EVERY_MS, () => this.#catchUp(since));
    } else {
      this.#giveUp("messages are not read");
    }
  }

  #sendNext(delivery: Delivery, behind: Behind): void {
    const { clock, limits } = this.#context;
    const bodies = this.#nextBodies(behind);
    if (behind.next === undefined && behind.held.length === 0) {
      delivery.behind = undefined; // what comes from now on comes after these
      this.#behind.shift();
    }
    this.#timer = clock.setTimer(limits.patience, () => this.#giveUp("messages are not read"));
    for (const [index, body] of bodies.entries()) {
      this.#page += this.#send(delivery, body, index === bodies.length - 1 ? () => this.#taken() : undefined);
    }
  }

  /** The next page, or else changes that were held back. There is one at least. */
  #nextBodies(behind: Behind): Buffer[] {
    if (behind.next === undefined) return behind.held.splice(0, BATCH).map((change) => this.#context.bodies.of(change));
    const page = pageOf(behind.items, behind.next);
    behind.next += PAGE_SIZE;
    if (behind.next >= behind.items.length) {
      behind.next = undefined;
      behind.items = [];
    }
    return [page];
  }

  #taken(): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    this.#page = 0;
    if (this.#behind.length > 0) this.#goOn();
    else this.#catchingUp = false;
  }
}
