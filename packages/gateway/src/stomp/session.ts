/**
 * What is said over one connection, without the connection: a frame comes in, and what is to be done comes out.
 *
 * Whoever drives it hands in one frame after the other, and does the steps in their order. Two of them ask something
 * (`authenticate` and `subscribe`): no other frame may come in until they are answered.
 */
import { bearerOf } from "../auth/guard.ts";
import { errorCatalogue, GatewayError, type GatewayErrorCode } from "../errors.ts";
import { TOPICS, type Topic } from "../feed.ts";
import { type Frame, frame, VERSIONS, type Version } from "./frame.ts";
import { agreed, type HeartBeats } from "./heart-beat.ts";
import { ACK_MODES, type AckMode, destinationOf, StompSubscription } from "./subscription.ts";

/** What is to be done. */
export type Step =
  | { readonly type: "send"; readonly frame: Frame }
  /** Whose token is it? Answered by `authenticated` or `failed`. */
  | { readonly type: "authenticate"; readonly token: string | undefined }
  /** From now on there are heart-beats. */
  | { readonly type: "beat"; readonly beats: HeartBeats }
  /** May the client, and can it be? Answered by `subscribed` or `failed`. */
  | { readonly type: "subscribe"; readonly subscription: StompSubscription; readonly snapshot: boolean }
  | { readonly type: "unsubscribe"; readonly subscription: StompSubscription }
  /** Nothing else will be said. */
  | { readonly type: "close"; readonly code: number };

/** How a session is to be. */
export interface SessionOptions {
  /** No other connection has it. */
  readonly id: string;
  /** What we can send, and want to get. */
  readonly beats: HeartBeats;
  /** How many subscriptions there may be at a time. */
  readonly maxSubscriptions: number;
}

type State =
  | { readonly is: "new" }
  | { readonly is: "authenticating"; readonly beats: HeartBeats }
  | { readonly is: "connected" }
  /** The SUBSCRIBE that is being looked into. */
  | { readonly is: "subscribing"; readonly asked: Frame; readonly subscription: StompSubscription }
  | { readonly is: "ended" };

const TOPIC_OF: ReadonlyMap<string, Topic> = new Map(TOPICS.map((topic) => [destinationOf(topic), topic]));

/** Close codes of WebSocket. */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;

/** One connection's side of the conversation. */
export class Session {
  readonly #options: SessionOptions;
  readonly #subscriptions = new Map<string, StompSubscription>();
  #state: State = { is: "new" };
  #version: Version = "1.2";
  /** How many messages were sent; the last one has this number. */
  #messages = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Which one is spoken. Until that is agreed, the newest. */
  get version(): Version {
    return this.#version;
  }

  /** Whether everything is said. */
  get ended(): boolean {
    return this.#state.is === "ended";
  }

  /** What the client has subscribed to, each once. */
  get topics(): ReadonlySet<Topic> {
    return new Set([...this.#subscriptions.values()].map(({ topic }) => topic));
  }

  /** A MESSAGE for a subscriber, as it is sent. */
  message(subscription: StompSubscription, body: Buffer): Buffer {
    return subscription.message(++this.#messages, body);
  }

  /** A frame has come. */
  receive(received: Frame): Step[] {
    if (this.#state.is === "ended") return [];
    try {
      return this.#receive(received);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.failed(error, received);
    }
  }

  /** The answer to `authenticate`. */
  authenticated(user: string): Step[] {
    if (this.#state.is !== "authenticating") return [];
    const { beats } = this.#state;
    this.#state = { is: "connected" };
    const headers: Record<string, string> = { version: this.#version, session: this.#options.id, server: "berth" };
    if (this.#version === "1.0") return [send("CONNECTED", { ...headers, "user-name": user })];
    const { sendEvery, expectEvery } = this.#options.beats;
    headers["heart-beat"] = `${sendEvery},${expectEvery}`;
    return [send("CONNECTED", { ...headers, "user-name": user }), { type: "beat", beats }];
  }

  /** The answer to `subscribe`. */
  subscribed(): Step[] {
    if (this.#state.is !== "subscribing") return [];
    const { asked, subscription } = this.#state;
    this.#subscriptions.set(subscription.id, subscription);
    this.#state = { is: "connected" };
    return receiptFor(asked);
  }

  /**
   * Something went wrong, here or there: the other side is told, and that was it.
   *
   * @param cause - The frame that it went wrong with, if it was one. Default: the one that is being looked into.
   */
  failed(error: GatewayError, cause?: Frame): Step[] {
    if (this.#state.is === "ended") return [];
    const about = cause ?? (this.#state.is === "subscribing" ? this.#state.asked : undefined);
    this.#state = { is: "ended" };
    const receipt = about && !isConnect(about) ? about.headers.get("receipt") : undefined;
    const headers: Record<string, string> = { message: error.message, code: error.code, "content-type": "text/plain" };
    if (receipt !== undefined) headers["receipt-id"] = receipt;
    if (typeof error.details.versions === "string") headers.version = error.details.versions;
    return [
      send("ERROR", headers, `${error.message}\n${error.remedy}\n`),
      { type: "close", code: closeCode(error.code) },
    ];
  }

  /** The connection is gone, or is to go without a word. */
  end(): void {
    this.#state = { is: "ended" };
  }

  #receive(received: Frame): Step[] {
    const { command, body } = received;
    // Only SEND may have one, of all that clients send; and SEND is refused in any case.
    if (body.length > 0 && command !== "SEND") throw invalid(`a ${named(command)} may not have a body`);
    if (this.#state.is === "new") {
      if (!isConnect(received)) throw invalid("the first frame must be CONNECT");
      return this.#connect(received);
    }
    if (this.#state.is !== "connected") throw new Error(`a frame came in while the session was ${this.#state.is}`);
    switch (command) {
      case "SUBSCRIBE":
        return this.#subscribe(received);
      case "UNSUBSCRIBE":
        return this.#unsubscribe(received);
      case "ACK":
      case "NACK":
        return this.#acknowledge(received);
      case "DISCONNECT":
        this.#state = { is: "ended" };
        return [...receiptFor(received), { type: "close", code: NORMAL }];
      case "SEND":
        throw new GatewayError("BERTH_METHOD_NOT_ALLOWED", "nothing can be sent to a topic: topics are read only");
      case "BEGIN":
      case "COMMIT":
      case "ABORT":
        throw noTransactions();
      case "CONNECT":
      case "STOMP":
        throw invalid("the connection was made already: CONNECT may come once");
      default:
        throw invalid("the command is none that a client of STOMP sends");
    }
  }

  #connect({ headers }: Frame): Step[] {
    const offered = headers.get("accept-version")?.split(/[\s,]+/) ?? ["1.0"];
    const version = VERSIONS.find((each) => offered.includes(each));
    if (!version) {
      const versions = VERSIONS.toReversed().join(",");
      throw new GatewayError("BERTH_BODY_INVALID", `the versions spoken here are ${versions}`, {
        details: { versions },
      });
    }
    const beats = agreed(this.#options.beats, beatsOf(headers.get("heart-beat")));
    this.#version = version;
    this.#state = { is: "authenticating", beats };
    return [{ type: "authenticate", token: tokenOf(headers) }];
  }

  #subscribe(asked: Frame): Step[] {
    const destination = required(asked, "destination");
    // 1.0 knows subscriptions by their destination, if they have no id.
    const id = this.#version === "1.0" ? (asked.headers.get("id") ?? destination) : required(asked, "id");
    if (this.#subscriptions.has(id)) throw invalid("there is a subscription with this id already");
    if (this.#subscriptions.size >= this.#options.maxSubscriptions) {
      const message = `a connection may have ${this.#options.maxSubscriptions} subscriptions`;
      throw new GatewayError("BERTH_TOO_MANY_REQUESTS", message);
    }
    const topic = TOPIC_OF.get(destination);
    if (!topic) throw new GatewayError("BERTH_NOT_FOUND", `the destinations are ${[...TOPIC_OF.keys()].join(", ")}`);
    const ack = ackModeOf(asked.headers.get("ack"));
    const snapshot = flagOf(asked, "snapshot");
    const subscription = new StompSubscription({ id, topic, ack, version: this.#version, session: this.#options.id });
    this.#state = { is: "subscribing", asked, subscription };
    return [{ type: "subscribe", subscription, snapshot }];
  }

  #unsubscribe(asked: Frame): Step[] {
    const byDestination = this.#version === "1.0" ? asked.headers.get("destination") : undefined;
    const id = asked.headers.get("id") ?? byDestination ?? required(asked, "id");
    const subscription = this.#subscriptions.get(id);
    if (!subscription) throw invalid("there is no subscription with this id");
    this.#subscriptions.delete(id);
    return [{ type: "unsubscribe", subscription }, ...receiptFor(asked)];
  }

  #acknowledge(asked: Frame): Step[] {
    if (asked.headers.has("transaction")) throw noTransactions();
    const id = required(asked, this.#version === "1.2" ? "id" : "message-id");
    const [, session, digits] = id.match(/^(.+)-([1-9]\d{0,15})$/) ?? [];
    const number = Number(digits);
    if (session !== this.#options.id || number > this.#messages) throw invalid("there was no message with this id");
    // Of one that nobody waits for (acknowledged before, or its subscription has ended meanwhile) nothing is to be done.
    for (const subscription of this.#subscriptions.values()) if (subscription.acknowledge(number)) break;
    return receiptFor(asked);
  }
}

function isConnect({ command }: Frame): boolean {
  return command === "CONNECT" || command === "STOMP";
}

function send(command: string, headers: Readonly<Record<string, string>>, body = ""): Step {
  return { type: "send", frame: frame(command, headers, Buffer.from(body)) };
}

function receiptFor({ headers }: Frame): Step[] {
  const receipt = headers.get("receipt");
  return receipt === undefined ? [] : [send("RECEIPT", { "receipt-id": receipt })];
}

function closeCode(code: GatewayErrorCode): number {
  const { status } = errorCatalogue[code];
  if (status >= 500) return INTERNAL_ERROR;
  return status === 401 || status === 403 || status === 429 ? POLICY_VIOLATION : PROTOCOL_ERROR;
}

/** `heart-beat:can,wants`; without it, neither. */
function beatsOf(text = "0,0"): { can: number; wants: number } {
  const [, can, wants] = text.match(/^(\d{1,10}),(\d{1,10})$/) ?? [];
  if (can === undefined || wants === undefined) throw invalid("heart-beat must be two numbers of milliseconds");
  return { can: Number(can), wants: Number(wants) };
}

/** Where browsers put it, which cannot send headers with a WebSocket. */
function tokenOf(headers: ReadonlyMap<string, string>): string | undefined {
  const authorization = headers.get("Authorization") ?? headers.get("authorization");
  return bearerOf(authorization) ?? (headers.get("passcode") || undefined);
}

function ackModeOf(text = "auto"): AckMode {
  const mode = ACK_MODES.find((each) => each === text);
  if (!mode) throw invalid(`ack must be one of ${ACK_MODES.join(", ")}`);
  return mode;
}

function flagOf({ headers }: Frame, name: string): boolean {
  const text = headers.get(name) ?? "false";
  if (text !== "true" && text !== "false") throw invalid(`${name} must be true or false`);
  return text === "true";
}

function required({ command, headers }: Frame, name: string): string {
  const value = headers.get(name);
  if (value === undefined) throw invalid(`a ${named(command)} must have the header ${name}`);
  return value;
}

/** Commands are told back only if they are commands: anything else may be a part of what should not be repeated. */
function named(command: string): string {
  return /^[A-Z]{1,12}$/.test(command) ? command : "frame";
}

function invalid(message: string): GatewayError {
  return new GatewayError("BERTH_BODY_INVALID", message);
}

function noTransactions(): GatewayError {
  const message =
    "transactions are not supported: nothing can be sent, and what is acknowledged is acknowledged at once";
  return new GatewayError("BERTH_METHOD_NOT_ALLOWED", message);
}
