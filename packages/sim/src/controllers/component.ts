/** What the parts of a simulated cluster have in common: they hear of changes, and act on them a moment later. */
import type { Clock, Random, Timer } from "@berth/kube";
import type { ApiServer } from "../api/api-server.ts";

/** What every part is given. */
export interface Surroundings {
  readonly server: ApiServer;
  readonly clock: Clock;
  /** A sequence of its own for each part: what the others draw does not change what this one draws. */
  readonly random: Random;
  /** Told of errors that a part cannot do anything about. */
  readonly onFailure: (error: unknown) => void;
}

/** A part of a cluster: the scheduler, a controller … */
export interface Component {
  start(): void;
  stop(): void;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/**
 * Work by key: each key once however often it was added, a moment later, in the order of arrival. What fails is tried
 * again after a while, and after a longer while each further time.
 */
export class Workbench {
  readonly #clock: Clock;
  readonly #work: (key: string) => void;
  readonly #onFailure: (error: unknown) => void;
  readonly #keys = new Set<string>();
  readonly #timers = new Map<string, Timer>();
  readonly #failures = new Map<string, number>();
  #awake = false;
  #stopped = false;

  constructor({ clock, onFailure }: Surroundings, work: (key: string) => void) {
    this.#clock = clock;
    this.#work = work;
    this.#onFailure = onFailure;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#keys.add(key);
    if (this.#awake) return;
    this.#awake = true;
    queueMicrotask(() => this.#run());
  }

  /** Adds a key when so much time has passed; the last call for a key counts. */
  addAfter(key: string, milliseconds: number): void {
    this.#timers.get(key)?.cancel();
    if (this.#stopped) return;
    const ring = () => {
      this.#timers.delete(key);
      this.add(key);
    };
    this.#timers.set(key, this.#clock.setTimer(milliseconds, ring));
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#keys.clear();
  }

  #run(): void {
    this.#awake = false;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) {
      if (this.#stopped) return;
      try {
        this.#work(key);
        this.#failures.delete(key);
      } catch (error) {
        const failures = this.#failures.get(key) ?? 0;
        this.#failures.set(key, failures + 1);
        this.#onFailure(error);
        this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS));
      }
    }
  }
}
