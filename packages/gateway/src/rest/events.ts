/** REST: all changes, as server-sent events. */
import type { Clock } from "@berth/kube";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import { type Feed, TOPICS, type Topic } from "../feed.ts";
import type { Right, Route } from "../http/route.ts";
import { streamChanges, topicsIn } from "../http/sse.ts";

const RESOURCES: Readonly<Record<Topic, string>> = {
  jobs: "batchjobs",
  schedulings: "schedulings",
  testbeds: "testbeds",
  slots: "slots",
};

/** What somebody must be allowed to do who listens to a topic. */
export function rightToSee(topic: Topic): Right {
  return { verb: "watch", resource: RESOURCES[topic] };
}

const query = z.strictObject({
  topics: z
    .string()
    .max(100)
    .optional()
    .describe(`Some of ${TOPICS.join(",")}. Default: all.`),
  snapshot: z.boolean().optional().describe("true: first everything as it is. Default: false."),
});

/** The stream of changes. @param clock - Of the world outside, for the signs of life. */
export function eventRoutes(feed: Feed, clock: Clock): Route[] {
  return [
    {
      ...{ method: "GET", path: "/v1/events", tag: "events", summary: "All changes, as they happen", query },
      description:
        "Server-sent events: `curl -N`. The event is the topic; its data is JSON: type (added, changed, removed), name and object. With a snapshot the first have the type snapshot, items, and last: true on the last one of the topic. A comment comes every 15 s if nothing else does. Whoever was cut off begins anew with a snapshot.",
      answer: { status: 200, description: "Events, without end.", type: "text/event-stream" },
      rights: [],
      handle: async ({ query, may, user }) => {
        const { topics: named, snapshot = false } = query as { topics?: string; snapshot?: boolean };
        const topics = topicsIn(named);
        if (!topics) throw new GatewayError("BERTH_BODY_INVALID", `query.topics: must be some of ${TOPICS.join(",")}`);
        for (const topic of topics) {
          const { verb, resource } = rightToSee(topic);
          if (await may(rightToSee(topic))) continue;
          throw new GatewayError("BERTH_FORBIDDEN", `${user.name} may not ${verb} ${resource}.berth.dev`);
        }
        const mayStill = async () => (await Promise.all(topics.map((topic) => may(rightToSee(topic))))).every(Boolean);
        return { stream: (response) => streamChanges(response, { feed, clock, topics, snapshot, mayStill }) };
      },
    },
  ];
}
