import { describe, expect, it } from "vitest";
import type { AnyObject } from "../../api/json.ts";
import { podColumns, podSummary } from "./pods.ts";

const pod = (status: object, spec: object = {}, metadata: object = {}): AnyObject => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [{ name: "a" }, { name: "b" }], ...spec },
  status,
});
const running = { ready: true, state: { running: {} } };
const ended = (exitCode: number, more: object = {}) => ({ state: { terminated: { exitCode, ...more } } });
const statusOf = (status: object, spec?: object, metadata?: object) => podSummary(pod(status, spec, metadata)).status;

describe("the status of a pod", () => {
  it("is its phase, or the reason for it", () => {
    expect(statusOf({ phase: "Pending" })).toBe("Pending");
    expect(statusOf({ phase: "Failed", reason: "Evicted" })).toBe("Evicted");
  });

  it("is SchedulingGated as long as it is", () => {
    const conditions = [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }];
    expect(statusOf({ phase: "Pending", conditions })).toBe("SchedulingGated");
  });

  it("is what a container waits for, or how it ended", () => {
    const waiting = { state: { waiting: { reason: "CrashLoopBackOff" } } };
    expect(statusOf({ phase: "Running", containerStatuses: [running, waiting] })).toBe("CrashLoopBackOff");
    expect(statusOf({ phase: "Failed", containerStatuses: [ended(1, { reason: "Error" })] })).toBe("Error");
    expect(statusOf({ phase: "Failed", containerStatuses: [ended(3)] })).toBe("ExitCode:3");
    expect(statusOf({ phase: "Failed", containerStatuses: [ended(0, { signal: 9 })] })).toBe("Signal:9");
  });

  it("with one container that ended well is that of the others", () => {
    const completed = ended(0, { reason: "Completed" });
    const conditions = [{ type: "Ready", status: "True" }];
    expect(statusOf({ phase: "Running", containerStatuses: [completed, running], conditions })).toBe("Running");
    expect(statusOf({ phase: "Running", containerStatuses: [completed, running] })).toBe("NotReady");
    expect(statusOf({ phase: "Failed", containerStatuses: [completed, ended(1, { reason: "Error" })] })).toBe("Error");
    expect(statusOf({ phase: "Succeeded", containerStatuses: [completed, completed] })).toBe("Completed");
  });

  it("tells how far the beginning has come", () => {
    const spec = { initContainers: [{ name: "i" }, { name: "j" }] };
    const status = (initContainerStatuses: object[]) => statusOf({ phase: "Pending", initContainerStatuses }, spec);
    expect(status([{ name: "i", state: { running: {} } }, { name: "j" }])).toBe("Init:0/2");
    expect(
      status([
        { name: "i", ...ended(0) },
        { name: "j", state: { waiting: { reason: "PodInitializing" } } },
      ]),
    ).toBe("Init:1/2");
    expect(status([{ name: "i", state: { waiting: { reason: "ErrImagePull" } } }])).toBe("Init:ErrImagePull");
    expect(status([{ name: "i", ...ended(2) }])).toBe("Init:ExitCode:2");
    expect(status([{ name: "i", ...ended(2, { reason: "Error" }) }])).toBe("Init:Error");
  });

  it("is Terminating when it is to go, unless it has ended or is lost", () => {
    const deletionTimestamp = "2020-01-01T00:00:00Z";
    expect(statusOf({ phase: "Running" }, {}, { deletionTimestamp })).toBe("Terminating");
    expect(statusOf({ phase: "Running", reason: "NodeLost" }, {}, { deletionTimestamp })).toBe("Unknown");
    expect(statusOf({ phase: "Succeeded" }, {}, { deletionTimestamp })).toBe("Succeeded");
  });
});

describe("what else is told of a pod", () => {
  it("counts containers that are ready, sidecars among them", () => {
    const spec = { initContainers: [{ name: "s", restartPolicy: "Always" }] };
    const status = {
      phase: "Running",
      initContainerStatuses: [{ name: "s", started: true, ready: true, state: { running: {} } }],
      containerStatuses: [running, { ready: false, state: { running: {} } }],
    };
    expect(podSummary(pod(status, spec))).toMatchObject({ ready: 2, containers: 3, status: "Running" });
  });

  it("counts restarts, and says when the last was", () => {
    const lastState = { terminated: { finishedAt: "2020-01-01T00:00:00Z" } };
    const containerStatuses = [
      { ...running, restartCount: 2, lastState },
      { ...running, restartCount: 1 },
    ];
    const cells = cellsOf(pod({ phase: "Running", containerStatuses }), Date.UTC(2020, 0, 1, 0, 1));
    expect(cells).toMatchObject({ Ready: "2/2", Restarts: "3 (60s ago)" });
  });

  it("says where it is, with -o wide", () => {
    const cells = cellsOf(
      pod({ podIPs: [{ ip: "10.0.0.1" }] }, { nodeName: "n1", readinessGates: [{ conditionType: "x" }] }),
      0,
    );
    expect(cells).toMatchObject({ IP: "10.0.0.1", Node: "n1", "Nominated Node": "<none>", "Readiness Gates": "0/1" });
  });
});

function cellsOf(object: AnyObject, now: number): Record<string, unknown> {
  return Object.fromEntries(podColumns.map((column) => [column.name, column.cell(object, now)]));
}
