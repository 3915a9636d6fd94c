/** Server-sent events, on the embedded cluster, as curl would read them. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { VirtualClock, WallClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { Change, Feed } from "../feed.ts";
import { streamChanges, topicsIn } from "../http/sse.ts";
import { type Embedded, jobManifest, startEmbedded } from "../testing/embedded.ts";

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

describe("whose a testbed is", () => {
  it("R17 is told when a scheduler takes it and gives it back", async () => {
    await using world = await startEmbedded({ clock: new WallClock() });
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
});

describe("a listener", () => {
  const change = { topic: "jobs", type: "changed", name: "x", object: {}, json: JSON.stringify("x".repeat(300_000)) };

  /** A response that nobody reads, unless somebody does. */
  function listener(snapshot: readonly unknown[], mayStill = async () => true) {
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
      ...{ feed, clock, topics: ["jobs"], snapshot: true, mayStill },
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

  it("A7 is told nothing more when he may not listen any more; if that cannot be found out, he may", async () => {
    const answers = [() => true, () => Promise.reject(new Error("no answer")), () => false];
    const { response, clock } = listener([], async () => (answers.shift() as () => boolean)());
    response.resume();
    await clock.advance(30_000);
    expect(response.writableEnded).toBe(false);
    await clock.advance(15_000);
    expect(response.writableEnded).toBe(true);
  });

  it("R16 names topics once each, and only those that there are", () => {
    expect(topicsIn(undefined)).toEqual(["jobs", "schedulings", "testbeds", "slots"]);
    expect(topicsIn("slots,jobs,slots")).toEqual(["jobs", "slots"]);
    for (const text of ["nodes", "jobs,", "jobs, slots", "JOBS"]) expect(topicsIn(text), text).toBeUndefined();
  });
});
