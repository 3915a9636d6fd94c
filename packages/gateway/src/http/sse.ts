/** Server-sent events: all changes, for people who have nothing but `curl`. */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "@berth/kube";
import { whileAllowed } from "../auth/listening.ts";
import { type Change, type Feed, TOPICS, type Topic } from "../feed.ts";

/** What is to be told, and to whom. */
export interface StreamOptions {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly topics: readonly Topic[];
  /** First everything as it is. */
  readonly snapshot: boolean;
  /** Asked now and then; rejects if he may not listen any more. */
  readonly mustBeAllowed: () => Promise<void>;
}

const HEARTBEAT_MS = 15_000;
/** Whoever has so many bytes waiting for him does not listen. */
const LARGEST_BUFFER = 1024 * 1024;
const SNAPSHOT_PIECE = 500;

/** Until whoever listens has gone, is too slow, or may not listen any more. */
export function streamChanges(response: ServerResponse, options: StreamOptions): void {
  const { feed, clock, topics, snapshot, mustBeAllowed } = options;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
  response.write(": Berth\n\n");
  // The snapshot may be more than a slow listener's buffer: it is his own. So it does not count until he has read it.
  let unread = 0;
  const subscriptions = topics.map((topic) => {
    const subscription = feed.subscribe(topic, ({ json }: Change) => {
      response.write(`event: ${topic}\ndata: ${json}\n\n`);
      if (response.writableLength > LARGEST_BUFFER + unread) response.destroy();
    });
    if (snapshot) for (const text of snapshotOf(topic, subscription.snapshot)) response.write(text);
    return subscription;
  });
  unread = response.writableLength;
  response.on("drain", () => {
    unread = 0;
  });
  let sent = 0;
  let heartbeat: Timer;
  const beat = () => {
    heartbeat = clock.setTimer(HEARTBEAT_MS, () => {
      const { bytesWritten = 0, writableLength = 0 } = response.socket ?? {};
      const gone = bytesWritten - writableLength;
      // Nothing was taken since the last time, although there is something.
      if (response.writableLength > 0 && gone === sent) return void response.destroy();
      sent = gone;
      response.write(": still here\n\n");
      beat();
    });
  };
  beat();
  const asking = whileAllowed(clock, mustBeAllowed, () => response.end());
  response.on("close", () => {
    heartbeat.cancel();
    asking.cancel();
    for (const subscription of subscriptions) subscription.cancel();
  });
}

function* snapshotOf(topic: Topic, all: readonly unknown[]): Generator<string> {
  for (let at = 0; at === 0 || at < all.length; at += SNAPSHOT_PIECE) {
    const items = all.slice(at, at + SNAPSHOT_PIECE);
    const last = at + SNAPSHOT_PIECE >= all.length;
    yield `event: ${topic}\ndata: ${JSON.stringify({ type: "snapshot", items, last })}\n\n`;
  }
}

/** "jobs,slots", each once; nothing means all. `undefined` if there is something else in it. */
export function topicsIn(text = ""): Topic[] | undefined {
  if (text === "") return [...TOPICS];
  const named = new Set(text.split(","));
  const known = TOPICS.filter((topic) => named.delete(topic));
  return named.size === 0 ? known : undefined;
}
