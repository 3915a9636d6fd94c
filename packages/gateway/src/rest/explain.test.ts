/** Why a job waits. */
import { VirtualClock } from "@berth/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";
import { reasonsOf } from "./explain.ts";

let world: Embedded;
const ask: Embedded["ask"] = (...asked) => world.ask(...asked);
beforeAll(async () => {
  world = await startEmbedded({ clock: new VirtualClock() });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const explain = async (job: string) => (await ask("GET", `/v1/jobs/${job}/explain`)).body;
const schedule = (name: string, job: string, slots: number[]) =>
  ask("POST", "/v1/schedulings", {
    metadata: { name },
    spec: { testbed: { name: "main" }, slotBased: [{ name: job, slots }] },
  });

describe("R9 an explanation", () => {
  it("R9 says the position in the queue, and that there is no scheduler", async () => {
    for (const name of ["a", "b"]) await ask("POST", "/v1/jobs", jobManifest(name, 1e6));
    expect(await explain("b")).toEqual({
      name: "b",
      phase: "Ready",
      summary: "it waits for a scheduler's decision, as number 2 of 2 in the queue",
      reasons: ["no scheduler is connected, and nobody has made a Scheduling for it"],
      position: 2,
      queueLength: 2,
      testbeds: [{ name: "main", free: 4, total: 4 }],
    });
  });

  it("R9 says who has a job, what it waits for, and when it does not wait any more", async () => {
    await schedule("first", "a", [0]);
    await eventually(async () => (await explain("a")).phase === "Running");
    expect(await explain("a")).toMatchObject({ reasons: [], scheduling: { name: "first" } });
    await schedule("second", "b", [0]);
    await eventually(async () => /slot 0/.test((await explain("b")).reasons[0] ?? ""));
    const waits = await explain("b");
    expect(waits.summary).toMatch(/^Scheduling second has it: .*slot 0/);
    expect(waits).not.toHaveProperty("position");
    expect(waits.scheduling.jobs).toMatchObject([{ name: "b", slots: [0] }]);
  });

  it("R9 says what a scheduler is waited for, how a job has ended, and nothing of jobs that there are not", async () => {
    await ask("POST", "/v1/schedulers/lazy/turn", { testbed: "main" });
    await ask("POST", "/v1/jobs", jobManifest("c", 1, { executors: { min: 9 } }));
    const { reasons, testbeds } = await explain("c");
    expect(reasons).toEqual(["it needs at least 9 slots, and no testbed has more than 4"]);
    expect(testbeds).toMatchObject([{ scheduler: "lazy" }]);
    await ask("DELETE", "/v1/schedulers/lazy?testbed=main");
    await ask("POST", "/v1/jobs", jobManifest("d", 1));
    await schedule("third", "d", [2]);
    await eventually(async () => (await explain("d")).phase === "Completed");
    expect(await explain("d")).toMatchObject({
      reasons: [],
      summary: expect.stringMatching(/^it has ended \(Completed\)/),
    });
    expect((await ask("GET", "/v1/jobs/nobody/explain")).body.code).toBe("BERTH_NOT_FOUND");
  });
});

describe("what is missing", () => {
  const room = (free: number, total: number, scheduler?: string) => ({
    ...{ name: "main", free, total },
    ...(scheduler !== undefined && { scheduler }),
  });
  const reasons = (executors: object, ...testbeds: ReturnType<typeof room>[]) =>
    reasonsOf({ spec: { executors } as never }, testbeds);

  it("R9 is said in the order in which it has to be got", () => {
    expect(reasons({})).toEqual(["there is no testbed"]);
    expect(reasons({}, room(0, 0))).toEqual([
      "no scheduler is connected, and nobody has made a Scheduling for it",
      "it needs at least 1 slot, and no testbed has more than 0",
    ]);
    expect(reasons({ min: 2 }, room(1, 4, "s"), room(0, 9))).toEqual([
      "it needs at least 2 slots, and no testbed has more than 1 free",
    ]);
    expect(reasons({ preferred: 3 }, room(2, 4, "s"))).toEqual([
      "it would like 3 slots, and no testbed has more than 2 free",
    ]);
    expect(reasons({ preferred: 3 }, room(3, 4, "s"))).toEqual([
      "there is room for it: the scheduler has not chosen it yet",
    ]);
  });
});
