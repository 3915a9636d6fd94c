/** When a slot may say how it stands: what it says is for people, and nobody waits for it. */
import { TokenBucket } from "@berth/kube";
import { Lull } from "../lull.ts";

/** How long it has to have stood so, also while many executors are placed, and how long a ghost may be on its way before that is worth a word. */
const STEADY_MS = 1000;
const BUSY_MS = 3000;
const UNDER_WAY_MS = 10_000;
/**
 * While many executors are being placed, who are in more of a hurry, so many slots tell in a second; more of those that have waited for a while, so
 * that people see what is going on; and everybody who has waited for long, since somebody may be placed at any time.
 */
const RUSH = { perSecond: 1, burst: 1 };
const LATE = { perSecond: 10, burst: 10 };
const LATE_MS = 30_000;
const OVERDUE_MS = 60_000;
const AGAIN_MS = 5000;

/** Keeps slots from telling what is over in a moment, and from getting in the way of executors. */
export class Manners {
  readonly #lull = new Lull();
  readonly #rush = new TokenBucket(RUSH);
  readonly #late = new TokenBucket(LATE);

  /** In how many milliseconds a slot may be looked at again; 0: it may tell now. */
  wait(slot: string, now: number, { isUnderWay, isBusy }: { isUnderWay: boolean; isBusy: boolean }): number {
    const lasted = this.#lull.lasted(slot, now);
    const left = (isUnderWay ? UNDER_WAY_MS : isBusy ? BUSY_MS : STEADY_MS) - lasted;
    if (left > 0) return Math.min(left, AGAIN_MS);
    if (!isBusy || lasted >= OVERDUE_MS) return 0;
    return (lasted < LATE_MS ? this.#rush : this.#late).take(now) > 0 ? AGAIN_MS : 0;
  }

  /** It has told, or has nothing to tell. */
  over(slot: string): void {
    this.#lull.over(slot);
  }
}
