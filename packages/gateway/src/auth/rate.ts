/** How often somebody may ask: so many requests at once, and then so many in a second. */
import type { Clock } from "@berth/kube";
import { GatewayError } from "../errors.ts";

/** How often somebody may ask. */
export interface RateOptions {
  /** In the long run. */
  readonly perSecond: number;
  /** At once, after a while without any. */
  readonly burst: number;
}

/** Of how many it is known how often they ask: who has not asked for longest is forgotten. */
const MOST = 10_000;

/** A bucket for each who asks: a request takes from it, and time fills it up. */
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

  /** He need not have been counted. */
  giveBack(who: string): void {
    const bucket = this.#buckets.get(who);
    if (bucket) bucket.left = Math.min(this.#options.burst, bucket.left + 1);
  }
}

/** The error for somebody who asks too often. @param seconds - Until he may again. */
export function tooMany(message: string, seconds: number): GatewayError {
  const retryAfter = Math.ceil(seconds);
  return new GatewayError("BERTH_TOO_MANY_REQUESTS", `${message}: ask again in ${retryAfter} s`, {
    details: { retryAfter },
  });
}
