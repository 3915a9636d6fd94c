/** One STOMP subscription: what its messages look like, and which of them have not been acknowledged. */
import type { Topic } from "../feed.ts";
import { headerText, type Version, withBody } from "./frame.ts";

/** How a client says that it has got a message: not at all, all up to one, or each. */
export const ACK_MODES = ["auto", "client", "client-individual"] as const;
/** One of them. */
export type AckMode = (typeof ACK_MODES)[number];

/** What a client asks for. */
export interface StompSubscriptionOptions {
  /** As the client calls it; in 1.0, where it need not have a name, its destination. */
  readonly id: string;
  readonly topic: Topic;
  readonly ack: AckMode;
  readonly version: Version;
  /** What all message-ids of the connection begin with. */
  readonly session: string;
}

/** Where a topic is found. */
export function destinationOf(topic: Topic): string {
  return `/topic/${topic}`;
}

/** What a client has subscribed to. */
export class StompSubscription {
  readonly id: string;
  readonly topic: Topic;
  readonly ack: AckMode;
  readonly #session: string;
  /** The headers that are the same in all of its messages. */
  readonly #head: string;
  /** Numbers of messages, the oldest first. */
  readonly #unacknowledged = new Set<number>();

  constructor({ id, topic, ack, version, session }: StompSubscriptionOptions) {
    this.id = id;
    this.topic = topic;
    this.ack = ack;
    this.#session = session;
    const destination = headerText(destinationOf(topic), version);
    this.#head =
      `MESSAGE\nsubscription:${headerText(id, version)}\ndestination:${destination}\n` +
      `content-type:application/json\nmessage-id:${session}-`;
  }

  /** How many messages have not been acknowledged. */
  get unacknowledged(): number {
    return this.#unacknowledged.size;
  }

  /**
   * A MESSAGE as it is sent.
   *
   * @param number - No other message of this connection has it.
   */
  message(number: number, body: Buffer): Buffer {
    let head = `${this.#head}${number}\n`;
    if (this.ack !== "auto") {
      this.#unacknowledged.add(number);
      head += `ack:${this.#session}-${number}\n`;
    }
    return withBody(`${head}content-length:${body.length}\n\n`, body);
  }

  /** ACK or NACK. Whether the message is one of those that wait for it. */
  acknowledge(number: number): boolean {
    if (!this.#unacknowledged.delete(number)) return false;
    if (this.ack === "client") {
      for (const earlier of this.#unacknowledged) {
        if (earlier > number) break;
        this.#unacknowledged.delete(earlier);
      }
    }
    return true;
  }
}
