/**
 * What is over in a moment is not worth a write. A change that may wait is written when it has lasted for a second; what matters
 * more is written at once, and takes it along.
 */

const LULL_MS = 1000;

export class Lull {
  readonly #since = new Map<string, number>();

  /** In how many milliseconds a change is to be written: 0 is now. Forgotten once it is, or by `over`. */
  left(key: string, now: number): number {
    const since = this.#since.get(key) ?? now;
    const left = since + LULL_MS - now;
    if (left <= 0) this.#since.delete(key);
    else this.#since.set(key, since);
    return Math.max(0, left);
  }

  /** There is nothing to write, or it has been written. */
  over(key: string): void {
    this.#since.delete(key);
  }
}
