/** How often somebody may ask: so many requests at once, and then so many in a second. */
import type { Clock } from "@berth/kube";

export interface RateOptions {
  readonly perSecond: number;
  readonly burst: number;
}

const MOST = 10_000;

export class RateLimit {
  readonly #clock: Clock;
  readonly #options: RateOptions;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(clock: Clock, options: RateOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** In how many seconds he may ask again: 0 if he may now, and has. */
  take(who: string): number {
    const { perSecond, burst } = this.#options;
    const now = this.#clock.steady();
    const bucket = this.#buckets.get(who) ?? { left: burst, at: now };
    const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
    this.#buckets.delete(who);
    if (this.#buckets.size >= MOST) this.#buckets.delete(this.#buckets.keys().next().value as string);
    this.#buckets.set(who, { left: left >= 1 ? left - 1 : left, at: now });
    return left >= 1 ? 0 : (1 - left) / perSecond;
  }
}
