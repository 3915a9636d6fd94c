/** Lets through what is in no hurry while others are: a little at a time, so that few are told at once and many do not get in the way. */
export class Trickle {
  readonly #eachSecond: number;
  #left: number;
  #since: number | undefined;

  /** @param eachSecond - How many may pass; twice as many if nobody has for a while. */
  constructor(eachSecond: number) {
    this.#eachSecond = eachSecond;
    this.#left = 2 * eachSecond;
  }

  /** Whether one more may pass. @param now - In milliseconds. */
  take(now: number): boolean {
    const since = this.#since ?? now;
    this.#left = Math.min(2 * this.#eachSecond, this.#left + ((now - since) / 1000) * this.#eachSecond);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
