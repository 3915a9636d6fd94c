import type { BatchJob, QueuedJob, RunningJob, Scheduling, Slot, TurnSlot } from "@berth/model";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Epoch } from "../views/epoch.ts";
import { Board } from "./board.ts";

const NAMES = ["a", "b", "c"];

function job(name: string, more: { held?: boolean; slots?: number[]; phase?: string; rerun?: boolean } = {}): BatchJob {
  const { held, slots, phase, rerun } = more;
  return {
    apiVersion: "berth.dev/v1alpha1",
    kind: "BatchJob",
    metadata: {
      ...{ name, namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z", resourceVersion: "1" },
      ...(rerun && { annotations: { "berth.dev/rerun-after": "1" } }),
    },
    spec: {
      jobSpec: {},
      ...((held || slots) && { activeScheduling: { name: "s", namespace: "default" } }),
      ...(slots && { creationRequest: { testbed: { name: "main" }, slots } }),
    },
    status: { ...(phase && { phase: phase as "Running" }), run: 1 },
  } as BatchJob;
}

function slot(position: number, state: string, unschedulable = false): Slot {
  return {
    metadata: { name: `main-${position}`, namespace: "default" },
    spec: {
      testbed: "main",
      nodeName: `n${position}`,
      nodeId: "",
      position,
      positionOnNode: 0,
      resources: {},
      unschedulable,
    },
    status: { state },
  } as unknown as Slot;
}

function scheduling(
  entries: Record<string, number[]>,
  told: Record<string, string> = {},
  testbed = "main",
): Scheduling {
  return {
    metadata: { name: "s", namespace: "default" },
    spec: {
      testbed: { name: testbed },
      slotBased: Object.entries(entries).map(([name, slots]) => ({ name, namespace: "", slots })),
    },
    status: { jobs: Object.entries(told).map(([name, phase]) => ({ name, phase })) },
  } as unknown as Scheduling;
}

function board(onNews = () => {}, onSlots: (slots: readonly Slot[]) => void = () => {}): Board {
  return new Board({ namespace: "default", testbed: "main", epoch: new Epoch(), now: () => 0, onNews, onSlots });
}

const names = (jobs: readonly { name: string }[]) => jobs.map(({ name }) => name);

describe("the board", () => {
  it("T15 has a slot free when no job asks for it and no Scheduling is about to take it, whatever its state says yet", () => {
    const some = board();
    for (const position of [0, 1, 2, 3]) some.setSlot(position, slot(position, "free"));
    some.setJob("a", job("a", { slots: [1] }));
    some.setScheduling("s", scheduling({ b: [2] }));
    expect(some.freeSlots()).toEqual([0, 3]);
    expect(some.slot(2)).toEqual({ id: 2, node: "n2", state: "reserved", job: "b" });
    some.setSlot(1, slot(1, "occupied"));
    some.setJob("a", job("a", { phase: "Completed" }));
    expect(some.freeSlots()).toEqual([0, 1, 3]); // though it says "occupied" for a moment more
    some.setSlot(3, slot(3, "free", true));
    expect(some.slot(3)?.state).toBe("unavailable");
  });

  it("T15 goes by a slot's own word for jobs of other namespaces, and for nobody else", () => {
    const some = board();
    const told = (state: string, holder: string) => {
      const { status, ...rest } = slot(0, state);
      some.setSlot(0, { ...rest, status: { ...status, job: holder } } as Slot);
      return some.slot(0);
    };
    expect(told("occupied", "elsewhere/a")).toMatchObject({ state: "occupied", job: "a" });
    expect(told("reserved", "elsewhere/a")).toMatchObject({ state: "reserved", job: "a" });
    expect(told("occupied", "default/a")).toEqual({ id: 0, node: "n0", state: "free" }); // it has ended
    some.setJob("b", job("b", { slots: [0] }));
    expect(some.slot(0)).toMatchObject({ state: "reserved", job: "b" }); // a is still in it
    expect(told("occupied", "default/b")).toMatchObject({ state: "occupied", job: "b" });
  });

  it("R22 tells which slots it stands otherwise with, and only of those", () => {
    const changed: number[][] = [];
    const some = board(undefined, (slots) => changed.push(slots.map(({ spec }) => spec.position).sort()));
    for (const position of [0, 1, 2]) some.setSlot(position, slot(position, "free"));
    some.synced();
    some.setScheduling("s", scheduling({ a: [0, 2] }));
    some.setJob("a", job("a", { slots: [0, 2] }));
    some.setScheduling("s", scheduling({ a: [0, 2] }, { a: "Submitted" }));
    some.setSlot(2, slot(2, "occupied"));
    some.setSlot(1, undefined);
    expect(changed).toEqual([[0, 2], [2], []]);
    expect(some.counts()).toEqual({ total: 2, free: 0, reserved: 1, occupied: 1, unavailable: 0 });
  });

  it("T15 has a job in the queue when nobody has it, and somebody wants it to run", () => {
    const some = board();
    some.setJob("a", job("a"));
    some.setJob("b", job("b", { phase: "Completed" }));
    some.setJob("c", job("c", { phase: "Completed", rerun: true }));
    expect(names(some.queue().set)).toEqual(["a", "c"]);
    some.setScheduling("s", scheduling({ a: [0] }, {}, "elsewhere"));
    expect(names(some.queue().set)).toEqual(["c"]);
    expect(names(some.running().set)).toEqual([]); // not here
    some.setScheduling("s", scheduling({ c: [0] }));
    expect(names(some.queue().set)).toEqual(["a"]);
    expect(some.running().set).toMatchObject([{ name: "c", phase: "InQueue", slots: [0] }]);
  });

  it("T3 remembers what has happened, and tells when there is something to decide", () => {
    let news = 0;
    const some = board(() => news++);
    some.setSlot(0, slot(0, "free"));
    some.setJob("a", job("a"));
    some.synced();
    expect(news).toBe(0); // all of that was there before
    const version = some.version;
    some.setScheduling("s", scheduling({ a: [0] }));
    some.setJob("a", job("a", { slots: [0], phase: "Running" }));
    expect([news, some.hasNews(version)]).toEqual([0, false]); // it was the scheduler's own doing
    some.setScheduling("s", scheduling({ a: [0] }, { a: "Completed" }));
    some.setJob("a", job("a", { phase: "Completed" }));
    expect(news).toBeGreaterThan(0);
    expect(some.eventsSince(version).map(({ type }) => type)).toEqual([
      "job.claimed",
      "job.started",
      "job.completed",
      "slot.freed",
    ]);
    expect(some.eventsSince(some.version)).toEqual([]);
  });

  it("T11 tells changes that add up to how it is, whatever happens and whenever somebody looks", () => {
    const slots = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 });
    const name = fc.constantFrom(...NAMES);
    const step = fc.oneof(
      fc.record({ do: fc.constant("job" as const), name, phase: fc.constantFrom("Ready", "Running", "Completed"), slots: fc.option(slots), rerun: fc.boolean() }), // biome-ignore format: one line each
      fc.record({ do: fc.constant("no job" as const), name }),
      fc.record({ do: fc.constant("slot" as const), at: fc.integer({ min: 0, max: 4 }), state: fc.constantFrom("free", "occupied", "unavailable") }), // biome-ignore format: one line each
      fc.record({ do: fc.constant("no slot" as const), at: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ do: fc.constant("scheduling" as const), name, slots, told: fc.constantFrom("Waiting", "Running", "Completed") }), // biome-ignore format: one line each
      fc.constant({ do: "no scheduling" as const }),
      fc.constant({ do: "look" as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const some = board();
        some.synced();
        const queue = new Map<string, QueuedJob>();
        const running = new Map<string, RunningJob>();
        const shown = new Map<number, TurnSlot>();
        let seen = some.version;
        const look = () => {
          const [q, r, s] = [some.queue(seen), some.running(seen), some.slots(seen)];
          for (const each of q.removed) queue.delete(each);
          for (const each of q.set) queue.set(each.name, each);
          for (const each of r.removed) running.delete(each);
          for (const each of r.set) running.set(each.name, each);
          for (const each of s.removed) shown.delete(each);
          for (const each of s.set) shown.set(each.id, each);
          seen = some.version;
          expect([...queue.values()].sort(byName)).toEqual([...some.queue().set].sort(byName));
          expect([...running.values()].sort(byName)).toEqual([...some.running().set].sort(byName));
          expect([...shown.values()].sort((a, b) => a.id - b.id)).toEqual(some.slots().set);
          const { total, ...counts } = some.counts();
          expect(total).toBe(shown.size);
          for (const [state, count] of Object.entries(counts)) {
            expect([...shown.values()].filter((each) => each.state === state)).toHaveLength(count);
          }
        };
        for (const each of steps) {
          if (each.do === "job")
            some.setJob(each.name, job(each.name, { phase: each.phase, rerun: each.rerun, ...(each.slots && { slots: each.slots }) })); // biome-ignore format: one line each
          else if (each.do === "no job") some.setJob(each.name, undefined);
          else if (each.do === "slot") some.setSlot(each.at, slot(each.at, each.state));
          else if (each.do === "no slot") some.setSlot(each.at, undefined);
          else if (each.do === "scheduling")
            some.setScheduling("s", scheduling({ [each.name]: each.slots }, { [each.name]: each.told })); // biome-ignore format: one line each
          else if (each.do === "no scheduling") some.setScheduling("s", undefined);
          else look();
        }
        look();
        const free = some.freeSlots();
        for (const { slots } of some.running().set) for (const id of slots) expect(free).not.toContain(id);
        for (const { name: each } of some.queue().set) expect(names(some.running().set)).not.toContain(each);
      }),
    );
  });
});

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}
