/** What the parts of a simulated cluster have in common: they hear of changes, and act on them a moment later. */
import { ApiError, type Clock, type Random, type Timer } from "@berth/kube";
import type { ApiServer } from "../api/api-server.ts";

/** What every part is given. */
export interface Surroundings {
  readonly server: ApiServer;
  readonly clock: Clock;
  /** A sequence of its own for each part: what the others draw does not change what this one draws. */
  readonly random: Random;
  /** Told of errors that a part cannot do anything about. */
  readonly onFailure: (error: unknown) => void;
  /** Whether parts tell people what they do, as Event objects. Default: yes. */
  readonly events?: boolean;
}

/** A part of a cluster: the scheduler, a controller … */
export interface Component {
  start(): void;
  stop(): void;
}

/**
 * So many rounds may follow each other in so little time before time has to pass: two who undo each other's work would
 * otherwise go on for ever in one moment, and nobody else would have a turn.
 */
const MOST_ROUNDS = 1000;
const MOMENT_MS = 50;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/** What is to be done later, and when that is. */
interface Later {
  readonly at: number;
  readonly timer: Timer;
}

/**
 * Work by key: each key once however often it was added, a moment later, in the order of arrival. What fails is tried
 * again after a while, and after a longer while each further time. That the API server refuses something is no error of
 * ours: somebody wanted what cannot be.
 */
export class Workbench {
  readonly #clock: Clock;
  readonly #work: (key: string) => void;
  readonly #onFailure: (error: unknown) => void;
  #keys = new Set<string>();
  readonly #later = new Map<string, Later>();
  readonly #failures = new Map<string, number>();
  #awake = false;
  #stopped = false;
  /** How many rounds there were since when. */
  #rounds = 0;
  #since = 0;

  constructor({ clock, onFailure }: Pick<Surroundings, "clock" | "onFailure">, work: (key: string) => void) {
    this.#clock = clock;
    this.#work = work;
    this.#onFailure = onFailure;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#keys.add(key);
    if (this.#awake) return;
    this.#awake = true;
    if (this.#mayGoOn()) queueMicrotask(() => this.#run());
    else this.#clock.setTimer(1, () => this.#run());
  }

  /** Adds a key when so much time has passed; the last call for a key counts. */
  addAfter(key: string, milliseconds: number): void {
    this.forget(key);
    if (this.#stopped) return;
    const ring = () => {
      this.#later.delete(key);
      this.add(key);
    };
    const timer = this.#clock.setTimer(milliseconds, ring);
    this.#later.set(key, { at: this.#clock.now() + milliseconds, timer });
  }

  /** Adds a key when so much time has passed, or earlier if another call for it says so. */
  addWithin(key: string, milliseconds: number): void {
    const later = this.#later.get(key);
    if (milliseconds <= 0) this.add(key);
    else if (!later || later.at > this.#clock.now() + milliseconds) this.addAfter(key, milliseconds);
  }

  /** Calls off what was to be added later. */
  forget(key: string): void {
    this.#later.get(key)?.timer.cancel();
    this.#later.delete(key);
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#later.values()) timer.cancel();
    this.#later.clear();
    this.#keys.clear();
  }

  #mayGoOn(): boolean {
    const now = this.#clock.now();
    const isNewMoment = now - this.#since >= MOMENT_MS;
    if (!isNewMoment && ++this.#rounds < MOST_ROUNDS) return true;
    this.#since = now;
    this.#rounds = 0;
    return isNewMoment;
  }

  #run(): void {
    this.#awake = false;
    const keys = this.#keys;
    this.#keys = new Set();
    for (const key of keys) {
      if (this.#stopped) return;
      try {
        this.#work(key);
        if (this.#failures.size > 0) this.#failures.delete(key);
      } catch (error) {
        this.#retry(key, error);
      }
    }
  }

  #retry(key: string, error: unknown): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    if (!(error instanceof ApiError)) this.#onFailure(error);
    this.addWithin(key, Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS));
  }
}
