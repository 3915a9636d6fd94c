import type { JobView, SlotView, TestbedView } from "@berth/sdk";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cut, picture, seconds } from "./picture.ts";

const testbed = { name: "main", slots: { total: 4, free: 2, reserved: 1, occupied: 1, unavailable: 0 } } as TestbedView;
const slot = (id: number, state: SlotView["state"], job?: string): SlotView =>
  ({ testbed: "main", id, node: `n${Math.floor(id / 2)}`, state, ...(job !== undefined && { job }) }) as SlotView;
const job = (name: string, more: Partial<JobView>): JobView =>
  ({ name, kind: "job", phase: "Ready", waiting: false, submitted: 0, executors: {}, slots: [], ...more }) as JobView;

const scene = {
  testbeds: [{ ...testbed, scheduler: "fifo" }],
  slots: [slot(3, "unavailable"), slot(0, "occupied", "pi"), slot(1, "free"), slot(2, "reserved", "pi")],
  jobs: [
    job("pi", { phase: "Running", slots: [0, 2], testbed: "main", scheduling: "s", started: 10, message: "runs" }),
    job("queued", { waiting: true, submitted: 5, executors: { preferred: 3 } }),
    job("done", { phase: "Completed", started: 1, ended: 8 }),
  ],
  time: 75,
};

describe("the picture", () => {
  it("shows slots by node, and jobs with what they wait for", () => {
    expect(picture(scene, { columns: 100, rows: 30, color: false })).toEqual([
      "main  2 of 4 slots in use, scheduler fifo",
      " n0     0 pi           1 ·            n1     2 →pi          3 ×         ",
      "",
      "1 in the queue, 1 running, 1 ended",
      "JOB     KIND  PHASE      SLOTS  TIME   WHY",
      "queued  job   Waiting    (3)    1m10s",
      "pi      job   Running    0,2    1m05s  runs",
      "done    job   Completed  (1)    7s",
    ]);
  });

  it("fits on any screen, whatever there is", () => {
    const name = fc.string({ minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        fc.integer({ min: 40, max: 200 }),
        fc.integer({ min: 4, max: 60 }),
        fc.array(name),
        (columns, rows, names) => {
          const jobs = names.map((each, i) => job(each, { waiting: i % 2 === 0, message: each.repeat(5) }));
          const slots = names.map((_, i) => slot(i, "free"));
          const lines = picture({ ...scene, jobs, slots }, { columns, rows, color: false });
          expect(lines.length).toBeLessThan(rows);
        },
      ),
    );
  });

  it("tells spans of time as people do, and cuts what is too long", () => {
    expect([0.4, 59, 65, 3599, 7800].map(seconds)).toEqual(["0s", "59s", "1m05s", "59m59s", "2h10m"]);
    expect([cut("abc", 5), cut("abcdef", 4)]).toEqual(["abc  ", "abc…"]);
  });
});
