/**
 * How often everything is looked at. To look at a large testbed takes longer, and more happens there: done for each event it
 * would take the square of its size. So the larger, the less often; a small one is looked at at once.
 */
import type { Clock } from "@berth/kube";

export interface PaceOptions {
  /** Between two looks, however little there is to see. Default: 0. */
  readonly leastMs?: number;
  /** How much may be looked at in a millisecond. Default: 40. */
  readonly eachMs?: number;
}

export class Pace {
  readonly #next = new Map<string, number>();
  readonly #leastMs: number;
  readonly #eachMs: number;

  constructor({ leastMs = 0, eachMs = 40 }: PaceOptions = {}) {
    this.#leastMs = leastMs;
    this.#eachMs = eachMs;
  }

  /** In how many milliseconds it may be done: 0 is now. */
  delay(key: string, clock: Clock): number {
    const left = (this.#next.get(key) ?? 0) - clock.steady();
    if (left <= 0) this.#next.delete(key);
    return Math.max(0, left);
  }

  /** It is being done. @param size - How much there is to look at. */
  done(key: string, size: number, clock: Clock): void {
    this.#next.set(key, clock.steady() + Math.max(this.#leastMs, size / this.#eachMs));
  }
}
