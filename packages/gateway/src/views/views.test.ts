/** What is shown of the resources. */
import type { coreV1 } from "@berth/kube";
import type { BatchJob, JobRun, Scheduling, Slot, Testbed, TurnSlot } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Epoch } from "./epoch.ts";
import { jobViewOf, nameIn, runViewOf, submittedAt, wantsToRun } from "./job.ts";
import { nodeViewOf, schedulingViewOf, slotViewOf, testbedViewOf } from "./others.ts";

const epoch = new Epoch(Date.UTC(2020, 0, 1));
const meta = (more: object = {}) => ({
  ...{ name: "pi", namespace: "default", resourceVersion: "7", creationTimestamp: "2020-01-01T00:00:10Z" },
  ...more,
});
const job = (more: { metadata?: object; spec?: object; status?: object } = {}) =>
  ({
    metadata: meta(more.metadata),
    spec: { jobSpec: {}, ...more.spec },
    ...(more.status && { status: more.status }),
  }) as BatchJob;

describe("R21 times", () => {
  it("R21 are in seconds since the epoch, to the microsecond", () => {
    expect(epoch.of("2020-01-01T00:00:01Z")).toBe(1);
    expect(epoch.of("2020-01-01T00:00:01.123456Z")).toBe(1.123456);
    expect(epoch.of("2020-01-01T01:00:00+01:00")).toBe(0);
    expect(new Epoch().of("1970-01-01T00:00:00.5Z")).toBe(0.5);
    expect(epoch.of("nonsense")).toBeNaN();
  });

  it("R21 are the same there and back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (microseconds) => {
        const seconds = microseconds / 1e6;
        expect(epoch.seconds(epoch.milliseconds(seconds))).toBeCloseTo(seconds, 5);
      }),
    );
  });
});

describe("a job", () => {
  it("R21 was submitted when the gateway says so, or else when it was made", () => {
    const at = (text?: string) =>
      submittedAt(job({ metadata: { annotations: text === undefined ? {} : { "berth.dev/submitted": text } } }), epoch);
    expect(at("2020-01-01T00:00:03.250000Z")).toBe(3.25);
    expect(at()).toBe(10);
    expect(at("yesterday")).toBe(10);
  });

  it("R21 wants to run until it has ended, and again if somebody wants that after that run", () => {
    const wants = (phase: string | undefined, run: number, rerunAfter?: string) =>
      wantsToRun(
        job({
          metadata: { annotations: rerunAfter === undefined ? {} : { "berth.dev/rerun-after": rerunAfter } },
          status: { ...(phase && { phase }), run },
        }),
      );
    expect([wants(undefined, 0), wants("Ready", 1), wants("Running", 1)]).toEqual([true, true, true]);
    expect([wants("Completed", 1), wants("Failed", 2)]).toEqual([false, false]);
    expect([wants("Completed", 1, "1"), wants("Completed", 2, "1")]).toEqual([true, false]);
    expect(wantsToRun(job({ metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } }))).toBe(false);
  });

  it("R21 is shown flat, with what is known and nothing else", () => {
    expect(jobViewOf(job(), epoch, false)).toEqual({
      ...{ name: "pi", kind: "job", phase: "Ready", waiting: true, submitted: 10, executors: {}, slots: [] },
      ...{ labels: {}, data: {}, history: [], version: "7" },
    });
    const running = job({
      spec: {
        ...{ externalScheduler: { a: 1 }, executors: { min: 2 }, activeScheduling: { name: "s" } },
        creationRequest: { testbed: { name: "main" }, slots: [3, 4] },
      },
      status: {
        ...{ phase: "Running", startTime: "2020-01-01T00:01:00Z", executors: { requested: 2, placed: 2, running: 1 } },
        conditions: [{ type: "Progressing", status: "True", reason: "x", message: "runs", lastTransitionTime: "" }],
      },
    });
    expect(jobViewOf(running, epoch, true)).toMatchObject({
      ...{ waiting: false, phase: "Running", started: 60, placed: 2, running: 1, testbed: "main", slots: [3, 4] },
      ...{ scheduling: "s", message: "runs", data: { a: 1 }, executors: { min: 2 } },
    });
  });

  it("R8 has runs with their slots and neighbours, without namespaces", () => {
    const run: JobRun = {
      ...{ number: 3, startTime: "2020-01-01T00:00:05Z", completionTime: "2020-01-01T00:00:09Z" },
      ...{ seconds: 4, testbed: "default/main", slots: [0], neighbours: ["default/pi", "crawler"] },
      outcome: "Completed",
    };
    expect(runViewOf(run, epoch)).toEqual({
      ...{ number: 3, outcome: "Completed", started: 5, ended: 9, runtime: 4, testbed: "main", slots: [0] },
      neighbours: ["pi", "crawler"],
    });
    expect(runViewOf({ number: 1, outcome: "Released", completionTime: run.completionTime }, epoch)).toEqual({
      ...{ number: 1, outcome: "Released", ended: 9, neighbours: [] },
    });
    expect([nameIn("a/b"), nameIn("b")]).toEqual(["b", "b"]);
  });
});

describe("others", () => {
  it("R21 a testbed is not ready until somebody says so", () => {
    const testbed = {
      metadata: meta({ name: "main" }),
      spec: { slotsPerNode: 2, nodeLabel: "x", resourcesPerSlot: { cpu: 1, memory: "1Gi" } },
    } as unknown as Testbed;
    const slots = { total: 3, free: 2, reserved: 0, occupied: 1, unavailable: 0 };
    expect(testbedViewOf(testbed, slots, undefined)).toEqual({
      ...{ name: "main", nodes: 0, slotsPerNode: 2, nodeLabel: "x", resourcesPerSlot: { cpu: "1", memory: "1Gi" } },
      ...{ slots, ready: false, version: "7" },
    });
    expect(testbedViewOf(testbed, slots, "fifo").scheduler).toBe("fifo");
  });

  it("R22 a slot says what turns say of it, and what its status adds if that is about the same", () => {
    const slot = (line: Pick<TurnSlot, "state" | "job" | "reason">, status?: object) =>
      slotViewOf(
        {
          metadata: meta(),
          spec: { testbed: "main", position: 4, nodeName: "n1", resources: { cpu: "1" } },
          ...(status && { status }),
        } as unknown as Slot,
        { id: 4, node: "n1", ...line },
        epoch,
      );
    const common = { testbed: "main", id: 4, node: "n1", resources: { cpu: "1" }, version: "7" };
    const occupied = { state: "occupied", job: "default/pi", podName: "pi-0", since: "2020-01-01T00:00:02Z" };
    expect(slot({ state: "unavailable", reason: "no room" })).toEqual({
      ...{ ...common, state: "unavailable", reason: "no room" },
    });
    expect(slot({ state: "occupied", job: "pi" }, occupied)).toEqual({
      ...{ ...common, state: "occupied", job: "pi", pod: "pi-0", since: 2 },
    });
    expect(slot({ state: "reserved", job: "next" }, occupied)).toEqual({ ...common, state: "reserved", job: "next" });
    expect(slot({ state: "free" }, occupied)).toEqual({ ...common, state: "free" });
    const ghost = { state: "free", podName: "ghost-4", since: "2020-01-01T00:00:03Z" };
    expect(slot({ state: "free" }, ghost)).toEqual({ ...common, state: "free", pod: "ghost-4", since: 3 });
  });

  it("R21 a Scheduling shows each job once: as it stands, or else as it is wanted", () => {
    const scheduling = (spec: object, status?: object, labels?: object) =>
      schedulingViewOf(
        {
          metadata: meta({ labels }),
          spec: { testbed: { name: "main" }, ...spec },
          ...(status && { status }),
        } as unknown as Scheduling,
        epoch,
      );
    expect(scheduling({ queueBased: [{ name: "a" }, { name: "b" }, { name: "a" }] })).toMatchObject({
      ...{ phase: "Acquire", strategy: "queue", exclusive: false, created: 10 },
      jobs: [
        { name: "a", phase: "Waiting" },
        { name: "b", phase: "Waiting" },
      ],
    });
    const told = {
      jobs: [
        { name: "b", phase: "Running", slots: [9] },
        { name: "gone", phase: "Released" },
      ],
    };
    expect(
      scheduling(
        {
          slotBased: [
            { name: "a", slots: [1] },
            { name: "b", slots: [2] },
          ],
        },
        told,
      ).jobs,
    ).toEqual([
      { name: "a", phase: "Waiting", slots: [1] },
      { name: "b", phase: "Running", slots: [9] },
      { name: "gone", phase: "Released" },
    ]);
    const turn = { "berth.dev/scheduler": "fifo", "berth.dev/turn": "17" };
    expect(scheduling({ slotBased: [] }, undefined, turn)).toMatchObject({ scheduler: "fifo", turn: 17 });
    expect(scheduling({ slotBased: [] }, undefined, { ...turn, "berth.dev/turn": "x" })).not.toHaveProperty("turn");
  });

  it("R21 a node shows its slots by testbed and number", () => {
    const slot = (testbed: string, position: number) => ({ spec: { testbed, position } }) as Slot;
    const node = { metadata: { name: "n0" }, spec: { unschedulable: true } } as coreV1.Node;
    expect(nodeViewOf(node, [slot("b", 0), slot("a", 10), slot("a", 9)])).toEqual({
      ...{ name: "n0", ready: false, schedulable: false, labels: {}, allocatable: {}, version: "" },
      slots: [
        { testbed: "a", id: 9 },
        { testbed: "a", id: 10 },
        { testbed: "b", id: 0 },
      ],
    });
  });
});
