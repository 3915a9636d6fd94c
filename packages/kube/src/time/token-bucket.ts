/** How much may happen: some at once, and then so much in a second. Whoever has the time brings it along. */
export interface TokenBucketOptions {
  /** In the long run. */
  readonly perSecond: number;
  /** At once, after a while without any. */
  readonly burst: number;
}

/** What happens takes from it, and time fills it up. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #left: number;
  #at: number | undefined;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#left = options.burst;
  }

  /** In how many seconds it may be: 0 if it may now, and then it is counted. @param now - In milliseconds. */
  take(now: number): number {
    const { perSecond, burst } = this.#options;
    this.#left = Math.min(burst, this.#left + ((now - (this.#at ?? now)) / 1000) * perSecond);
    this.#at = now;
    if (this.#left < 1) return (1 - this.#left) / perSecond;
    this.#left--;
    return 0;
  }

  /** It need not have been counted. */
  giveBack(): void {
    this.#left = Math.min(this.#options.burst, this.#left + 1);
  }
}
