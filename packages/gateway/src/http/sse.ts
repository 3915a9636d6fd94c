/** Server-sent events: all changes, for people who have nothing but `curl`. */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "@berth/kube";
import { type Change, type Feed, TOPICS, type Topic } from "../feed.ts";

export interface StreamOptions {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly topics: readonly Topic[];
  /** First everything as it is. */
  readonly snapshot: boolean;
}

const HEARTBEAT_MS = 15_000;
/** Whoever has so much waiting for him does not listen. */
const LARGEST_BUFFER = 1024 * 1024;
const SNAPSHOT_PIECE = 500;

/** Until whoever listens has gone, or is too slow. */
export function streamChanges(response: ServerResponse, { feed, clock, topics, snapshot }: StreamOptions): void {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  const send = (event: string, data: string) => {
    response.write(`event: ${event}\ndata: ${data}\n\n`);
    if (response.writableLength > LARGEST_BUFFER) response.destroy();
  };
  const onChange = ({ topic, json }: Change) => send(topic, json);
  response.write(": Berth\n\n");
  const subscriptions = topics.map((topic) => {
    const subscription = feed.subscribe(topic, onChange);
    for (let at = 0; snapshot && (at === 0 || at < subscription.snapshot.length); at += SNAPSHOT_PIECE) {
      const items = subscription.snapshot.slice(at, at + SNAPSHOT_PIECE);
      const last = at + SNAPSHOT_PIECE >= subscription.snapshot.length;
      // What is asked for at once may be more than a slow listener's buffer: it is his own.
      response.write(`event: ${topic}\ndata: ${JSON.stringify({ type: "snapshot", items, last })}\n\n`);
    }
    return subscription;
  });
  let heartbeat: Timer;
  const beat = () => {
    heartbeat = clock.setTimer(HEARTBEAT_MS, () => {
      response.write(": still here\n\n");
      beat();
    });
  };
  beat();
  response.on("close", () => {
    heartbeat.cancel();
    for (const subscription of subscriptions) subscription.cancel();
  });
}

/** "jobs,slots"; nothing means all. */
export function topicsIn(text: string | undefined): Topic[] | undefined {
  if (text === undefined || text === "") return [...TOPICS];
  const named = text.split(",");
  return named.every((each) => (TOPICS as readonly string[]).includes(each)) ? (named as Topic[]) : undefined;
}
