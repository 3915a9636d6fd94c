/** Server-sent events, on the embedded cluster, as curl would read them. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { VirtualClock, WallClock } from "@berth/kube";
import { Slot } from "@berth/model";
import { describe, expect, it } from "vitest";
import { Streams } from "../auth/streams.ts";
import { GatewayError } from "../errors.ts";
import type { Change, Feed } from "../feed.ts";
import type { Asked } from "../http/route.ts";
import { streamChanges, topicsIn } from "../http/sse.ts";
import { RawClient } from "../stomp/testing/raw-client.ts";
import { type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";
import { eventRoutes } from "./events.ts";

interface Told {
  readonly event: string;
  readonly data: {
    type: string;
    name?: string;
    items?: { name: string }[];
    last?: boolean;
    object?: Record<string, unknown>;
  };
}

/** Reads a stream event by event. */
async function* events(world: Embedded, query = ""): AsyncGenerator<Told> {
  const over = new AbortController();
  const response = await fetch(`${world.gateway.url}/v1/events${query}`, { signal: over.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  let text = "";
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (event) yield { event, data: JSON.parse(data) };
      }
    }
  } finally {
    over.abort();
  }
}

async function first(stream: AsyncGenerator<Told>, isMeant: (told: Told) => boolean): Promise<Told[]> {
  const seen: Told[] = [];
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    seen.push(next.value);
    if (isMeant(next.value)) return seen;
  }
  throw new Error("the stream has ended");
}

describe("a stream of changes", () => {
  it("R16 tells of every change of every kind, as REST shows it", async () => {
    await using world = await startEmbedded({ clock: new VirtualClock() });
    const stream = events(world, "?snapshot=true");
    const begin = await first(stream, ({ event }) => event === "slots");
    expect(begin.map(({ event, data }) => `${event} ${data.type} ${data.items?.length} ${data.last}`)).toEqual([
      "jobs snapshot 0 true",
      "schedulings snapshot 0 true",
      "testbeds snapshot 1 true",
      "slots snapshot 4 true",
    ]);
    await world.ask("POST", "/v1/jobs", jobManifest("pi", 5));
    const spec = { testbed: { name: "main" }, slotBased: [{ name: "pi", slots: [1] }] };
    await world.ask("POST", "/v1/schedulings", { metadata: { name: "one" }, spec });
    const seen = await first(stream, ({ data }) => data.name === "pi" && data.object?.phase === "Completed");
    await world.ask("DELETE", "/v1/jobs/pi");
    seen.push(...(await first(stream, ({ data }) => data.type === "removed" && data.name === "pi")));
    const jobs = seen.filter(({ event }) => event === "jobs");
    expect(jobs[0]?.data).toMatchObject({ type: "added", name: "pi", object: { waiting: true, phase: "Ready" } });
    const phases = jobs.map(({ data }) => data.object?.phase);
    expect(phases.filter((phase, index) => phase !== phases[index - 1])).toEqual(
      expect.arrayContaining(["Ready", "Running", "Completed"]),
    );
    expect(new Set(seen.map(({ event }) => event))).toEqual(new Set(["jobs", "schedulings", "testbeds", "slots"]));
    // None twice: what is told is never what was told before.
    for (const topic of ["jobs", "slots"]) {
      const told = seen.filter(({ event }) => event === topic).map(({ data }) => JSON.stringify(data));
      expect(new Set(told).size, topic).toBe(told.length);
    }
    await stream.return(undefined);
  });

  it("R16 begins with everything as it is if that is wanted, and is about the topics that are wanted", async () => {
    await using world = await startEmbedded({ clock: new VirtualClock() });
    for (const name of ["a", "b"]) await world.ask("POST", "/v1/jobs", jobManifest(name, 5));
    const stream = events(world, "?topics=jobs,jobs&snapshot=true");
    const [begin] = await first(stream, () => true);
    expect(begin).toMatchObject({ event: "jobs", data: { items: [{ name: "a" }, { name: "b" }], last: true } });
    await stream.return(undefined);
    for (const query of ["topics=jobs,nodes", "topics=a", "snapshot=maybe", "since=3"]) {
      const { status, body } = await world.ask("GET", `/v1/events?${query}`);
      expect([status, body.code], query).toEqual([400, "BERTH_BODY_INVALID"]);
    }
  });

  it("R17 tells also what comes from other objects: a job that somebody is about to take does not wait", async () => {
    // There is no such testbed, so the operator leaves the job as it is.
    await using world = await startEmbedded({ clock: new VirtualClock() });
    await world.ask("POST", "/v1/jobs", jobManifest("wanted", 5));
    const stream = events(world, "?topics=jobs&snapshot=true");
    const waiting = (told: Told) => told.data.object?.waiting;
    await first(stream, ({ data }) => data.type === "snapshot");
    const spec = { testbed: { name: "elsewhere" }, queueBased: [{ name: "wanted" }] };
    await world.ask("POST", "/v1/schedulings", { metadata: { name: "far" }, spec });
    const taken = await first(stream, (told) => waiting(told) === false);
    expect(taken.at(-1)?.data).toMatchObject({ type: "changed", name: "wanted" });
    await world.ask("DELETE", "/v1/schedulings/far");
    const free = await first(stream, (told) => waiting(told) === true);
    expect(free.at(-1)?.data).toMatchObject({ type: "changed", name: "wanted" });
    await stream.return(undefined);
  });
});

describe("streams of one user", () => {
  it("H18 are limited, STOMP and events together, and may be others when some have ended", async () => {
    await using world = await startEmbedded({ clock: new VirtualClock(), gateway: { limits: { streams: 2 } } });
    const stream = events(world, "?snapshot=true");
    await first(stream, () => true);
    const stomp = await RawClient.connect(`${world.gateway.url.replace("http", "ws")}/v1/stomp`);
    const { status, body } = await world.ask("GET", "/v1/events");
    expect([status, body.code]).toEqual([429, "BERTH_TOO_MANY_STREAMS"]);
    stomp.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs" });
    await stomp.heard("ERROR", { code: "BERTH_TOO_MANY_STREAMS" });
    await stomp.closed();
    await stream.return(undefined);
    const over = new AbortController();
    for (let open = 0; open < 2; open++) {
      await eventually(async () => (await fetch(`${world.gateway.url}/v1/events`, { signal: over.signal })).ok);
    }
    expect((await world.ask("GET", "/v1/events")).status).toBe(429);
    over.abort();
  });
});

describe("whose a testbed is", () => {
  it.each([
    ["in the world's time", () => new WallClock()],
    ["in virtual time", () => new VirtualClock()],
  ])("R17 is told when a scheduler takes it and gives it back, %s", async (_, clock) => {
    await using world = await startEmbedded({ clock: clock() });
    const stream = events(world, "?topics=testbeds&snapshot=true");
    await first(stream, ({ data }) => data.type === "snapshot");
    await world.ask("POST", "/v1/schedulers/fifo/turn", { testbed: "main" });
    const taken = await first(stream, ({ data }) => data.object?.scheduler === "fifo");
    expect(taken.at(-1)?.data).toMatchObject({ type: "changed", name: "main" });
    await world.ask("DELETE", "/v1/schedulers/fifo?testbed=main");
    const free = await first(stream, ({ data }) => data.object !== undefined && !("scheduler" in data.object));
    expect(free.at(-1)?.data).toMatchObject({ type: "changed", name: "main" });
    await stream.return(undefined);
  });

  it("R17 is told when a scheduler has thought for too long in virtual time", async () => {
    await using world = await startEmbedded({ clock: new VirtualClock(), gateway: { thinkSeconds: 0.1 } });
    const stream = events(world, "?topics=testbeds&snapshot=true");
    await first(stream, ({ data }) => data.type === "snapshot");
    await world.ask("POST", "/v1/schedulers/fifo/turn", { testbed: "main" });
    await first(stream, ({ data }) => data.object?.scheduler === "fifo");
    await first(stream, ({ data }) => data.object !== undefined && !("scheduler" in data.object));
    await stream.return(undefined);
  });
});

describe("how it stands with slots", () => {
  interface Shown {
    readonly id: number;
    readonly state: string;
    readonly job?: string;
  }
  const words = ({ id, state, job }: Shown) => `${id} ${state}${job === undefined ? "" : ` ${job}`}`;

  it("R22 is the same in turns, REST, events and STOMP, before anything was placed", async () => {
    await using world = await startEmbedded({ clock: new VirtualClock() });
    await world.ask("POST", "/v1/jobs", jobManifest("pi", 5));
    const turn = (more: object) =>
      world.ask("POST", "/v1/schedulers/fifo/turn", { testbed: "main", ...more }).then(({ body }) => body);
    const { turn: after } = await turn({});
    const stream = events(world, "?topics=testbeds,slots&snapshot=true");
    await first(stream, ({ event }) => event === "slots");
    // One that cannot be has the answer come at once: the clock stands still, and nobody is put anywhere.
    const decisions = [
      { job: "pi", slots: [1, 2] },
      { job: "nobody", slots: [0] },
    ];
    const { slots } = await turn({ after, decisions });
    const told: string[] = slots.map(words);
    expect(told).toEqual(["0 free", "1 reserved pi", "2 reserved pi", "3 free"]);
    const { items } = (await world.ask("GET", "/v1/testbeds/main/slots")).body;
    expect(items.map(words)).toEqual(told);
    const counts = { total: 4, free: 2, reserved: 2, occupied: 0, unavailable: 0 };
    expect((await world.ask("GET", "/v1/testbeds/main")).body.slots).toEqual(counts);
    const { testbeds } = (await world.ask("GET", "/v1/jobs/pi/explain")).body;
    expect(testbeds).toMatchObject([{ name: "main", free: 2, total: 4 }]);
    const stomp = await RawClient.connect(`${world.gateway.url.replace("http", "ws")}/v1/stomp`);
    stomp.say("SUBSCRIBE", { id: "1", destination: "/topic/slots", snapshot: "true" });
    const { body } = await stomp.heard("MESSAGE");
    expect(
      JSON.parse(body.toString())
        .items.sort((a: Shown, b: Shown) => a.id - b.id)
        .map(words),
    ).toEqual(told);
    stomp.webSocket.terminate();
    const seen = await first(stream, ({ event }) => event === "testbeds");
    expect(seen.map(({ event, data }) => `${event} ${data.type}`)).toEqual([
      "slots changed",
      "slots changed",
      "testbeds changed",
    ]);
    expect(seen.slice(0, 2).map(({ data }) => words(data.object as unknown as Shown))).toEqual(told.slice(1, 3));
    expect(seen[2]?.data.object?.slots).toEqual(counts);
    const { items: states } = await world.sim.client.list(Slot, { namespace: "default" });
    expect(states.map(({ status }) => status?.state)).toEqual(["free", "free", "free", "free"]); // which is what lags
    await stream.return(undefined);
  });
});

describe("a listener", () => {
  const change = { topic: "jobs", type: "changed", name: "x", json: JSON.stringify("x".repeat(300_000)) };

  /** A response that nobody reads, unless somebody does. */
  function listener(snapshot: readonly unknown[], mustBeAllowed = async () => {}) {
    const clock = new VirtualClock();
    const response = Object.assign(new PassThrough({ highWaterMark: 1 }), {
      writeHead: () => {},
      socket: { bytesWritten: 0, writableLength: 0 },
    });
    let tell: (change: Change) => void = () => {};
    let cancelled = 0;
    const feed: Feed = {
      subscribe: (_, onChange) => {
        tell = onChange;
        return { snapshot, cancel: () => void cancelled++ };
      },
    };
    streamChanges(response as unknown as ServerResponse, {
      ...{ feed, clock, topics: ["jobs"], snapshot: true, mustBeAllowed },
    });
    return { clock, response, tell: () => tell(change as Change), cancelled: () => cancelled };
  }

  it("R20 is cut off when he does not read what changes", async () => {
    const { response, tell, cancelled } = listener([]);
    for (let index = 0; index < 3; index++) tell();
    expect(response.destroyed).toBe(false);
    tell();
    expect(response.destroyed).toBe(true);
    await once(response, "close");
    expect(cancelled()).toBe(1);
  });

  it("R20 may have a snapshot of any size, and is not cut off for it", async () => {
    const { response, tell } = listener(Array.from({ length: 2000 }, () => "x".repeat(1000)));
    tell();
    expect(response.destroyed).toBe(false);
    for (let index = 0; index < 3; index++) tell();
    expect(response.destroyed).toBe(true); // but he has to read as well
  });

  it("R20 is cut off when he has taken nothing for long, and hears a sign of life if he has", async () => {
    const stalled = listener(["x"]);
    await stalled.clock.advance(15_000);
    expect(stalled.response.destroyed).toBe(true);
    const { response, clock } = listener([]);
    let text = "";
    response.on("data", (chunk) => {
      text += chunk;
    });
    for (let index = 0; index < 4; index++) await clock.advance(15_000);
    expect(response.destroyed).toBe(false);
    expect(text.match(/: still here\n\n/g)).toHaveLength(4);
  });

  it("A7 is told nothing more when he may not listen any more", async () => {
    let isAllowed = true;
    const { response, clock } = listener([], async () => {
      if (!isAllowed) throw new GatewayError("BERTH_FORBIDDEN", "not any more");
    });
    response.resume();
    await clock.advance(30_000);
    expect(response.writableEnded).toBe(false);
    isAllowed = false;
    await clock.advance(15_000);
    expect(response.writableEnded).toBe(true);
  });

  it("H18 that has gone before it could begin is not counted, and nobody tells him anything", async () => {
    let subscribed = 0;
    const feed: Feed = {
      subscribe: () => {
        subscribed++;
        return { snapshot: [], cancel: () => {} };
      },
    };
    const streams = new Streams(1);
    const [route] = eventRoutes(feed, new VirtualClock(), streams);
    const asked = { query: {}, may: async () => true, user: { name: "ann", groups: [] } };
    const gone = route?.handle({ ...asked, signal: AbortSignal.abort(new Error("gone")) } as unknown as Asked);
    await expect(gone).rejects.toThrow("gone");
    streams.open("ann");
    expect(subscribed).toBe(0);
  });

  it("R16 names topics once each, and only those that there are", () => {
    expect(topicsIn(undefined)).toEqual(["jobs", "schedulings", "testbeds", "slots"]);
    expect(topicsIn("slots,jobs,slots")).toEqual(["jobs", "slots"]);
    for (const text of ["nodes", "jobs,", "jobs, slots", "JOBS"]) expect(topicsIn(text), text).toBeUndefined();
  });
});
