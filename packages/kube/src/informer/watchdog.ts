/** Ends a watch that has gone silent: a connection can be dead without either end having noticed. */
import type { Clock, Timer } from "../time/clock.ts";

export class Watchdog {
  readonly #clock: Clock;
  readonly #patience: number;
  readonly #silence = new AbortController();
  #last: number;
  #timer: Timer;

  /** @param patience - After how many milliseconds without a word the signal is aborted. */
  constructor(clock: Clock, patience: number) {
    this.#clock = clock;
    this.#patience = patience;
    this.#last = clock.now();
    this.#timer = this.#guard(patience);
  }

  get signal(): AbortSignal {
    return this.#silence.signal;
  }

  /** Costs next to nothing: a busy watch calls it ten thousand times a second. */
  heard(): void {
    this.#last = this.#clock.now();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #guard(wait: number): Timer {
    return this.#clock.setTimer(wait, () => {
      const left = this.#last + this.#patience - this.#clock.now();
      if (left > 0) this.#timer = this.#guard(left);
      else this.#silence.abort(new Error(`no word for ${this.#patience / 1000} s`));
    });
  }
}
