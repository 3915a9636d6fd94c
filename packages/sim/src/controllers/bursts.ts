/** Not too much at once: whoever asks for a million pods gets them, but the cluster goes on meanwhile. */
import type { Clock } from "@berth/kube";

/** So many pods are made for one object before it has to rest. */
const BURST = 500;
const REST_MS = 1000;

/** Keeps count of what was made for whom. */
export class Bursts {
  readonly #clock: Clock;
  readonly #restingUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many of so many may be made for an object now. If that is not all, it has to wait for `restMs`. */
  allow(uid: string, wanted: number): number {
    if (this.restMs(uid) > 0) return 0;
    this.#restingUntil.delete(uid);
    if (wanted <= BURST) return Math.max(0, wanted);
    this.#restingUntil.set(uid, this.#clock.now() + REST_MS);
    return BURST;
  }

  /** How long it is until more may be made; 0 if it may at once. */
  restMs(uid: string): number {
    return Math.max(0, (this.#restingUntil.get(uid) ?? 0) - this.#clock.now());
  }

  /** The object is gone. */
  forget(uid: string): void {
    this.#restingUntil.delete(uid);
  }
}
