/** How many streams somebody may have open: each of them costs for as long as it lasts, however seldom he asks. */
import { GatewayError } from "../errors.ts";

/** Counts them by user: server-sent events, STOMP connections, and subscriptions of these. */
export class Streams {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  /** @param most - Of one user, at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** One more. Returns how to end it, which may be called twice; throws BERTH_TOO_MANY_STREAMS. */
  open(user: string): () => void {
    const before = this.#open.get(user) ?? 0;
    if (before >= this.#most) {
      throw new GatewayError(
        "BERTH_TOO_MANY_STREAMS",
        `${user} has ${before} streams open, which is as many as may be`,
      );
    }
    this.#open.set(user, before + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(user) ?? 1) - 1;
      if (left > 0) this.#open.set(user, left);
      else this.#open.delete(user);
    };
  }
}
