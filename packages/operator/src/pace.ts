/**
 * How often everything is looked at. To look at a large testbed takes longer, and more happens there: done for each event it
 * would take the square of its size. So the larger, the less often; a small one is looked at at once.
 */
import type { Clock } from "@berth/kube";

/** How much may be looked at in a millisecond. */
const A_MILLISECOND = 40;

export class Pace {
  readonly #next = new Map<string, number>();
  readonly #leastMs: number;

  /** @param leastMs - Between two looks, however little there is to see. */
  constructor(leastMs = 0) {
    this.#leastMs = leastMs;
  }

  /** In how many milliseconds it may be done: 0 is now. */
  delay(key: string, clock: Clock): number {
    return Math.max(0, (this.#next.get(key) ?? 0) - clock.steady());
  }

  /** It is being done. @param size - How much there is to look at. */
  done(key: string, size: number, clock: Clock): void {
    this.#next.set(key, clock.steady() + Math.max(this.#leastMs, size / A_MILLISECOND));
  }
}
