import { type QueuedJob, State, type TurnReply } from "@berth/sdk";
import { describe, expect, it } from "vitest";
import { backfill, fifo, schedulers, spread } from "./index.ts";

const job = (name: string, submitted: number, preferred: number): QueuedJob => ({
  ...{ name, kind: "job", submitted, executors: { preferred }, labels: {}, data: {}, history: [] },
});

/** Two nodes with two slots each, and one with one; slot 0 is taken. */
function state(queue: QueuedJob[]): State {
  const some = new State();
  const nodes = ["n0", "n0", "n1", "n1", "n2"];
  const reply: TurnReply = {
    ...{ turn: 1, time: 0, clock: "virtual", testbed: "main", view: "full", events: [], running: [], rejected: [] },
    queue,
    slots: nodes.map((node, id) => ({ id, node, state: id === 0 ? "occupied" : "free" })),
  };
  some.apply(reply);
  return some;
}

const placed = (decisions: unknown) =>
  (decisions as { job: string; slots: number[] }[]).map(({ job, slots }) => `${job} ${slots.join(",")}`);

describe("schedulers that come along", () => {
  const queue = [job("large", 2, 3), job("small", 3, 1), job("first", 1, 2)];

  it("fifo: nobody overtakes", async () => {
    expect(placed(await fifo(state(queue)))).toEqual(["first 1,2"]);
  });

  it("backfill: who does not fit lets others go first", async () => {
    expect(placed(await backfill(state(queue)))).toEqual(["first 1,2", "small 3"]);
  });

  it("spread: on the emptiest nodes", async () => {
    expect(placed(await spread(state([job("one", 1, 1), job("two", 2, 2)])))).toEqual(["one 2", "two 1,3"]);
    expect(placed(await spread(state([job("one", 1, 2), job("two", 2, 9)])))).toEqual(["one 2,1"]);
  });

  it("are known by name", () => {
    expect(Object.keys(schedulers)).toEqual(["fifo", "backfill", "spread"]);
  });
});
