import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../time/clock.ts";
import { LOW_PRIORITY, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function newQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock({ start: 0 });
  return { clock, queue: new WorkQueue<string>({ clock, ...options }) };
}

/** Hands out everything that is ready, one after the other. */
async function drain(queue: WorkQueue<string>): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    const item = await queue.get();
    if (!item) break;
    keys.push(item.key);
    queue.done(item.key);
  }
  return keys;
}

describe("WorkQueue", () => {
  it("W1 hands a key out once, however often it is added while it waits", async () => {
    const { queue } = newQueue();
    for (let time = 0; time < 5; time++) queue.add("a");
    expect(await drain(queue)).toEqual(["a"]);
  });

  it("W2 hands a key that is added while it is worked on out again, when its worker is done", async () => {
    const { queue } = newQueue();
    queue.add("a");
    expect(await queue.get()).toEqual({ key: "a", priority: 0 });
    queue.add("a");
    queue.add("a");
    expect(queue.length).toBe(0);
    queue.done("a");
    expect(await drain(queue)).toEqual(["a"]);
    expect(() => queue.done("a")).toThrow("nobody works on a");
  });

  it("W3 serves the higher priority first, and the same priority in order", async () => {
    const { queue } = newQueue();
    queue.add("low", { priority: LOW_PRIORITY });
    queue.add("first");
    queue.add("second");
    queue.add("high", { priority: 10 });
    expect(await drain(queue)).toEqual(["high", "first", "second", "low"]);
  });

  it("W3 lets a waiting key rise to a higher priority, but not sink to a lower", async () => {
    const { queue } = newQueue();
    queue.add("a", { priority: LOW_PRIORITY });
    queue.add("b", { priority: LOW_PRIORITY });
    queue.add("b");
    queue.add("c", { priority: 5 });
    queue.add("c", { priority: LOW_PRIORITY });
    expect(await drain(queue)).toEqual(["c", "b", "a"]);
  });

  it("W4 waits for a delay, and takes the sooner of two", async () => {
    const { clock, queue } = newQueue();
    queue.add("late", { after: 1000 });
    queue.add("sooner", { after: 1000 });
    queue.add("sooner", { after: 10 });
    queue.add("sooner", { after: 500 });
    await clock.advance(9);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(["sooner"]);
    queue.add("late");
    expect(await drain(queue)).toEqual(["late"]);
    await clock.advance(10_000);
    expect(queue.length).toBe(0);
  });

  it("W4 keeps a delay that ends while the key is worked on until the worker is done", async () => {
    const { clock, queue } = newQueue();
    queue.add("a");
    await queue.get();
    queue.add("a", { after: 10 });
    await clock.advance(100);
    expect(queue.length).toBe(0);
    queue.done("a");
    expect(await drain(queue)).toEqual(["a"]);
  });

  it("W5 waits longer after each failure, up to the limit, until they are forgotten", async () => {
    const { clock, queue } = newQueue({ baseDelay: 10, maxDelay: 50 });
    const pause = async () => {
      queue.retry("a");
      const before = clock.now();
      await clock.runUntilIdle();
      expect(await drain(queue)).toEqual(["a"]);
      return clock.now() - before;
    };
    expect([await pause(), await pause(), await pause(), await pause(), await pause()]).toEqual([10, 20, 40, 50, 50]);
    expect(queue.failures("a")).toBe(5);
    queue.forget("a");
    expect([queue.failures("a"), await pause()]).toEqual([0, 10]);
  });

  it("W5 survives more failures than a number can count", async () => {
    const { clock, queue } = newQueue({ baseDelay: 1, maxDelay: 100 });
    for (let failure = 0; failure < 2000; failure++) queue.retry("a");
    queue.retry("b");
    await clock.advance(100);
    expect((await drain(queue)).toSorted()).toEqual(["a", "b"]);
  });

  it("W6 hands out what is ready after it was shut down, then sends everybody home", async () => {
    const { clock, queue } = newQueue();
    queue.add("ready");
    queue.add("worked on");
    queue.add("delayed", { after: 10 });
    expect((await queue.get())?.key).toBe("ready");
    queue.add("ready");
    queue.shutDown();
    queue.shutDown();
    queue.add("too late");
    expect((await queue.get())?.key).toBe("worked on");
    expect(await queue.get()).toBeUndefined();
    queue.done("ready"); // it was added again while it was worked on
    expect((await queue.get())?.key).toBe("ready");
    await clock.advance(100);
    expect(await queue.get()).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("wakes the worker that has waited longest, and those who wait at a shut-down", async () => {
    const { queue } = newQueue();
    const got: string[] = [];
    const workers = ["first", "second", "third"].map(async (worker) =>
      got.push(`${worker}: ${(await queue.get())?.key}`),
    );
    queue.add("a");
    queue.add("b");
    queue.shutDown();
    await Promise.all(workers);
    expect(got).toEqual(["first: a", "second: b", "third: undefined"]);
  });

  it("tells its observer how long keys waited and were worked on", async () => {
    const seen: unknown[] = [];
    const { clock, queue } = newQueue({
      observer: {
        added: (priority) => seen.push(["added", priority]),
        started: (waited, priority) => seen.push(["started", waited, priority]),
        finished: (worked) => seen.push(["finished", worked]),
        retried: () => seen.push(["retried"]),
      },
    });
    queue.add("a", { priority: 3, after: 10 });
    await clock.advance(30);
    await queue.get();
    await clock.advance(5);
    queue.retry("a");
    queue.done("a");
    expect(seen).toEqual([["added", 3], ["started", 20, 3], ["retried"], ["added", 0], ["finished", 5]]);
  });

  it("W1-W5 hold for any sequence of calls", async () => {
    const key = fc.constantFrom("a", "b", "c", "d");
    const action = fc.oneof(
      fc.record({
        type: fc.constant("add" as const),
        key,
        priority: fc.constantFrom(-100, 0, 5),
        after: fc.constantFrom(0, 0, 3, 7),
      }),
      fc.record({ type: fc.constant("retry" as const), key }),
      fc.record({ type: fc.constant("forget" as const), key }),
      fc.record({ type: fc.constant("get" as const) }),
      fc.record({ type: fc.constant("done" as const), which: fc.nat(3) }),
      fc.record({ type: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 10 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const { clock, queue } = newQueue();
        const working: string[] = [];
        /** What must still be handed out: added, and not handed out since. */
        const owed = new Set<string>();
        const take = async () => {
          if (queue.length === 0) return;
          const item = await queue.get();
          expect(item).toBeDefined();
          const handed = item?.key as string;
          expect(working, "W2").not.toContain(handed);
          expect(owed.delete(handed), "W1").toBe(true);
          working.push(handed);
        };
        for (const act of actions) {
          if (act.type === "add") {
            queue.add(act.key, act);
            owed.add(act.key);
          } else if (act.type === "retry") {
            queue.retry(act.key);
            owed.add(act.key);
          } else if (act.type === "forget") queue.forget(act.key);
          else if (act.type === "get") await take();
          else if (act.type === "pass") await clock.advance(act.time);
          else if (working.length > 0) queue.done(working.splice(act.which % working.length, 1)[0] as string);
        }
        for (const handed of working.splice(0)) queue.done(handed);
        await clock.runUntilIdle();
        while (queue.length > 0) {
          await take();
          for (const handed of working.splice(0)) queue.done(handed);
        }
        expect([...owed], "nothing that was added is lost").toEqual([]);
      }),
    );
  });
});
