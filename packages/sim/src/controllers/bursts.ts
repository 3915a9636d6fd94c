/**
 * Not too much at once: whoever asks for a million pods gets them, but the cluster goes on meanwhile. And pods that fail in
 * the moment they are made, because their node has no room for them, are not made again without end in that moment.
 */
import type { Clock } from "@berth/kube";

/** So many pods are made for one object in so much time. */
const BURST = 500;
const WINDOW_MS = 1000;
/** For one whose pods fail: what the real controller manager's limit of requests comes to. */
export const FAILING_BURST = 20;

interface Window {
  readonly until: number;
  made: number;
  /** More was wanted. */
  isShort: boolean;
}

/** Keeps count of what was made for whom. */
export class Bursts {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many of so many may be made for an object now. If that is not all, it has to wait for `restMs`. */
  allow(uid: string, wanted: number, most = BURST): number {
    if (wanted <= 0) return 0;
    const now = this.#clock.now();
    let window = this.#windows.get(uid);
    if (!window || now >= window.until) {
      window = { until: now + WINDOW_MS, made: 0, isShort: false };
      this.#windows.set(uid, window);
    }
    const allowed = Math.max(0, Math.min(wanted, most - window.made));
    window.made += allowed;
    window.isShort = allowed < wanted;
    return allowed;
  }

  /** How long it is until more may be made; 0 if nobody has to wait. */
  restMs(uid: string): number {
    const window = this.#windows.get(uid);
    return window?.isShort ? Math.max(0, window.until - this.#clock.now()) : 0;
  }

  /** The object is gone. */
  forget(uid: string): void {
    this.#windows.delete(uid);
  }
}
