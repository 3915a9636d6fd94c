import { VirtualClock } from "@berth/kube";
import { describe, expect, it, vi } from "vitest";
import { Bodies } from "./bodies.ts";
import { type Frame, FrameParser } from "./frame.ts";
import { Outbox, type OutboxLimits } from "./outbox.ts";
import { type AckMode, StompSubscription } from "./subscription.ts";
import { FakeFeed } from "./testing/fake-feed.ts";

/** Somebody who reads when told to. */
class FakeSink {
  bufferedAmount = 0;
  readonly frames: Frame[] = [];
  readonly #waiting: { bytes: Buffer; taken: (() => void) | undefined }[] = [];

  send(bytes: Buffer, taken?: () => void): void {
    this.bufferedAmount += bytes.length;
    this.#waiting.push({ bytes, taken });
  }

  /** Reads all that was sent so far. */
  read(): void {
    for (const { bytes, taken } of this.#waiting.splice(0)) {
      this.bufferedAmount -= bytes.length;
      const parser = new FrameParser({ body: 1e9 });
      parser.push(bytes);
      this.frames.push(parser.next() as Frame);
      taken?.();
    }
  }

  get bodies(): unknown[] {
    return this.frames.map(({ body }) => JSON.parse(body.toString()) as unknown);
  }
}

function setUp(limits: Partial<OutboxLimits> = {}) {
  const clock = new VirtualClock();
  const feed = new FakeFeed();
  const sink = new FakeSink();
  const bodies = new Bodies();
  const tooSlow = vi.fn<(why: string) => void>();
  let number = 0;
  const outbox = new Outbox({
    feed,
    bodies,
    clock,
    sink,
    limits: { sendBuffer: 1000, held: 500, unacknowledged: 10, patience: 10_000, ...limits },
    message: (subscription, body) => subscription.message(++number, body),
    tooSlow,
  });
  const open = (snapshot: boolean, ack: AckMode = "auto") => {
    const subscription = new StompSubscription({ id: "é", topic: "jobs", ack, version: "1.2", session: "s" });
    outbox.open(subscription, { snapshot });
    return subscription;
  };
  /** Lets the other side read for so long. */
  const reading = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 10) {
      sink.read();
      await clock.advance(10);
    }
    sink.read();
  };
  return { clock, feed, sink, bodies, tooSlow, outbox, open, reading };
}

const nameOf = (body: unknown) => (body as { name: string }).name;

describe("an outbox", () => {
  it("S21 sends a snapshot in pages, and then every change since, in order", async () => {
    const { clock, feed, sink, open, reading, tooSlow } = setUp();
    for (let index = 0; index < 1100; index++) feed.put("jobs", `j${index}`);
    open(true);
    feed.put("jobs", "new");
    await clock.advance(5);
    feed.put("jobs", "j0", { again: true });
    await reading(100);
    const [first, second, third, ...changes] = sink.bodies as { type: string; items: unknown[]; last: boolean }[];
    expect([first, second, third].map((page) => [page?.type, page?.items.length, page?.last])).toEqual([
      ["snapshot", 500, false],
      ["snapshot", 500, false],
      ["snapshot", 100, true],
    ]);
    expect([first, second, third].flatMap((page) => page?.items.map(nameOf))).toEqual(
      Array.from({ length: 1100 }, (_, index) => `j${index}`),
    );
    expect(changes.map(nameOf)).toEqual(["new", "j0"]);
    feed.put("jobs", "later");
    sink.read();
    expect(nameOf(sink.bodies.at(-1))).toBe("later");
    expect(tooSlow).not.toHaveBeenCalled();
    expect(clock.pending).toBe(0);
  });

  it("S21 sends an empty snapshot too, and one of a full page once", async () => {
    const { feed, sink, open, reading } = setUp();
    open(true);
    await reading(50);
    expect(sink.bodies).toEqual([{ type: "snapshot", items: [], last: true }]);
    for (let index = 0; index < 500; index++) feed.put("slots", `s${index}`);
    expect(sink.bodies).toHaveLength(1);
  });

  it("S21 sends nothing but changes to who wants no snapshot", () => {
    const { feed, sink, open } = setUp();
    feed.put("jobs", "before");
    open(false);
    feed.put("jobs", "after");
    feed.put("slots", "elsewhere");
    sink.read();
    expect(sink.bodies.map(nameOf)).toEqual(["after"]);
  });

  it("S21 has one page at a time wait, however many snapshots are due", async () => {
    const { clock, feed, sink, outbox, open, reading } = setUp();
    for (let index = 0; index < 600; index++) feed.put("jobs", `j${index}`);
    const first = open(true);
    open(true);
    open(true);
    await clock.advance(100);
    const page = sink.bufferedAmount;
    sink.read();
    expect(sink.frames).toHaveLength(1);
    outbox.cancel(first);
    await reading(100);
    expect(sink.frames).toHaveLength(5);
    expect(page).toBeGreaterThan(1000); // more than else may wait
  });

  it("S21 sends the next snapshot when the page before it was taken, also if that was the last of its own", async () => {
    const { clock, feed, sink, open, reading } = setUp();
    feed.put("jobs", "a");
    open(true);
    await clock.advance(5);
    open(true);
    await clock.advance(100);
    sink.read();
    expect(sink.frames).toHaveLength(1);
    await reading(50);
    expect(sink.frames).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("S21 does not hold a page against the client: changes follow it at once", async () => {
    const { clock, feed, sink, open } = setUp();
    for (let index = 0; index < 400; index++) feed.put("jobs", `j${index}`);
    open(true);
    await clock.advance(5);
    expect(sink.bufferedAmount).toBeGreaterThan(1000);
    feed.put("jobs", "new");
    sink.read();
    expect(sink.frames).toHaveLength(2);
    // When it was read, no more may wait than before.
    for (let index = 0; index < 100; index++) feed.put("jobs", `j${index}`);
    expect(sink.bufferedAmount).toBeLessThan(1500);
  });

  it("S22 says of a message what there is to say", () => {
    const { feed, sink, open } = setUp();
    open(false, "client");
    open(false);
    feed.put("jobs", "ü");
    feed.put("jobs", "v");
    sink.read();
    const [first, ...others] = sink.frames;
    expect(Object.fromEntries(first?.headers ?? [])).toEqual({
      subscription: "é",
      destination: "/topic/jobs",
      "content-type": "application/json",
      "content-length": String(first?.body.length),
      "message-id": "s-1",
      ack: "s-1",
    });
    expect(first?.body.toString()).toBe(`{"type":"added","name":"ü","object":{"name":"ü"}}`);
    expect(others.map(({ headers }) => [headers.get("message-id"), headers.get("ack")])).toEqual([
      ["s-2", undefined],
      ["s-3", "s-3"],
      ["s-4", undefined],
    ]);
  });

  it("S23 encodes a change once for all", () => {
    const { feed, sink, bodies, open } = setUp();
    const encode = vi.spyOn(Buffer, "from");
    for (let count = 0; count < 5; count++) open(false);
    const change = feed.put("jobs", "a");
    expect(encode.mock.calls.filter(([text]) => (text as unknown) === change.json)).toHaveLength(1);
    encode.mockRestore();
    expect(bodies.of(change)).toBe(bodies.of(change));
    sink.read();
    expect(sink.frames).toHaveLength(5);
  });

  it("S31 holds changes back when too much waits, and sends all of them when there is room", async () => {
    const { clock, feed, sink, open, reading, tooSlow } = setUp();
    open(false);
    const names = Array.from({ length: 400 }, (_, index) => `j${index}`);
    for (const name of names) feed.put("jobs", name);
    await clock.advance(5000);
    expect(sink.bufferedAmount).toBeLessThan(1500);
    await reading(500);
    expect(sink.bodies.map(nameOf)).toEqual(names);
    feed.put("jobs", "later");
    sink.read();
    expect(nameOf(sink.bodies.at(-1))).toBe("later");
    expect(tooSlow).not.toHaveBeenCalled();
    expect(clock.pending).toBe(0);
  });

  it("S31 gives up who lets too many changes wait", () => {
    const { clock, feed, sink, open, tooSlow } = setUp();
    open(false);
    for (let index = 0; index < 600; index++) feed.put("jobs", `j${index}`);
    expect(tooSlow.mock.calls).toEqual([["changes come faster than they are read"]]);
    expect(sink.bufferedAmount).toBeLessThan(1500);
    expect(feed.subscribers).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("S31 gives up who does not read: changes, or a snapshot", async () => {
    const changes = setUp();
    changes.open(false);
    for (let index = 0; index < 100; index++) changes.feed.put("jobs", `j${index}`);
    await changes.clock.advance(9_000);
    expect(changes.tooSlow).not.toHaveBeenCalled();
    await changes.clock.advance(1_100);
    expect(changes.tooSlow.mock.calls).toEqual([["messages are not read"]]);
    const snapshot = setUp();
    snapshot.feed.put("jobs", "a");
    snapshot.open(true);
    await snapshot.clock.advance(10_100);
    expect(snapshot.tooSlow.mock.calls).toEqual([["messages are not read"]]);
    expect(snapshot.feed.subscribers).toBe(0);
    expect([changes.clock.pending, snapshot.clock.pending]).toEqual([0, 0]);
  });

  it("S31 gives up who does not acknowledge", () => {
    const { feed, sink, open, tooSlow } = setUp({ sendBuffer: 100_000 });
    const subscription = open(false, "client");
    for (let index = 0; index < 10; index++) feed.put("jobs", `j${index}`);
    subscription.acknowledge(10);
    for (let index = 0; index < 10; index++) feed.put("jobs", `k${index}`);
    sink.read();
    expect(tooSlow).not.toHaveBeenCalled();
    feed.put("jobs", "one too many");
    expect(tooSlow.mock.calls).toEqual([["10 messages were not acknowledged"]]);
  });

  it("S13 sends nothing to who has gone, wherever it was", async () => {
    const { clock, feed, sink, outbox, open, reading } = setUp();
    feed.put("jobs", "a");
    const behind = open(true);
    const live = open(false);
    outbox.cancel(behind);
    outbox.cancel(live);
    feed.put("jobs", "b");
    await reading(100);
    expect(sink.frames).toEqual([]);
    expect(feed.subscribers).toBe(0);
    expect(clock.pending).toBe(0);
  });
});
