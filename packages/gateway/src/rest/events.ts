/** REST: all changes, as server-sent events. */
import type { Clock } from "@berth/kube";
import { z } from "zod";
import { mustSee } from "../auth/listening.ts";
import type { Streams } from "../auth/streams.ts";
import { GatewayError } from "../errors.ts";
import { type Feed, TOPICS } from "../feed.ts";
import type { Route } from "../http/route.ts";
import { streamChanges, topicsIn } from "../http/sse.ts";

const query = z.strictObject({
  topics: z
    .string()
    .max(100)
    .optional()
    .describe(`Some of ${TOPICS.join(",")}. Default: all.`),
  snapshot: z.boolean().optional().describe("true: first everything as it is. Default: false."),
});

/** The stream of changes. @param clock - Of the world outside, for the signs of life. */
export function eventRoutes(feed: Feed, clock: Clock, streams: Streams): Route[] {
  return [
    {
      ...{ method: "GET", path: "/v1/events", tag: "events", summary: "All changes, as they happen", query },
      description:
        "Server-sent events: `curl -N`. The event is the topic; its data is JSON: type (added, changed, removed), name and object. With a snapshot the first have the type snapshot, items, and last: true on the last one of the topic. A comment comes every 15 s if nothing else does. Whoever was cut off begins anew with a snapshot.",
      answer: { status: 200, description: "Events, without end.", type: "text/event-stream" },
      rights: [],
      handle: async ({ query, may, user, signal }) => {
        const { topics: named, snapshot = false } = query as { topics?: string; snapshot?: boolean };
        const topics = topicsIn(named);
        if (!topics) throw new GatewayError("BERTH_BODY_INVALID", `query.topics: must be some of ${TOPICS.join(",")}`);
        const mustBeAllowed = () => mustSee(user, topics, may);
        await mustBeAllowed();
        signal.throwIfAborted(); // whoever has gone meanwhile would never be heard to go
        const close = streams.open(user.name);
        return {
          stream: (response) => {
            response.on("close", close);
            streamChanges(response, { feed, clock, topics, snapshot, mustBeAllowed });
          },
        };
      },
    },
  ];
}
