import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { eventually } from "./eventually.ts";
import { FaultServer } from "./fault-server.ts";
import { RawClient, THINGS } from "./raw-client.ts";
import { namesOf, Thing, thing } from "./things.ts";

let clock: VirtualClock;
let server: FaultServer;
let client: RawClient;
beforeEach(async () => {
  clock = new VirtualClock();
  server = await FaultServer.start({ clock, random: new SeededRandom("server") });
  client = new RawClient(server.url);
});
afterEach(() => server.stop());

/** Writes straight to the model, as somebody else would. */
const put = (...names: string[]) => names.map((name) => server.model.create(Thing, thing(name)));

describe("faults of any request", () => {
  it("status: refuses, and carries nothing out", async () => {
    server.fault({ verb: "create" }, { type: "status", code: 429, retryAfter: 3 });
    server.fault({ verb: "create" }, { type: "status", code: 503, bare: true });
    expect(await client.create("a")).toMatchObject({
      code: 429,
      headers: { "retry-after": "3" },
      body: { kind: "Status", reason: "TooManyRequests", details: { retryAfterSeconds: 3 } },
    });
    const bare = await client.open("POST", THINGS, { body: thing("a") });
    expect([bare.statusCode, bare.headers["content-type"]]).toEqual([503, "text/plain; charset=utf-8"]);
    expect(server.model.list(Thing).items).toEqual([]);
    expect(server.faultsLeft).toBe(0);
  });

  it("reset: before the request has been carried out, or after", async () => {
    server.fault({ verb: "create" }, { type: "reset" });
    await expect(client.create("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(server.model.list(Thing).items).toEqual([]);
    server.fault({ verb: "create" }, { type: "reset", executed: true });
    await expect(client.create("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await client.create("a")).toMatchObject({ code: 409, body: { reason: "AlreadyExists" } });
  });

  it("silence: neither answers nor carries anything out", async () => {
    server.fault({ verb: "create" }, { type: "silence" });
    const abort = new AbortController();
    const unanswered = client.call("POST", THINGS, { body: thing("a"), signal: abort.signal });
    const settled = vi.fn();
    unanswered.then(settled, settled);
    await eventually(() => expect(server.requests).toHaveLength(1));
    expect(namesOf((await client.list()).body)).toEqual([]);
    expect(settled).not.toHaveBeenCalled();
    abort.abort();
    await expect(unanswered).rejects.toThrow("aborted");
  });

  it("cut: ends the connection inside the answer", async () => {
    server.fault({ verb: "create" }, { type: "cut" });
    const response = await client.open("POST", THINGS, { body: thing("a") });
    await expect(text(response)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(server.model.list(Thing).items).toHaveLength(1);
  });

  it("garbage: answers with something else than JSON", async () => {
    server.fault({ verb: "list" }, { type: "garbage" });
    await expect(client.list()).rejects.toThrow(SyntaxError);
  });

  it("slow: sends a few bytes at a time, and loses none", async () => {
    server.model.create(Thing, thing("a", { spec: { colour: "ü€🚢".repeat(50) } }));
    server.fault({ verb: "list" }, { type: "slow" });
    const response = await client.open("GET", THINGS);
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(response, "end");
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(16);
    expect(chunks.some((chunk) => chunk.toString().includes("\ufffd"))).toBe(true);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual((await client.list()).body);
  });
});

describe("faults of watches", () => {
  it("status, reset, silence: as of any request", async () => {
    server.script([
      { verb: "watch", fault: { type: "status", code: 500 } },
      { verb: "watch", fault: { type: "reset" } },
      { verb: "watch", fault: { type: "silence" } },
    ]);
    expect(await client.call("GET", `${THINGS}?watch=1`)).toMatchObject({ code: 500 });
    await expect(client.watch()).rejects.toMatchObject({ code: "ECONNRESET" });
    const abort = new AbortController();
    const unanswered = client.open("GET", `${THINGS}?watch=1`, { signal: abort.signal });
    await eventually(() => expect(server.faultsLeft).toBe(0));
    abort.abort();
    await expect(unanswered).rejects.toThrow("aborted");
  });

  it("cut: ends the connection inside the line after so many events", async () => {
    server.fault({ verb: "watch" }, { type: "cut", after: 2 });
    put("a", "b");
    const cut = await client.watch();
    await cut.sees("ADDED a", "ADDED b");
    put("c");
    expect(await cut.ending).toBe("broken");
    expect(cut.seen()).toEqual(["ADDED a", "ADDED b"]);
    expect(cut.fragment()).toMatch(/^\{"type":"ADDED".*[^}]$/);
  });

  it("end: ends after so many events, the bookmark after a list counted, those by the clock not", async () => {
    server.fault({ verb: "watch" }, { type: "end", after: 3 });
    put("a");
    const query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const ended = await client.watch(query);
    await ended.sees("ADDED a", "BOOKMARK 2 end");
    await clock.advance(500);
    put("b", "c");
    expect(await ended.ending).toBe("ended");
    expect(ended.seen()).toEqual(["ADDED a", "BOOKMARK 2 end", "BOOKMARK 2", "ADDED b"]);
  });

  it.each([410, 500])("error: ends with an event of type ERROR and code %i", async (code) => {
    server.fault({ verb: "watch" }, { type: "error", code, after: 1 });
    put("a", "b");
    const failed = await client.watch();
    expect(await failed.ending).toBe("ended");
    expect(failed.seen()).toEqual(["ADDED a", `ERROR ${code}`]);
  });

  it("silence: tells nothing more after so many events, and stays open", async () => {
    server.fault({ verb: "watch" }, { type: "silence", after: 1 });
    put("a", "b");
    const silent = await client.watch("&allowWatchBookmarks=1&timeoutSeconds=1");
    await silent.sees("ADDED a");
    const other = await client.watch("&allowWatchBookmarks=1&timeoutSeconds=1");
    put("c");
    await clock.advance(1000);
    expect(await other.ending).toBe("ended");
    expect(silent.seen()).toEqual(["ADDED a"]);
    expect(server.openWatches).toBe(1);
  });

  it("double: tells everything twice", async () => {
    server.fault({ verb: "watch" }, { type: "double" });
    put("a");
    const doubled = await client.watch(
      "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    );
    put("b");
    const twice = ["ADDED a", "BOOKMARK 2 end", "ADDED b"].flatMap((event) => [event, event]);
    await doubled.sees(...twice);
  });

  it("swap: tells two events the other way round, in one piece", async () => {
    server.fault({ verb: "watch" }, { type: "swap" });
    const swapped = await client.watch();
    put("a", "b", "c", "d");
    await swapped.sees("ADDED b", "ADDED a", "ADDED d", "ADDED c");
    expect(swapped.chunks).toHaveLength(2);
  });

  it("swap: holds an event back no longer than until the next bookmark, the end, or for a while", async () => {
    server.fault({ verb: "watch", count: 2 }, { type: "swap" });
    const marked = await client.watch("&allowWatchBookmarks=1");
    const plain = await client.watch("&timeoutSeconds=1");
    await clock.advance(400);
    put("a");
    await clock.advance(100);
    await marked.sees("ADDED a", "BOOKMARK 2");
    await clock.advance(400);
    await plain.sees("ADDED a");
    put("b");
    await clock.advance(100);
    expect(await plain.ending).toBe("ended");
    expect(plain.seen()).toEqual(["ADDED a", "ADDED b"]);
  });

  it("slow: sends a few bytes at a time, and loses none", async () => {
    server.fault({ verb: "watch" }, { type: "slow" });
    put("a", "b");
    const slow = await client.watch("&timeoutSeconds=1");
    put("c");
    await clock.advance(1000);
    expect(await slow.ending).toBe("ended");
    expect(slow.seen()).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
    expect(slow.chunks.length).toBeGreaterThan(20);
  });

  it("garbage: tells something that is no JSON, and goes on", async () => {
    server.fault({ verb: "watch" }, { type: "garbage", after: 1 });
    const spoilt = await client.watch();
    put("a", "b");
    await spoilt.sees("ADDED a", "garbage", "ADDED b");
  });
});

describe("scripts", () => {
  it("wait for the requests that they are about, in their order", async () => {
    server.script([
      { verb: ["get", "list"], plural: "things", fault: { type: "none" } },
      { verb: "list", count: 2, fault: { type: "status", code: 500 } },
      { fault: { type: "end" } },
      { fault: { type: "status", code: 503 } },
    ]);
    server.fault({ plural: "others", count: Number.POSITIVE_INFINITY }, { type: "status", code: 504 });
    const codes: (number | undefined)[] = [];
    for (let round = 0; round < 4; round++) codes.push((await client.list()).code);
    for (let round = 0; round < 2; round++) codes.push((await client.call("GET", "/api/v1/others")).code);
    expect(codes).toEqual([200, 500, 500, 200, 504, 504]);
    expect(await (await client.watch()).ending).toBe("ended");
    expect(await client.create("a")).toMatchObject({ code: 503 });
    const happened = server.requests.map(({ fault }) => fault?.type);
    expect(happened).toEqual(["none", "status", "status", undefined, "status", "status", "end", "status"]);
    server.heal();
    expect(await client.call("GET", "/api/v1/others")).toMatchObject({ code: 200 });
  });
});

describe("chance", () => {
  it("lets things happen at the rate that it is given, until the server is healed", async () => {
    server.randomFaults(new SeededRandom("some"), { rate: 0.5, types: ["status", "slow"] });
    for (let round = 0; round < 40; round++) await client.open("GET", THINGS);
    expect(new Set(server.requests.map(({ fault }) => fault?.type))).toEqual(new Set([undefined, "status", "slow"]));
    server.heal();
    for (let round = 0; round < 5; round++) expect(await client.list()).toMatchObject({ code: 200 });
  });
});
