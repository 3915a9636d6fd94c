/**
 * How often everything is looked at. To look at a large testbed takes longer, and more happens there: done for each event it
 * would take the square of its size. So the larger, the less often; a small one is looked at at once.
 */
import type { Clock } from "@berth/kube";

/** What may be looked at in a millisecond. */
const A_MILLISECOND = 200;

export class Pace {
  readonly #next = new Map<string, number>();

  /** In how many milliseconds it may be done: 0 is now, and then it counts as done. @param size - How much there is to look at. */
  delay(key: string, size: number, clock: Clock): number {
    const now = clock.steady();
    const wait = (this.#next.get(key) ?? now) - now;
    if (wait > 0) return wait;
    this.#next.set(key, now + size / A_MILLISECOND);
    return 0;
  }
}
