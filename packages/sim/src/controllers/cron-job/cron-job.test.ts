import { batchV1 } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testCluster } from "../testing/cluster.ts";
import { CronJobController, lastDue } from "./cron-job-controller.ts";
import { scheduleFrom } from "./schedule.ts";

const next = (text: string, after: string, zone?: string) => {
  const found = scheduleFrom(text, zone)?.next(Date.parse(after));
  return found === undefined ? undefined : new Date(found).toISOString();
};

describe("scheduleFrom", () => {
  it.each([
    ["* * * * *", "2020-01-01T00:00:00Z", "2020-01-01T00:01:00.000Z"],
    ["*/15 * * * *", "2020-01-01T00:14:59Z", "2020-01-01T00:15:00.000Z"],
    ["30 6 * * mon-fri", "2020-01-03T07:00:00Z", "2020-01-06T06:30:00.000Z"],
    ["0 0 29 feb *", "2021-01-01T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["0 12 1,15 * *", "2020-01-01T12:00:00Z", "2020-01-15T12:00:00.000Z"],
    ["0 0 13 * fri", "2020-01-01T00:00:00Z", "2020-01-03T00:00:00.000Z"],
    ["0 0 13 * *", "2020-01-01T00:00:00Z", "2020-01-13T00:00:00.000Z"],
    ["5/20 * * * *", "2020-01-01T00:30:00Z", "2020-01-01T00:45:00.000Z"],
    ["@hourly", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00.000Z"],
    ["@weekly", "2020-01-01T00:00:00Z", "2020-01-05T00:00:00.000Z"],
    ["@every 90s", "2020-01-01T00:00:00Z", "2020-01-01T00:01:30.000Z"],
  ])("%s after %s: %s", (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it("knows other zones, and the hours that they leave out", () => {
    expect(next("0 9 * * *", "2020-01-01T00:00:00Z", "America/New_York")).toBe("2020-01-01T14:00:00.000Z");
    expect(next("0 9 * * *", "2020-07-01T00:00:00Z", "America/New_York")).toBe("2020-07-01T13:00:00.000Z");
    expect(next("30 2 * * *", "2020-03-08T00:00:00-05:00", "America/New_York")).toBe("2020-03-09T06:30:00.000Z");
    expect(next("CRON_TZ=Asia/Tokyo 0 9 * * *", "2020-01-01T01:00:00Z")).toBe("2020-01-02T00:00:00.000Z");
  });

  it("gives up on what never comes", () => {
    expect(next("0 0 31 feb *", "2020-01-01T00:00:00Z")).toBeUndefined();
  });

  it.each(["", "* * * *", "60 * * * *", "* * * * 8", "a * * * *", "*/0 * * * *", "5-1 * * * *", "@never", "@every x"])(
    "does not understand %j",
    (text) => {
      expect(scheduleFrom(text, undefined)).toBeUndefined();
    },
  );

  it("does not understand zones that there are not", () => {
    expect(scheduleFrom("* * * * *", "Mars/Olympus")).toBeUndefined();
  });
});

describe("lastDue", () => {
  it("is the last of what was due, and only that", () => {
    const schedule = scheduleFrom("*/7 3-20 * * *", undefined);
    if (!schedule) throw new Error("a schedule");
    const moment = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2020, 0, 5) });
    fc.assert(
      fc.property(moment, fc.nat(86_400_000), (after, length) => {
        const until = after + length;
        const all: number[] = [];
        for (let due = schedule.next(after); due !== undefined && due <= until; due = schedule.next(due)) all.push(due);
        expect(lastDue(schedule, after, until)).toBe(all.at(-1));
      }),
    );
  });
});

function world() {
  const cluster = testCluster();
  cluster.start(new CronJobController(cluster.surroundings("cron")));
  const { api } = cluster;
  const template = { spec: { containers: [{ name: "c", image: "x" }], restartPolicy: "Never" as const } };
  const create = (spec: Partial<batchV1.CronJobSpec> = {}) =>
    api.create(batchV1.CronJob, {
      metadata: { name: "c", namespace: "default" },
      spec: {
        schedule: "*/10 * * * *",
        jobTemplate: { metadata: { labels: { a: "b" } }, spec: { template } },
        ...spec,
      },
    });
  const jobs = () => api.list(batchV1.Job, "default");
  const get = () => api.get(batchV1.CronJob, { namespace: "default", name: "c" });
  const finish = (type: "Complete" | "Failed" = "Complete") => {
    for (const job of jobs()) {
      if (job.status?.conditions) continue;
      const time = new Date(cluster.clock.now()).toISOString().replace(".000Z", "Z");
      const interim = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
      const condition = (name: string) => ({
        type: name,
        status: "True",
        lastProbeTime: time,
        lastTransitionTime: time,
      });
      api.updateStatus(batchV1.Job, {
        ...job,
        status: {
          startTime: time,
          conditions: [condition(interim), condition(type)],
          ...(type === "Complete" && { completionTime: time, succeeded: 1 }),
        },
      });
    }
  };
  return { ...cluster, create, jobs, get, finish };
}

describe("a CronJob", () => {
  it("makes a Job whenever it is due", async () => {
    const { clock, create, jobs, get, failures } = world();
    create();
    await clock.advance(599_999);
    expect(jobs()).toEqual([]);
    await clock.advance(1);
    expect(jobs()).toHaveLength(1);
    const minutes = Date.UTC(2020, 0, 1, 0, 10) / 60_000;
    expect(jobs()[0]?.metadata).toMatchObject({
      name: `c-${minutes}`,
      labels: { a: "b" },
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2020-01-01T00:10:00Z" },
      ownerReferences: [{ kind: "CronJob", name: "c", controller: true }],
    });
    expect(get()?.status).toMatchObject({ lastScheduleTime: "2020-01-01T00:10:00Z", active: [{ kind: "Job" }] });
    await clock.advance(600_000);
    expect(jobs()).toHaveLength(2);
    expect(get()?.status?.active).toHaveLength(2);
    expect(failures).toEqual([]);
  });

  it("keeps some of its Jobs", async () => {
    const { clock, create, jobs, get, finish } = world();
    create({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 });
    for (let turn = 0; turn < 8; turn++) {
      await clock.advance(600_000);
      finish(turn % 2 === 0 ? "Complete" : "Failed");
      await clock.settle();
    }
    const ends = jobs().map(({ status }) => status?.conditions?.at(-1)?.type);
    expect(ends.toSorted()).toEqual(["Complete", "Complete", "Failed"]);
    expect(get()?.status?.active).toBeUndefined();
    expect(get()?.status?.lastSuccessfulTime).toBe("2020-01-01T01:10:00Z");
  });

  it("does not start a second one, or replaces the first, if it is told to", async () => {
    const forbidding = world();
    forbidding.create({ concurrencyPolicy: "Forbid" });
    await forbidding.clock.advance(1_800_000);
    expect(forbidding.jobs()).toHaveLength(1);
    forbidding.finish();
    await forbidding.clock.advance(600_000);
    expect(forbidding.jobs()).toHaveLength(2);
    const replacing = world();
    replacing.create({ concurrencyPolicy: "Replace" });
    await replacing.clock.advance(1_800_000);
    expect(replacing.jobs()).toHaveLength(1);
    expect(replacing.get()?.status?.active).toHaveLength(1);
  });

  it("can be suspended, and catches up with the last time only", async () => {
    const { clock, create, jobs, api } = world();
    create({ suspend: true });
    await clock.advance(3_600_000);
    expect(jobs()).toEqual([]);
    api.patch(batchV1.CronJob, { namespace: "default", name: "c" }, { spec: { suspend: false } });
    await clock.settle();
    expect(jobs()).toHaveLength(1);
  });
});
