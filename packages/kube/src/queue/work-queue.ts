/**
 * The queue between events and reconcilers: it holds *which* objects to look at, never what happened to them.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - W1 stingy: a key that is added while it waits is handed out once.
 * - W2 exclusive: a key is never with two workers at once; added while it is worked on, it is handed out again after.
 * - W3 fair: among equal priorities, first come, first served. A higher priority goes first; added again with a higher
 *   one, a waiting key takes it; a lower one takes nothing away.
 * - W4 delayed: a key added with a delay waits for it; of two delays the sooner counts.
 * - W5 backed off: `retry` waits longer each time, up to a limit, until `forget`.
 * - W6 shut down: nothing more is taken in; what is ready is still handed out, then every `get` answers `undefined`.
 */
import type { Clock, Timer } from "../time/clock.ts";
import { Heap, type HeapNode } from "../time/heap.ts";

/** For keys that can wait until the others are done: the first list after a start, and resyncs. */
export const LOW_PRIORITY = -100;

/** When a key shall be looked at, and before whom. */
export interface AddOptions {
  /** Higher goes first. Default: 0. */
  readonly priority?: number;
  /** Milliseconds to wait before the key is ready. Default: 0. */
  readonly after?: number;
}

/** What a worker gets. */
export interface WorkItem<K> {
  readonly key: K;
  readonly priority: number;
}

/** Told what the queue does; for metrics. All of it is optional. */
export interface WorkQueueObserver {
  /** A key was added that was not waiting already. */
  added?(priority: number): void;
  /** A key was handed out, so long after it had become ready. */
  started?(waitedMs: number, priority: number): void;
  /** A worker was done with a key, so long after it had got it. */
  finished?(workedMs: number): void;
  retried?(): void;
}

/** How a queue keeps time. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  /** The first pause of `retry`; each further one is twice as long. Default: 5 ms. */
  readonly baseDelay?: number;
  /** The longest pause of `retry`. Default: 1000 s. */
  readonly maxDelay?: number;
  readonly observer?: WorkQueueObserver;
}

/** A key that waits: in the heap of ready keys, behind a timer, or for the worker that has it. */
interface Waiting<K> {
  readonly key: K;
  priority: number;
  /** When it became, or will become, ready. */
  readyAt: number;
  /** Its turn among those of its priority. */
  order: number;
  place: HeapNode<Waiting<K>> | undefined;
  timer: Timer | undefined;
}

/** Which objects to look at, once each, one worker per object. */
export class WorkQueue<K extends string | number> {
  readonly #clock: Clock;
  readonly #baseDelay: number;
  readonly #maxDelay: number;
  readonly #observer: WorkQueueObserver;

  /** Every key that has been added and not handed out since. */
  readonly #waiting = new Map<K, Waiting<K>>();
  /** Keys that workers have, with the time since when. None of them is in the heap. */
  readonly #working = new Map<K, number>();
  /** The waiting keys whose time has come and that nobody works on. */
  readonly #ready = new Heap<Waiting<K>>(
    (a, b) => a.priority > b.priority || (a.priority === b.priority && a.order < b.order),
  );
  /** Workers that found nothing, longest first. */
  readonly #idle: ((item: WorkItem<K> | undefined) => void)[] = [];
  readonly #failures = new Map<K, number>();
  #order = 0;
  #closed = false;

  constructor({ clock, baseDelay = 5, maxDelay = 1_000_000, observer = {} }: WorkQueueOptions) {
    this.#clock = clock;
    this.#baseDelay = baseDelay;
    this.#maxDelay = maxDelay;
    this.#observer = observer;
  }

  /** How many keys are ready for a worker. */
  get length(): number {
    return this.#ready.size;
  }

  get isShutDown(): boolean {
    return this.#closed;
  }

  /** Asks for a key to be looked at. */
  add(key: K, { priority = 0, after = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    const readyAt = this.#clock.now() + Math.max(0, after);
    const present = this.#waiting.get(key);
    if (!present) {
      this.#observer.added?.(priority);
      const waiting = { key, priority, readyAt, order: this.#order++, place: undefined, timer: undefined };
      this.#waiting.set(key, waiting);
      this.#arrange(waiting);
    } else if (priority > present.priority || readyAt < present.readyAt) {
      present.priority = Math.max(priority, present.priority);
      present.readyAt = Math.min(readyAt, present.readyAt);
      this.#arrange(present);
    }
  }

  /** Adds a key again after a failure, each time after a longer pause. */
  retry(key: K, { priority = 0 }: { priority?: number } = {}): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#observer.retried?.();
    // 2^failures overflows to infinity at worst, which the limit catches.
    this.add(key, { priority, after: Math.min(this.#baseDelay * 2 ** failures, this.#maxDelay) });
  }

  /** Forgets a key's failures: its next `retry` waits the shortest time again. Does not call off what is waiting. */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  /** How often `retry` was called for a key since it was last forgotten. */
  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** How many keys are ready, by priority. */
  depths(): Map<number, number> {
    const depths = new Map<number, number>();
    for (const { priority, place } of this.#waiting.values()) {
      if (place) depths.set(priority, (depths.get(priority) ?? 0) + 1);
    }
    return depths;
  }

  /** The keys that workers have. */
  workedOn(): K[] {
    return [...this.#working.keys()];
  }

  /** For each of them: since how many milliseconds. */
  workedOnMs(): number[] {
    const now = this.#clock.now();
    return Array.from(this.#working.values(), (since) => now - since);
  }

  /** The next key, as soon as there is one; `undefined` when the queue is shut down and empty. Then call `done`. */
  get(): Promise<WorkItem<K> | undefined> {
    const next = this.#take();
    if (next || this.#closed) return Promise.resolve(next);
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Says that a worker is done with a key, whatever came of it. */
  done(key: K): void {
    const since = this.#working.get(key);
    if (since === undefined) throw new Error(`nobody works on ${key}: it was done before, or never handed out`);
    this.#working.delete(key);
    this.#observer.finished?.(this.#clock.now() - since);
    const again = this.#waiting.get(key);
    if (again) this.#arrange(again);
  }

  /** Takes nothing more in, drops what waits for its time, and sends idle workers home. */
  shutDown(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const waiting of this.#waiting.values()) {
      if (waiting.timer) {
        waiting.timer.cancel();
        this.#waiting.delete(waiting.key);
      }
    }
    for (const resolve of this.#idle.splice(0)) resolve(undefined);
  }

  /** Puts a waiting key where it belongs now: behind a timer, into the heap, or aside until its worker is done. */
  #arrange(waiting: Waiting<K>): void {
    if (waiting.place) this.#ready.remove(waiting.place);
    waiting.timer?.cancel();
    waiting.place = waiting.timer = undefined;
    const delay = waiting.readyAt - this.#clock.now();
    if (delay > 0) {
      waiting.timer = this.#clock.setTimer(delay, () => {
        waiting.timer = undefined;
        waiting.order = this.#order++; // its turn comes after those that were ready before it
        this.#arrange(waiting);
      });
    } else if (!this.#working.has(waiting.key)) {
      waiting.place = this.#ready.push(waiting);
      this.#serve();
    }
  }

  /** Gives ready keys to idle workers. */
  #serve(): void {
    while (this.#idle.length > 0 && this.#ready.size > 0) this.#idle.shift()?.(this.#take());
  }

  #take(): WorkItem<K> | undefined {
    const next = this.#ready.pop();
    if (!next) return undefined;
    const now = this.#clock.now();
    this.#waiting.delete(next.key);
    this.#working.set(next.key, now);
    this.#observer.started?.(now - next.readyAt, next.priority);
    return { key: next.key, priority: next.priority };
  }
}
