import type { FullTurn, QueuedJob, RunningJob } from "@berth/model";
import { describe, expect, it } from "vitest";
import { State } from "./state.ts";

const job = (name: string, more: Partial<QueuedJob> = {}): QueuedJob => ({
  ...{ name, kind: "job", submitted: 0, executors: {}, labels: {}, data: {}, history: [] },
  ...more,
});
const running = (name: string, slots: number[], more: Partial<RunningJob> = {}): RunningJob => ({
  ...{ ...job(name), phase: "Running", slots },
  ...more,
});
const run = (outcome: "Completed" | "Failed", runtime: number) => ({
  ...{ number: 1, outcome, ended: 0, runtime, neighbours: [] },
});

const full: FullTurn = {
  ...{ turn: 3, time: 12.5, clock: "virtual", testbed: "main", view: "full", events: [], rejected: [] },
  queue: [job("late", { submitted: 9 }), job("early", { submitted: 1, history: [run("Completed", 10), run("Failed", 99), run("Completed", 20)] })], // biome-ignore format: one line
  running: [running("a", [0, 2], { labels: { team: "x" } }), running("b", [3], { labels: { team: "y" } })],
  slots: [
    { id: 3, node: "n1", state: "occupied", job: "b" },
    { id: 0, node: "n0", state: "occupied", job: "a" },
    { id: 1, node: "n0", state: "free" },
    { id: 2, node: "n1", state: "reserved", job: "a" },
    { id: 4, node: "n2", state: "unavailable", reason: "gone" },
    { id: 5, node: "n2", state: "free" },
  ],
};

function state(): State {
  const some = new State();
  some.apply(full);
  return some;
}

describe("a state", () => {
  it("answers what algorithms ask", () => {
    const some = state();
    expect([some.turn, some.time, some.clock, some.testbed]).toEqual([3, 12.5, "virtual", "main"]);
    expect(some.queue.map(({ name }) => name)).toEqual(["early", "late"]);
    expect(some.slots.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(some.free.map(({ id }) => id)).toEqual([1, 5]);
    expect([...some.nodes].map(([node, slots]) => [node, slots.length])).toEqual([["n0", 2], ["n1", 2], ["n2", 2]]); // biome-ignore format: one line
    expect(some.neighbours(1)).toEqual(["a"]);
    expect(some.neighbours(3)).toEqual(["a"]);
    expect(some.neighbours(0)).toEqual([]);
    expect(Object.fromEntries(some.shares("team"))).toEqual({ x: 2, y: 1 });
    expect(some.expectedRuntime("early")).toBe(15);
    expect(some.expectedRuntime("late")).toBeUndefined();
    expect([some.job("a")?.name, some.job("early")?.name, some.job("nobody")]).toEqual(["a", "early", undefined]);
  });

  it("gives no slot away twice in a turn, and all of them again in the next", () => {
    const some = state();
    expect(some.take(1)).toEqual([1]);
    expect(some.take(2)).toBeUndefined();
    expect(some.take(1, (a, b) => b.id - a.id)).toEqual([5]);
    expect(some.free).toEqual([]);
    some.apply({ ...full, turn: 4 });
    expect(some.take(1, (a, b) => b.id - a.id)).toEqual([5]);
  });

  it("takes in what has changed", () => {
    const some = state();
    some.apply({
      ...{ turn: 4, time: 13, clock: "virtual", testbed: "main", view: "delta", rejected: [] },
      events: [{ type: "job.completed", time: 13, job: "b" }],
      queue: { set: [job("new", { submitted: 5 })], removed: ["late", "nobody"] },
      running: { set: [], removed: ["b"] },
      slots: { set: [{ id: 3, node: "n1", state: "free" }], removed: [4] },
    });
    expect(some.queue.map(({ name }) => name)).toEqual(["early", "new"]);
    expect(some.running.map(({ name }) => name)).toEqual(["a"]);
    expect(some.free.map(({ id }) => id)).toEqual([1, 3, 5]);
    expect(some.slot(4)).toBeUndefined();
    expect(some.events).toHaveLength(1);
  });
});
