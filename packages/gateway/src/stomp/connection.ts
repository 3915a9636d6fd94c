/** One connection: hands what comes in to the session, does what that says, and ends when either side wants it. */
import type { IncomingMessage } from "node:http";
import type { Clock, Logger, Timer } from "@berth/kube";
import type { RawData, WebSocket } from "ws";
import { bearerOf } from "../auth/guard.ts";
import { whileAllowed } from "../auth/listening.ts";
import type { Streams } from "../auth/streams.ts";
import { GatewayError } from "../errors.ts";
import type { Feed, Topic } from "../feed.ts";
import type { Bodies } from "./bodies.ts";
import { type FrameLimits, FrameParser, serialise } from "./frame.ts";
import { Heart } from "./heart-beat.ts";
import { Outbox, type OutboxLimits } from "./outbox.ts";
import { Session, type Step } from "./session.ts";
import type { StompSubscription } from "./subscription.ts";

/** Who is at the other end. */
export interface Reader {
  readonly user: string;
  /** Rejects if he may not read all of these, or if nobody knows him any more: with a `GatewayError` that says so. */
  mustSee(topics: Iterable<Topic>): Promise<void>;
}

/** Finds out whose token it is. Rejects, best with a `GatewayError`, if it is nobody's. */
export type Authenticate = (token: string | undefined, request: IncomingMessage) => Promise<Reader>;

/** How much one connection may have. */
export interface ConnectionLimits extends OutboxLimits {
  readonly frame: FrameLimits;
  /** How many subscriptions at a time. Default: 100. */
  readonly subscriptions: number;
  /** How many milliseconds until it is connected. Default: 10,000. */
  readonly connectWithin: number;
  /** How many milliseconds between heart-beats at least, in either direction. Default: 10,000. */
  readonly heartBeat: number;
  /** How many milliseconds the other side has to read the last words, and to close. Default: 5,000. */
  readonly linger: number;
}

/** What connections share, and what each is made of. */
export interface ConnectionContext {
  readonly id: string;
  readonly webSocket: WebSocket;
  readonly request: IncomingMessage;
  readonly feed: Feed;
  readonly bodies: Bodies;
  readonly clock: Clock;
  readonly log: Logger;
  readonly authenticate: Authenticate;
  /** Of all users. */
  readonly streams: Streams;
  readonly limits: ConnectionLimits;
}

const HEART_BEAT = Buffer.from("\n");
const TEXT = { binary: false, compress: false };
/** The server goes. */
const GOING_AWAY = 1001;

/** Lives as long as its WebSocket. */
export class Connection {
  /** Settles when the WebSocket is closed. */
  readonly closed: Promise<void>;
  readonly #context: ConnectionContext;
  readonly #session: Session;
  readonly #parser: FrameParser;
  readonly #heart: Heart;
  readonly #outbox: Outbox;
  readonly #connecting: Timer;
  #asking: Timer | undefined;
  #lingering: Timer | undefined;
  #reader: Reader | undefined;
  /** What counts as a stream of the user, this connection and each subscription, and how to end that. */
  readonly #counted = new Map<Connection | StompSubscription, () => void>();
  /** Kept only so that it can be left out of whatever is said about an error. */
  #token: string | undefined;
  /** Whether a frame is being looked into. Those after it wait for that. */
  #busy = false;

  constructor(context: ConnectionContext) {
    this.#context = context;
    const { id, webSocket, feed, bodies, clock, limits } = context;
    const beats = { sendEvery: limits.heartBeat, expectEvery: limits.heartBeat };
    this.#session = new Session({ id, beats, maxSubscriptions: limits.subscriptions });
    this.#parser = new FrameParser(limits.frame);
    this.#heart = new Heart({
      clock,
      beat: () => {
        // Who has not read what was sent before does not miss this.
        if (webSocket.bufferedAmount === 0) this.#transmit(HEART_BEAT);
      },
      lost: () => this.#fail(new GatewayError("BERTH_BODY_INVALID", "there were no heart-beats")),
    });
    this.#outbox = new Outbox({
      feed,
      bodies,
      clock,
      limits,
      sink: webSocketSink(webSocket, () => this.#heart.sent()),
      message: (subscription, body) => this.#session.message(subscription, body),
      tooSlow: (why) => this.#tooSlow(why),
    });
    this.#connecting = clock.setTimer(limits.connectWithin, () => {
      const message = `the connection was not made within ${limits.connectWithin} ms`;
      this.#fail(new GatewayError("BERTH_BODY_INVALID", message));
    });
    webSocket.on("message", (data) => this.#received(data));
    webSocket.on("ping", (data) => {
      this.#heart.received();
      if (webSocket.bufferedAmount <= limits.sendBuffer) webSocket.pong(data);
    });
    webSocket.on("error", (error) =>
      context.log.debug("a connection failed", { connection: id, error: error.message }),
    );
    this.closed = new Promise((resolve) => {
      webSocket.once("close", () => {
        this.#session.end();
        this.#release();
        this.#lingering?.cancel();
        resolve();
      });
    });
  }

  /** The server goes, and lets the other side know. */
  close(): void {
    this.#session.end();
    this.#close(GOING_AWAY);
  }

  #received(data: RawData): void {
    this.#heart.received();
    if (this.#session.ended) return;
    this.#parser.push(bytesOf(data));
    if (!this.#busy) void this.#work();
  }

  /** Takes one frame after the other. Never rejects. */
  async #work(): Promise<void> {
    this.#busy = true;
    try {
      for (let frame = this.#parser.next(); frame && !this.#session.ended; frame = this.#parser.next()) {
        // Changes alone never let so much wait: these are answers, and whoever asks on does not read them.
        if (this.#outbox.waiting > 2 * this.#context.limits.sendBuffer) this.#tooSlow("answers are not read");
        await this.#perform(this.#session.receive(frame));
      }
    } catch (error) {
      this.#fail(this.#explained(error));
    } finally {
      this.#busy = false;
    }
  }

  async #perform(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.type === "authenticate") await this.#unread(() => this.#authenticate(step.token));
      else if (step.type === "subscribe") await this.#unread(() => this.#subscribe(step.subscription, step.snapshot));
      else this.#do(step);
    }
  }

  #do(step: Exclude<Step, { type: "authenticate" | "subscribe" }>): void {
    switch (step.type) {
      case "send":
        this.#transmit(serialise(step.frame, this.#session.version));
        break;
      case "beat":
        this.#heart.start(step.beats);
        break;
      case "unsubscribe":
        this.#outbox.cancel(step.subscription);
        this.#discount(step.subscription);
        break;
      case "close":
        this.#close(step.code);
        break;
    }
  }

  #doAll(steps: readonly Step[]): void {
    for (const step of steps) if (step.type !== "authenticate" && step.type !== "subscribe") this.#do(step);
  }

  /** Lets nothing in while something is asked elsewhere, lest it pile up here. */
  async #unread(ask: () => Promise<void>): Promise<void> {
    const { webSocket } = this.#context;
    webSocket.pause();
    this.#heart.deaf = true;
    try {
      await ask();
    } finally {
      this.#heart.deaf = false;
      this.#heart.received();
      webSocket.resume();
    }
  }

  async #authenticate(said: string | undefined): Promise<void> {
    const { id, request, authenticate, log } = this.#context;
    this.#token = bearerOf(request.headers.authorization) ?? said;
    this.#reader = await authenticate(this.#token, request);
    if (this.#session.ended) return;
    this.#count(this, this.#reader);
    this.#connecting.cancel();
    this.#doAll(this.#session.authenticated(this.#reader.user));
    this.#parser.version = this.#session.version;
    this.#askAgain(this.#reader);
    log.debug("a client has connected", { connection: id, user: this.#reader.user, version: this.#session.version });
  }

  /** Tokens and rights come to an end, and what is told by them with it. */
  #askAgain(reader: Reader): void {
    const { id, clock, log } = this.#context;
    const ask = () => reader.mustSee(this.#session.topics);
    this.#asking = whileAllowed(clock, ask, (why) => {
      log.info("a client may not listen any more", { connection: id, user: reader.user, code: why.code });
      this.#fail(this.#explained(why));
    });
  }

  async #subscribe(subscription: StompSubscription, snapshot: boolean): Promise<void> {
    const reader = this.#reader as Reader; // or there would be no session yet
    await reader.mustSee([subscription.topic]);
    if (this.#session.ended) return;
    this.#count(subscription, reader);
    this.#outbox.open(subscription, { snapshot });
    this.#doAll(this.#session.subscribed());
  }

  #count(what: Connection | StompSubscription, { user }: Reader): void {
    this.#counted.set(what, this.#context.streams.open(user));
  }

  #discount(what: Connection | StompSubscription): void {
    this.#counted.get(what)?.();
    this.#counted.delete(what);
  }

  /** What the other side is told about an error. Of what nobody has foreseen, only that it happened. */
  #explained(error: unknown): GatewayError {
    // Whoever wrote a message may have thought that nobody else would read it.
    const censored = (text: string) => (this.#token ? text.replaceAll(this.#token, "(token)") : text);
    if (error instanceof GatewayError) {
      return new GatewayError(error.code, censored(error.message), { details: error.details });
    }
    const { id, log } = this.#context;
    const text = censored(error instanceof Error ? (error.stack ?? error.message) : String(error));
    log.error("a client could not be served", { connection: id, user: this.#reader?.user, error: text });
    return new GatewayError("BERTH_GATEWAY_FAILED", "the gateway has failed");
  }

  #tooSlow(why: string): void {
    const { id, log } = this.#context;
    log.warn("a client was too slow and was cut off", { connection: id, user: this.#reader?.user, why });
    this.#fail(new GatewayError("BERTH_TOO_MANY_REQUESTS", `the connection is too slow: ${why}`));
  }

  #fail(error: GatewayError): void {
    this.#doAll(this.#session.failed(error));
  }

  #transmit(bytes: Buffer): void {
    this.#context.webSocket.send(bytes, TEXT);
    this.#heart.sent();
  }

  #close(code: number): void {
    const { webSocket, clock, limits } = this.#context;
    this.#release();
    webSocket.resume(); // or the other side's goodbye would not be heard
    webSocket.close(code);
    this.#lingering ??= clock.setTimer(limits.linger, () => webSocket.terminate());
  }

  #release(): void {
    this.#connecting.cancel();
    this.#asking?.cancel();
    this.#heart.stop();
    this.#outbox.close();
    for (const what of this.#counted.keys()) this.#discount(what);
  }
}

function webSocketSink(webSocket: WebSocket, sent: () => void) {
  return {
    get bufferedAmount(): number {
      return webSocket.bufferedAmount;
    },
    send(bytes: Buffer, taken?: () => void): void {
      // Should it fail, the WebSocket closes, and says so itself.
      if (taken) webSocket.send(bytes, TEXT, () => taken());
      else webSocket.send(bytes, TEXT);
      sent();
    },
  };
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
