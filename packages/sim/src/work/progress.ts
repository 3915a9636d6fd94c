/**
 * How far an application has come. Its rate is constant from one change to the next, so that every moment can be computed
 * exactly: nothing is counted up in steps. Pure.
 *
 * Guarantees:
 * - Work is conserved: what is done is the sum of rate × time, and never more than there was.
 * - It does not matter how often anybody asks, or sets a rate that it has already: not by a single bit.
 */

/** Amounts are executor-seconds, rates executor-seconds per second, moments milliseconds. */
export interface Progress {
  /** What there is to do, in all. */
  readonly total: number;
  /** What was done at `since`. */
  readonly done: number;
  /** At what rate it goes on from `since`. */
  readonly rate: number;
  readonly since: number;
}

/** Nothing is done yet, and nobody works. */
export function begun(total: number, now: number): Progress {
  return { total, done: 0, rate: 0, since: now };
}

/** How much is done at a moment, not before `since`. */
export function doneAt({ total, done, rate, since }: Progress, now: number): number {
  return Math.min(total, done + (rate * Math.max(0, now - since)) / 1000);
}

/** It goes on at another rate. The same progress if the rate is the same. */
export function atRate(progress: Progress, rate: number, now: number): Progress {
  if (rate === progress.rate) return progress;
  return { total: progress.total, done: doneAt(progress, now), rate, since: now };
}

/** When so much is done if nothing changes; infinite if never. */
export function reachedAt({ done, rate, since }: Progress, amount: number): number {
  if (amount <= done) return since;
  return rate === 0 ? Number.POSITIVE_INFINITY : since + ((amount - done) / rate) * 1000;
}
