/**
 * Turns: a scheduler sends its decisions about the last one and gets the next one in the same call, which lasts until there is
 * something to decide.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - T1 Decisions are applied once, however often they are sent, and to whichever replica.
 * - T2 Whoever asks again for an answer that got lost gets the same one.
 * - T3 Nothing that happens between two turns is lost: it is in the next one.
 * - T4 In virtual time the clock stands still from the answer to the next call, but not for ever.
 */
import { type Client, type Clock, LabelSelector, type Logger, sleep, type Timer } from "@berth/kube";
import type { QueuedJob, Rejection, TurnReply, TurnRequest } from "@berth/model";
import { GatewayError } from "../errors.ts";
import { label } from "../names.ts";
import type { World } from "../world.ts";
import type { Board } from "./board.ts";
import { carryOut } from "./carry-out.ts";
import type { Standstill } from "./standstill.ts";
import type { Tenures } from "./tenure.ts";

export interface TurnsOptions {
  readonly client: Client;
  readonly world: World;
  readonly tenures: Tenures;
  readonly log: Logger;
  /** Of the world outside, in which schedulers think. */
  readonly wallClock: Clock;
  /** Stops the cluster's clock, if it is a virtual one; returns how to let it go on. */
  readonly hold?: (() => () => void) | undefined;
  /** Stops it also while nobody waits for it, if that is wanted. */
  readonly standstill?: Standstill | undefined;
  /** For how long the clock waits for a scheduler that thinks, in seconds of the world outside. */
  readonly thinkSeconds: number;
  /** For how long a testbed is kept for a scheduler of which nothing is heard. */
  readonly tenureSeconds: number;
}

export class Turns {
  readonly #options: TurnsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** @param signal - Aborted when whoever asks has gone. */
  async turn(scheduler: string, request: TurnRequest, signal: AbortSignal): Promise<TurnReply> {
    const { world } = this.#options;
    const board = world.board(request.testbed);
    const selector = selectorIn(request.jobs);
    const session = await this.#sessionOf(scheduler, request, board);
    return session.call(request, selector, signal);
  }

  /** A scheduler gives a testbed back. */
  async end(scheduler: string, testbed: string): Promise<void> {
    const key = `${scheduler}/${testbed}`;
    this.#sessions.get(key)?.end(replaced(`scheduler ${scheduler} has ended`));
    this.#sessions.delete(key);
    await this.#options.tenures.end(testbed, scheduler);
  }

  /** Ends all calls. */
  stop(): void {
    const ending = new GatewayError("BERTH_UNAVAILABLE", "the gateway ends; ask again");
    for (const session of [...this.#sessions.values()]) session.end(ending);
  }

  async #sessionOf(scheduler: string, { testbed, after }: TurnRequest, board: Board): Promise<Session> {
    const key = `${scheduler}/${testbed}`;
    const present = this.#sessions.get(key);
    if (present && after !== undefined) return present;
    if (present) {
      present.end(replaced(`scheduler ${scheduler} has begun anew on ${testbed}`));
      return this.#open(scheduler, testbed, present.turn, board);
    }
    const tenure = await this.#options.tenures.take(testbed, scheduler);
    // Somebody may have been quicker while we asked.
    if (this.#sessions.has(key)) return this.#sessionOf(scheduler, { testbed, after } as TurnRequest, board);
    const known = Math.max(tenure.turn, this.#lastTurnOf(scheduler, testbed));
    if (after !== undefined && after < known) throw passed(after, known);
    return this.#open(scheduler, testbed, after ?? known, board);
  }

  #open(scheduler: string, testbed: string, turn: number, board: Board): Session {
    const key = `${scheduler}/${testbed}`;
    const session: Session = new Session(scheduler, testbed, turn, board, this.#options, () => {
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    });
    this.#sessions.set(key, session);
    return session;
  }

  /** As far as Schedulings tell. */
  #lastTurnOf(scheduler: string, testbed: string): number {
    const { world } = this.#options;
    const turns = world.schedulings
      .list({ labelSelector: `${label.scheduler}=${scheduler}` })
      .filter(({ spec }) => spec.testbed.name === testbed)
      .map(({ metadata }) => Number(metadata.labels?.[label.turn]));
    return Math.max(0, ...turns.filter(Number.isSafeInteger));
  }
}

/** One scheduler on one testbed. */
class Session {
  readonly #scheduler: string;
  readonly #testbed: string;
  readonly #board: Board;
  readonly #options: TurnsOptions;
  readonly #onEnd: () => void;
  /** The number of the last turn that was answered. */
  #turn: number;
  /** Of the board, as it was told in it. */
  #version: number | undefined;
  /** What that answer was about; a scheduler that begins has none. */
  #answered: { readonly after: number; readonly reply: TurnReply } | undefined;
  /** Decisions that were carried out, and what was rejected of them. */
  #carriedOut: { readonly after: number; readonly rejected: readonly Rejection[] } | undefined;
  /** The last to be carried out: one after the other. */
  #carrying: Promise<unknown> = Promise.resolve();
  #selector = "";
  #waiting: AbortController | undefined;
  #release: (() => void) | undefined;
  #patience: Timer | undefined;
  #renewal: Timer | undefined;
  #isAlive = true;
  /** How many are open: one, unless somebody has asked again before the gateway has noticed that he was gone. */
  #calls = 0;

  constructor(
    scheduler: string,
    testbed: string,
    turn: number,
    board: Board,
    options: TurnsOptions,
    onEnd: () => void,
  ) {
    this.#onEnd = onEnd;
    this.#scheduler = scheduler;
    this.#testbed = testbed;
    this.#turn = turn;
    this.#board = board;
    this.#options = options;
    this.#renewLater();
  }

  get turn(): number {
    return this.#turn;
  }

  async call(request: TurnRequest, selector: LabelSelector, signal: AbortSignal): Promise<TurnReply> {
    this.#patience?.cancel();
    this.#calls++;
    try {
      const reply = await this.#serve(request, selector, signal);
      if (this.#isAlive && this.#options.hold) this.#release ??= this.#options.hold();
      return reply;
    } finally {
      // Another one may be waiting: then it is not over with the one before.
      if (--this.#calls === 0 && this.#isAlive) this.#beginPatience();
    }
  }

  async #serve(request: TurnRequest, selector: LabelSelector, signal: AbortSignal): Promise<TurnReply> {
    const { after, decisions = [] } = request;
    if (after === undefined && decisions.length > 0) {
      throw new GatewayError(
        "BERTH_BODY_INVALID",
        "decisions need `after`: the number of the turn that they are about",
      );
    }
    if (after !== undefined && after === this.#answered?.after) return this.#answered.reply;
    if (after !== undefined && after !== this.#turn) throw passed(after, this.#turn);
    const replaced = this.#enter();
    const rejected = after === undefined ? [] : await this.#carryOut(after, request);
    const isCalled =
      after === undefined || rejected.length > 0
        ? false
        : await this.#news(request, AbortSignal.any([signal, replaced]));
    const reply = this.#reply(request, selector, rejected, isCalled);
    this.#turn = reply.turn;
    if (after === undefined) this.#answered = undefined;
    else this.#answered = { after, reply };
    return reply;
  }

  /** Whoever waits here is told why it is over. */
  end(why: GatewayError): void {
    this.#end();
    this.#waiting?.abort(why);
  }

  #enter(): AbortSignal {
    this.#waiting?.abort(replaced(`scheduler ${this.#scheduler} has asked again for the same turn`));
    this.#waiting = new AbortController();
    return this.#waiting.signal;
  }

  /** One call after the other, so that the second one of two finds what the first one has done. */
  async #carryOut(after: number, { decisions = [] }: TurnRequest): Promise<readonly Rejection[]> {
    const { world, client } = this.#options;
    const before = this.#carrying;
    const mine = before.then(async () => {
      if (this.#carriedOut?.after === after) return this.#carriedOut.rejected;
      const key = { scheduler: this.#scheduler, testbed: this.#testbed, after };
      const rejected = await carryOut(key, decisions, this.#board, world, client);
      this.#carriedOut = { after, rejected };
      return rejected;
    });
    this.#carrying = mine.catch(() => {}); // whoever comes next tries anew
    return mine;
  }

  /** Waits for something to decide. Whether it is only the time that the scheduler wanted to be called at. */
  async #news({ callAt, testbed }: TurnRequest, signal: AbortSignal): Promise<boolean> {
    const { world, standstill } = this.#options;
    const { clock, epoch } = world;
    const hasNews = () => this.#version === undefined || this.#board.hasNews(this.#version);
    if (hasNews()) return false;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const stopListening = world.onNews(testbed, () => {
      if (!world.testbeds.get(world.key(testbed))) {
        reject(new GatewayError("BERTH_TESTBED_UNKNOWN", `testbed ${testbed} was deleted`));
      } else if (hasNews()) resolve(false);
    });
    const inMs = callAt === undefined ? undefined : Math.max(0, epoch.milliseconds(callAt) - clock.now());
    const timer = inMs === undefined ? undefined : clock.setTimer(inMs, () => resolve(true));
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    let stopWaiting = standstill?.wait({ forTime: callAt !== undefined });
    this.#goOn();
    try {
      const isCalled = await promise;
      stopWaiting?.();
      stopWaiting = standstill?.wait({ forTime: true });
      // What happens in the same moment is told in the same turn.
      await sleep(clock, 0, signal);
      return isCalled;
    } finally {
      stopWaiting?.();
      stopListening();
      timer?.cancel();
      signal.removeEventListener("abort", abort);
    }
  }

  #reply(
    { after, view = "full", jobs = "" }: TurnRequest,
    selector: LabelSelector,
    rejected: readonly Rejection[],
    isCalled: boolean,
  ): TurnReply {
    const { world, hold } = this.#options;
    const { epoch, clock } = world;
    const version = this.#board.version;
    const before = this.#version;
    const time = epoch.seconds(clock.now());
    const events = before === undefined ? [] : this.#board.eventsSince(before);
    const common = {
      turn: this.#turn + 1,
      time,
      clock: hold ? ("virtual" as const) : ("wall" as const),
      testbed: this.#testbed,
      events: isCalled ? [...events, { type: "call" as const, time }] : events,
      rejected: [...rejected],
    };
    const isDelta =
      view === "delta" &&
      after !== undefined &&
      before !== undefined &&
      jobs === this.#selector &&
      this.#board.remembers(before);
    this.#version = version;
    this.#selector = jobs;
    const isMeant = ({ labels }: QueuedJob) => selector.matches(labels);
    if (!isDelta) {
      const queue = this.#board.queue().set.filter(isMeant);
      return { ...common, view: "full", queue, running: this.#board.running().set, slots: this.#board.slots().set };
    }
    const { set, removed } = this.#board.queue(before);
    const others = set.filter((job) => !isMeant(job)).map(({ name }) => name);
    return {
      ...common,
      view: "delta",
      queue: { set: set.filter(isMeant), removed: [...removed, ...others] },
      running: this.#board.running(before),
      slots: this.#board.slots(before),
    };
  }

  /** It has been answered, and thinks, or is gone. In virtual time the clock waits for it: but not for ever. */
  #beginPatience(): void {
    const { hold, wallClock, thinkSeconds, tenureSeconds, log } = this.#options;
    const seconds = hold ? thinkSeconds : tenureSeconds;
    this.#patience?.cancel();
    this.#patience = wallClock.setTimer(seconds * 1000, () => {
      log.warn("a scheduler has not been heard of", { scheduler: this.#scheduler, testbed: this.#testbed, seconds });
      this.#end();
      void this.#options.tenures.end(this.#testbed, this.#scheduler).catch((error: unknown) => {
        log.warn("its testbed could not be given back", { error });
      });
    });
  }

  #end(): void {
    this.#isAlive = false;
    this.#renewal?.cancel();
    this.#patience?.cancel();
    this.#goOn();
    this.#onEnd();
  }

  #goOn(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #renewLater(): void {
    const { tenures, wallClock, tenureSeconds, log } = this.#options;
    this.#renewal?.cancel();
    this.#renewal = wallClock.setTimer((tenureSeconds * 1000) / 3, () => {
      if (!this.#isAlive) return;
      tenures.renew(this.#testbed, this.#scheduler, this.#turn).then(
        (isOurs) => {
          if (isOurs) this.#renewLater();
          else this.end(replaced(`another gateway serves scheduler ${this.#scheduler} now`));
        },
        (error: unknown) => {
          log.warn("the tenure of a testbed could not be renewed", { error, testbed: this.#testbed });
          this.#renewLater();
        },
      );
    });
  }
}

function replaced(why: string): GatewayError {
  return new GatewayError("BERTH_SCHEDULER_REPLACED", why);
}

function passed(after: number, turn: number): GatewayError {
  const code = after < turn ? "BERTH_TURN_PASSED" : "BERTH_TURN_UNKNOWN";
  return new GatewayError(code, `turn ${after} was named, and the last one is ${turn}`, { details: { turn } });
}

function selectorIn(text: string | undefined): LabelSelector {
  try {
    return LabelSelector.parse(text ?? "");
  } catch (error) {
    throw new GatewayError("BERTH_BODY_INVALID", `jobs: ${error instanceof Error ? error.message : String(error)}`);
  }
}
