/** Heart-beats of one connection: who has nothing to say says so, and who is silent for too long is given up. */
import type { Clock, Timer } from "@berth/kube";

/** How often each side says something, in milliseconds; 0: it need not. */
export interface HeartBeats {
  /** We send at least so often. */
  readonly sendEvery: number;
  /** The other side does. */
  readonly expectEvery: number;
}

/** Networks and busy machines are late at times. */
const TOLERANCE = 2;

/** What was agreed on, from what each side can send and wants to get: `heart-beat:can,wants`. */
export function agreed(ours: HeartBeats, theirs: { readonly can: number; readonly wants: number }): HeartBeats {
  return {
    sendEvery: slower(ours.sendEvery, theirs.wants),
    expectEvery: slower(theirs.can, ours.expectEvery),
  };
}

/** If one side cannot, or the other does not want to, there is none. */
function slower(can: number, wants: number): number {
  return can === 0 || wants === 0 ? 0 : Math.max(can, wants);
}

/** What a heart needs of its connection. */
export interface HeartContext {
  readonly clock: Clock;
  /** Sends a heart-beat. */
  readonly beat: () => void;
  /** Nothing has come for too long. */
  readonly lost: () => void;
}

/** Beats from `start` until `stop`. */
export class Heart {
  /** Whether the other side cannot be heard, through no fault of its own: then it is not given up. */
  deaf = false;
  readonly #context: HeartContext;
  #sent = false;
  #lastReceived: number;
  #sending: Timer | undefined;
  #expecting: Timer | undefined;

  constructor(context: HeartContext) {
    this.#context = context;
    this.#lastReceived = context.clock.steady();
  }

  start({ sendEvery, expectEvery }: HeartBeats): void {
    this.stop();
    if (sendEvery > 0) this.#send(sendEvery);
    this.received();
    if (expectEvery > 0) this.#expect(expectEvery * TOLERANCE);
  }

  stop(): void {
    this.#sending?.cancel();
    this.#expecting?.cancel();
  }

  /** Something was sent: a heart-beat is not needed for a while. Called for every message, so it does not ask the time. */
  sent(): void {
    this.#sent = true;
  }

  /** Something has come: anything counts. */
  received(): void {
    this.#lastReceived = this.#context.clock.steady();
  }

  /** Looks twice in each interval, and so never lets one pass in silence. */
  #send(every: number): void {
    this.#sending = this.#context.clock.setTimer(every / 2, () => {
      if (!this.#sent) this.#context.beat();
      this.#sent = false;
      this.#send(every);
    });
  }

  #expect(patience: number): void {
    if (this.deaf) this.received();
    const silent = this.#context.clock.steady() - this.#lastReceived;
    if (silent >= patience) this.#context.lost();
    else this.#expecting = this.#context.clock.setTimer(patience - silent, () => this.#expect(patience));
  }
}
