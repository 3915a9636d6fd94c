import type { Decision, QueuedJob, RunningJob, TurnSlot } from "@berth/model";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide, type Situation } from "./decide.ts";

const basics = (name: string): QueuedJob => ({
  ...{ name, kind: "job", submitted: 0, executors: {}, labels: {}, data: {}, history: [] },
});

/** Slots 0 … 5; 4 is unavailable, "old" has 5. */
function situation(queue: readonly string[] = ["a", "b", "c"]): Situation {
  const running: RunningJob = { ...basics("old"), phase: "Running", slots: [5], scheduling: "s" };
  const slots = new Map<number, TurnSlot>(
    [0, 1, 2, 3].map((id) => [id, { id, node: `n${Math.floor(id / 2)}`, state: "free" }]),
  );
  slots.set(4, { id: 4, node: "n2", state: "unavailable", reason: "its node is gone" });
  slots.set(5, { id: 5, node: "n2", state: "occupied", job: "old" });
  return {
    queued: (job) => (queue.includes(job) ? basics(job) : undefined),
    runningJob: (job) => (job === "old" ? running : undefined),
    knows: (job) => queue.includes(job) || job === "old" || job === "done",
    slot: (id) => slots.get(id),
    freeSlots: () => [0, 1, 2, 3],
  };
}

const codes = (decisions: readonly Decision[]) => decide(decisions, situation()).rejected.map(({ code }) => code);

describe("decisions", () => {
  it("T5 start jobs in the slots that are named, or in the first free ones", () => {
    const outcome = decide(
      [
        { job: "b", slots: [2, 0], reason: "why not" },
        { job: "a", executors: 2 },
      ],
      situation(),
    );
    expect(outcome).toEqual({
      starts: [
        { job: "b", slots: [2, 0], reason: "why not" },
        { job: "a", slots: [1, 3] },
      ],
      releases: [],
      rejected: [],
    });
  });

  it("T6 that cannot be carried out are rejected with a code, and the others are applied", () => {
    const { starts, rejected } = decide(
      [
        { job: "a", slots: [0, 5] },
        { job: "nobody", slots: [0] },
        { job: "b", slots: [0] },
        { job: "c", executors: 9 },
      ],
      situation(),
    );
    expect(starts).toEqual([{ job: "b", slots: [0] }]);
    expect(rejected).toEqual([
      { job: "a", code: "BERTH_SLOT_TAKEN", message: "old has slot 5" },
      { job: "nobody", code: "BERTH_JOB_UNKNOWN", message: "there is no job nobody" },
      { job: "c", code: "BERTH_SLOTS_TOO_FEW", message: "9 slots are wanted, and 3 are free" },
    ]);
  });

  it.each<[string, Decision[], string[]]>([
    ["says nothing", [{ job: "a" }], ["BERTH_DECISION_UNCLEAR"]],
    ["says two things", [{ job: "a", executors: 1, slots: [0] }], ["BERTH_DECISION_UNCLEAR"]],
    ["names a slot twice", [{ job: "a", slots: [0, 0] }], ["BERTH_DECISION_UNCLEAR"]],
    ["is the second about a job", [{ job: "a", slots: [0] }, { job: "a", slots: [1] }], ["BERTH_DECISION_TWICE"]], // biome-ignore format: one line each
    ["is about a job that runs", [{ job: "old", slots: [0] }], ["BERTH_JOB_HELD"]],
    ["is about a job that has ended", [{ job: "done", slots: [0] }], ["BERTH_JOB_NOT_WAITING"]],
    ["names no slot of the testbed", [{ job: "a", slots: [77] }], ["BERTH_SLOT_UNKNOWN"]],
    ["names a slot that cannot be used", [{ job: "a", slots: [4] }], ["BERTH_SLOT_UNAVAILABLE"]],
    ["names a slot that was just given away", [{ job: "a", slots: [0] }, { job: "b", slots: [0] }], ["BERTH_SLOT_TAKEN"]], // biome-ignore format: one line each
  ])("T6 one that %s", (_, decisions, expected) => {
    expect(codes(decisions)).toEqual(expected);
  });

  it("T7 to release a job frees its slots for the same turn; to release what nobody has changes nothing", () => {
    const outcome = decide(
      [
        { job: "a", slots: [5] },
        { job: "old", release: true },
        { job: "b", release: true },
      ],
      situation(),
    );
    expect(outcome).toEqual({ starts: [{ job: "a", slots: [5] }], releases: ["old", "b"], rejected: [] });
  });

  it("T7 a release that is rejected frees nothing", () => {
    const unclear = { job: "old", release: true, executors: 1 } as Decision;
    const { starts, rejected } = decide([{ job: "a", slots: [5] }, unclear], situation());
    expect(starts).toEqual([]);
    expect(rejected.map(({ code }) => code)).toEqual(["BERTH_SLOT_TAKEN", "BERTH_DECISION_UNCLEAR"]);
  });

  it("T5 never give a slot away twice, and lose no decision, whatever they are", () => {
    const decision = fc.record(
      {
        job: fc.constantFrom("a", "b", "c", "old", "done", "nobody"),
        slots: fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 4 }),
        executors: fc.integer({ min: 1, max: 6 }),
        release: fc.constant(true as const),
      },
      { requiredKeys: ["job"] },
    );
    fc.assert(
      fc.property(fc.array(decision, { maxLength: 8 }), (decisions) => {
        const { starts, releases, rejected } = decide(decisions as Decision[], situation());
        const given = starts.flatMap(({ slots }) => slots);
        expect(new Set(given).size).toBe(given.length);
        expect(given.filter((slot) => slot === 4 || slot > 5)).toEqual([]);
        expect(given.includes(5) && !releases.includes("old")).toBe(false);
        expect(starts.length + releases.length + rejected.length).toBe(decisions.length);
      }),
    );
  });
});
