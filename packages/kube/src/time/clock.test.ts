import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sleep, VirtualClock, WallClock } from "./clock.ts";
import { integer, jitter, pick, SeededRandom, SystemRandom } from "./random.ts";

describe("VirtualClock", () => {
  it("C1 stands still until it is told to go on", async () => {
    const clock = new VirtualClock({ start: 0 });
    let rung = false;
    clock.setTimer(1000, () => {
      rung = true;
    });
    await clock.settle();
    expect([clock.now(), rung]).toEqual([0, false]);
    await clock.advance(999);
    expect([clock.now(), rung]).toEqual([999, false]);
    await clock.advance(1);
    expect([clock.now(), rung]).toEqual([1000, true]);
  });

  it("C2 runs timers by their moment, and those of one moment in the order in which they were set", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 30 }), async (delays) => {
        const clock = new VirtualClock({ start: 0 });
        const rung: [at: number, index: number][] = [];
        for (const [index, delay] of delays.entries()) clock.setTimer(delay, () => rung.push([clock.now(), index]));
        await clock.runUntilIdle();
        const expected = delays
          .map((delay, index) => [delay, index])
          .sort(([a = 0, i = 0], [b = 0, j = 0]) => a - b || i - j);
        expect(rung).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it("C3 never runs a timer that was called off, whenever that was", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 30 }), async (plans) => {
        const clock = new VirtualClock({ start: 0 });
        const rung: number[] = [];
        const timers = plans.map(([delay], index) => clock.setTimer(delay, () => rung.push(index)));
        for (const [index, [, cancelled]] of plans.entries()) if (cancelled) timers[index]?.cancel();
        await clock.runUntilIdle();
        expect(rung.toSorted((a, b) => a - b)).toEqual(
          plans.flatMap(([, cancelled], index) => (cancelled ? [] : [index])),
        );
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it("C4 lets what a timer wakes up run, and set timers of its own, before it goes on", async () => {
    const clock = new VirtualClock({ start: 0 });
    const log: string[] = [];
    const worker = async (name: string, pause: number) => {
      for (let round = 0; round < 3; round++) {
        await sleep(clock, pause);
        log.push(`${name}@${clock.now()}`);
      }
    };
    const done = Promise.all([worker("a", 10), worker("b", 15)]);
    await clock.advance(100);
    await done;
    expect(log).toEqual(["a@10", "b@15", "a@20", "b@30", "a@30", "b@45"]);
    expect(clock.now()).toBe(100);
  });

  it("stops at its limit and keeps the later timers", async () => {
    const clock = new VirtualClock({ start: 0 });
    const ticks: number[] = [];
    const tick = () => {
      ticks.push(clock.now());
      clock.setTimer(10, tick);
    };
    tick();
    await clock.runUntilIdle({ limit: 35 });
    expect(ticks).toEqual([0, 10, 20, 30]);
    expect(clock.pending).toBe(1);
  });
});

describe("a VirtualClock that is held", () => {
  it("C8 stands still until the last hold is released, whoever lets it go on", async () => {
    const clock = new VirtualClock({ start: 0 });
    const rung: number[] = [];
    clock.setTimer(10, () => rung.push(clock.now()));
    const releases = [clock.hold(), clock.hold()];
    const advanced = clock.advance(20);
    await clock.settle();
    releases[0]?.();
    releases[0]?.(); // a second time is one time
    await clock.settle();
    expect([rung, clock.now()]).toEqual([[], 0]);
    releases[1]?.();
    await advanced;
    expect([rung, clock.now()]).toEqual([[10], 20]);
  });

  it("C8 can be held in the middle, by what a timer wakes up", async () => {
    const clock = new VirtualClock({ start: 0 });
    const log: string[] = [];
    clock.setTimer(10, () => {
      const release = clock.hold();
      // Somebody thinks, for a while of the world's time; here no time passes.
      void sleep(new WallClock(), 5).then(() => {
        log.push(`thought@${clock.now()}`);
        release();
      });
    });
    clock.setTimer(11, () => log.push(`next@${clock.now()}`));
    await clock.advance(100);
    expect(log).toEqual(["thought@10", "next@11"]);
  });
});

describe("VirtualClock.run", () => {
  it("C9 goes on until it is told that it is enough, and not a timer further", async () => {
    const clock = new VirtualClock({ start: 0 });
    let ticks = 0;
    const tick = () => {
      ticks++;
      clock.setTimer(10, tick);
    };
    tick();
    await clock.run(() => ticks === 5);
    expect([ticks, clock.now()]).toEqual([5, 40]);
  });

  it("C9 waits for a timer when there is none, and ends with the signal", async () => {
    const clock = new VirtualClock({ start: 0 });
    const abort = new AbortController();
    const running = clock.run(undefined, abort.signal);
    await clock.settle();
    const rung = new Promise<void>((resolve) => void clock.setTimer(1000, resolve));
    await rung;
    clock.hold();
    abort.abort();
    await running;
    expect(clock.now()).toBe(1000);
  });
});

describe("sleep", () => {
  it("C5 ends with the signal's reason when it is aborted, and leaves no timer", async () => {
    const clock = new VirtualClock();
    const abort = new AbortController();
    const waiting = sleep(clock, 1000, abort.signal);
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(sleep(clock, 1000, abort.signal)).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });
});

describe("WallClock", () => {
  it("tells the world's time and waits", async () => {
    const clock = new WallClock();
    const before = clock.now();
    await sleep(clock, 20);
    expect(clock.now() - before).toBeGreaterThanOrEqual(19);
  });

  it("goes faster if asked to", async () => {
    const clock = new WallClock({ speed: 1000 });
    const before = clock.now();
    await sleep(clock, 10_000);
    expect(clock.now() - before).toBeGreaterThanOrEqual(9000);
    expect(() => new WallClock({ speed: 0 })).toThrow(RangeError);
  });

  it("C6 takes a wait longer than the system's timers for what it is", async () => {
    let rung = false;
    const timer = new WallClock().setTimer(2 ** 40, () => {
      rung = true;
    });
    await sleep(new WallClock(), 5);
    expect(rung).toBe(false);
    timer.cancel();
  });
});

describe("SeededRandom", () => {
  it("R1 gives the same sequence for the same seed, on every machine", () => {
    const draw = (seed: string | number) => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 3 }, () => integer(random, 0, 1_000_000));
    };
    expect(draw("berth")).toEqual(draw("berth"));
    expect(draw("berth")).not.toEqual(draw("other"));
    expect(draw("berth")).toMatchInlineSnapshot(`
      [
        32605,
        168321,
        446057,
      ]
    `);
  });

  it("R2 stays within bounds, and reaches all of them", () => {
    const random = new SeededRandom(1);
    const counts = new Map<number, number>();
    for (let draw = 0; draw < 6000; draw++) {
      const value = integer(random, 1, 7);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
    for (let draw = 0; draw < 100; draw++) expect(Math.abs(jitter(random, 100, 0.2) - 100)).toBeLessThanOrEqual(20);
    expect(() => pick(random, [])).toThrow(RangeError);
  });

  it("R3 forks into sequences that do not depend on what others draw later", () => {
    const parent = new SeededRandom("x");
    const [left, right] = [parent.fork("left"), parent.fork("right")];
    const expected = new SeededRandom("x").fork("right").next();
    for (let draw = 0; draw < 10; draw++) left.next();
    expect(right.next()).toBe(expected);
  });
});

describe("SystemRandom", () => {
  it("is different every time", () => {
    const random = new SystemRandom();
    const values = Array.from({ length: 100 }, () => random.next());
    expect(new Set(values).size).toBe(100);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
  });
});
