/** How often somebody may ask: so many requests at once, and then so many in a second. */
import { type Clock, TokenBucket, type TokenBucketOptions } from "@berth/kube";
import { GatewayError } from "../errors.ts";

/** Of how many it is known how often they ask: who has not asked for longest is forgotten. */
const MOST = 10_000;

/** A bucket for each who asks: a request takes from it, and time fills it up. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #options: TokenBucketOptions;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Clock, options: TokenBucketOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** In how many seconds he may ask again: 0 if he may now, and has. */
  take(who: string): number {
    const bucket = this.#buckets.get(who) ?? new TokenBucket(this.#options);
    this.#buckets.delete(who); // and in again, as the youngest
    if (this.#buckets.size >= MOST) this.#buckets.delete(this.#buckets.keys().next().value as string);
    this.#buckets.set(who, bucket);
    return bucket.take(this.#clock.steady());
  }

  /** He need not have been counted. */
  giveBack(who: string): void {
    this.#buckets.get(who)?.giveBack();
  }
}

/** The error for somebody who asks too often. @param seconds - Until he may again. */
export function tooMany(message: string, seconds: number): GatewayError {
  const retryAfter = Math.ceil(seconds);
  return new GatewayError("BERTH_TOO_MANY_REQUESTS", `${message}: ask again in ${retryAfter} s`, {
    details: { retryAfter },
  });
}
