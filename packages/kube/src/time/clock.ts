/**
 * Time as a parameter. Whoever needs the time, or has to wait, takes a `Clock`; only this file asks the system.
 *
 * `WallClock` is the world's time, or a multiple of it. `VirtualClock` stands still until it is told to go on, and then
 * jumps from one timer to the next: a month of waiting takes no time, and happens in the same order every time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Heap } from "./heap.ts";

/** A timer that has been set and can be called off. */
export interface Timer {
  /** After this the callback will not run. May be called twice, or after it has run. */
  cancel(): void;
}

/** Time, as whoever needs it takes it. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()` has them. */
  now(): number;
  /**
   * Milliseconds since some moment, for measuring how much time has passed: nobody sets this clock, as people and daemons set
   * the other. But it may stand still while the machine sleeps, which `now` does not.
   */
  steady(): number;
  /** Runs `callback` once, after at least so many milliseconds of this clock. */
  setTimer(milliseconds: number, callback: () => void): Timer;
}

/** Waits on a clock. Rejects with the signal's reason if that comes first. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(milliseconds, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** The longest wait that the system's timers know; a longer one would end at once. */
const LONGEST = 2 ** 31 - 1;

/** The world's time. */
export class WallClock implements Clock {
  readonly #speed: number;
  readonly #start = Date.now();

  /** @param speed - How many seconds pass here in one second outside. Default: 1. */
  constructor({ speed = 1 }: { speed?: number } = {}) {
    if (!(speed > 0)) throw new RangeError(`a clock's speed must be positive, not ${speed}`);
    this.#speed = speed;
  }

  now(): number {
    const outside = Date.now();
    return this.#speed === 1 ? outside : this.#start + (outside - this.#start) * this.#speed;
  }

  steady(): number {
    return performance.now() * this.#speed;
  }

  setTimer(milliseconds: number, callback: () => void): Timer {
    let handle: NodeJS.Timeout;
    const wait = (left: number) => {
      handle = setTimeout(() => (left > LONGEST ? wait(left - LONGEST) : callback()), Math.min(left, LONGEST));
    };
    wait(Math.max(0, milliseconds) / this.#speed);
    return { cancel: () => clearTimeout(handle) };
  }
}

interface VirtualTimer {
  readonly at: number;
  /** Timers of the same moment run in the order in which they were set. */
  readonly order: number;
  readonly callback: () => void;
}

/** A clock for tests and simulations. */
export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Heap<VirtualTimer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  /** @param start - Where it starts, in milliseconds since 1970. Default: 2020-01-01, so that dates look like dates. */
  constructor({ start = Date.UTC(2020, 0, 1) }: { start?: number } = {}) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  steady(): number {
    return this.#now;
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  setTimer(milliseconds: number, callback: () => void): Timer {
    const at = this.#now + Math.max(0, milliseconds);
    const node = this.#timers.push({ at, order: this.#order++, callback });
    return { cancel: () => this.#timers.remove(node) };
  }

  /**
   * Lets so much time pass: runs every timer that comes due on the way, at its moment, those set on the way included.
   * Whatever a timer wakes up is let run before the next timer.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.#runUntil(end);
    this.#now = end;
  }

  /** Jumps from timer to timer until none is left, or `limit` milliseconds have passed. */
  async runUntilIdle({ limit = Number.POSITIVE_INFINITY }: { limit?: number } = {}): Promise<void> {
    await this.#runUntil(this.#now + limit);
  }

  /** Lets everything run that waits for promises and not for time. */
  async settle(): Promise<void> {
    // A turn of the event loop comes after all promises that can be settled; work that hops over it is given some more.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  }

  async #runUntil(end: number): Promise<void> {
    await this.settle();
    for (let next = this.#timers.peek(); next && next.at <= end; next = this.#timers.peek()) {
      this.#timers.pop();
      this.#now = next.at;
      next.callback();
      await this.settle();
    }
  }
}
