/**
 * What is over in a moment is not worth a write. A change that may wait is written when it has lasted for a while; what matters
 * more is written at once, and takes it along.
 */

import { forgetUntil } from "./forget.ts";

/** Nobody waits for so long: whatever it was about is gone. */
const FORGOTTEN_MS = 600_000;

export class Lull {
  /** The oldest first. */
  readonly #since = new Map<string, number>();

  /** For how many milliseconds there has been a change. */
  lasted(key: string, now: number): number {
    const since = this.#since.get(key);
    if (since !== undefined) return now - since;
    forgetUntil(now - FORGOTTEN_MS, this.#since);
    this.#since.set(key, now);
    return 0;
  }

  /** In how many milliseconds a change is to be written: 0 is now. @param lastsMs - How long it has to last. */
  left(key: string, now: number, lastsMs: number): number {
    const left = lastsMs - this.lasted(key, now);
    if (left <= 0) this.over(key);
    return Math.max(0, left);
  }

  /** There is nothing to write, or it has been written. */
  over(key: string): void {
    this.#since.delete(key);
  }
}
