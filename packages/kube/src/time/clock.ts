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
  readonly #holds = new Set<() => void>();
  /** Those who wait for the last hold to be released, or for a timer to be set. */
  readonly #waiting: (() => void)[] = [];
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
    for (const wake of this.#waiting.splice(0)) wake();
    return { cancel: () => this.#timers.remove(node) };
  }

  /**
   * The clock stands still until the function that it returns is called: that is how somebody gets time to think who is not
   * in this process, or who waits for something that is. Holds add up.
   */
  hold(): () => void {
    const release = () => {
      if (!this.#holds.delete(release) || this.#holds.size > 0) return;
      for (const wake of this.#waiting.splice(0)) wake();
    };
    this.#holds.add(release);
    return release;
  }

  /**
   * Lets so much time pass: runs every timer that comes due on the way, at its moment, those set on the way included.
   * Whatever a timer wakes up is let run before the next timer.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.#runUntil(end);
    this.#now = Math.max(this.#now, end);
  }

  /** Jumps from timer to timer until none is left, or `limit` milliseconds have passed. */
  async runUntilIdle({ limit = Number.POSITIVE_INFINITY }: { limit?: number } = {}): Promise<void> {
    await this.#runUntil(this.#now + limit);
  }

  /**
   * Jumps from timer to timer until `done` says so, which is asked whenever nothing is left to do at a moment. If no timer
   * is left it waits for one, and for holds to be released, unless the signal is aborted: then it ends.
   */
  async run(done: () => boolean = () => false, signal?: AbortSignal): Promise<void> {
    const wake = () => {
      for (const each of this.#waiting.splice(0)) each();
    };
    signal?.addEventListener("abort", wake);
    try {
      for (;;) {
        await this.#settleUnheld(signal);
        if (signal?.aborted || done()) return;
        if (!this.#jump(Number.POSITIVE_INFINITY)) await this.#woken();
      }
    } finally {
      signal?.removeEventListener("abort", wake);
    }
  }

  /** Lets everything run that waits for promises and not for time. */
  async settle(): Promise<void> {
    // A turn of the event loop comes after all promises that can be settled; work that hops over it is given some more.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  }

  async #runUntil(end: number): Promise<void> {
    do await this.#settleUnheld();
    while (this.#jump(end));
  }

  /** Goes to the next timer and runs it, unless that would be later than `end`. */
  #jump(end: number): boolean {
    const next = this.#timers.peek();
    if (!next || next.at > end) return false;
    this.#timers.pop();
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }

  /** Nothing is left to do at this moment, and nobody wants it to last. */
  async #settleUnheld(signal?: AbortSignal): Promise<void> {
    await this.settle();
    while (this.#holds.size > 0 && !signal?.aborted) {
      await this.#woken();
      await this.settle();
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
