import type { batchV1, coreV1, KubernetesObject } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { ApplicationAdapter } from "../apps/application.ts";
import { job } from "../apps/job.ts";
import { annotation, SLOT_GATE } from "../names.ts";
import { applicationMoved, executorMoved } from "./waking.ts";

const gated: coreV1.Pod = {
  metadata: { name: "pi-1-0", finalizers: ["batch.kubernetes.io/job-tracking"], labels: { a: "b" }, annotations: {} },
  spec: { containers: [{ name: "main" }], schedulingGates: [{ name: SLOT_GATE }] },
  status: { phase: "Pending" },
};
const { schedulingGates: _lifted, ...open } = gated.spec as coreV1.PodSpec;
const placed: coreV1.Pod = {
  ...gated,
  metadata: { ...gated.metadata, annotations: { [annotation.slot]: "3" } },
  spec: open,
};

describe("a job is looked at again", () => {
  it.each<[string, coreV1.Pod, coreV1.Pod]>([
    ["has its slot", gated, placed],
    ["is let in by somebody else", gated, { ...gated, spec: open }],
    ["runs", placed, { ...placed, status: { phase: "Running" } }],
    ["has ended", { ...placed, status: { phase: "Running" } }, { ...placed, status: { phase: "Failed" } }],
    [
      "is about to go",
      placed,
      { ...placed, metadata: { ...placed.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    ],
    ["is another's executor now", placed, { ...placed, metadata: { ...placed.metadata, labels: { a: "c" } } }],
  ])("when an executor %s", (_, old, pod) => {
    expect(executorMoved(old, pod)).toBe(true);
  });

  it.each<[string, coreV1.Pod]>([
    ["is bound", { ...placed, spec: { ...open, nodeName: "node-1" } }],
    ["is ready", { ...placed, status: { phase: "Pending", conditions: [{ type: "Ready", status: "True" }] } }],
    ["is counted by its Job", { ...placed, metadata: { ...placed.metadata, finalizers: [] } }],
  ])("but not when one %s", (_, pod) => {
    expect(executorMoved(placed, pod)).toBe(false);
  });

  const moved = applicationMoved(job as ApplicationAdapter);
  const application = (status: batchV1.JobStatus): KubernetesObject => ({
    ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: "pi-1", uid: "1" } },
    ...({ status } as object),
  });

  it("when its application runs, and when it has ended, but not when that is counted", () => {
    const waiting = application({ startTime: "2026-01-01T00:00:00Z", active: 1 });
    const running = application({ startTime: "2026-01-01T00:00:00Z", active: 1, ready: 1 });
    const counting = application({ startTime: "2026-01-01T00:00:00Z", uncountedTerminatedPods: { succeeded: ["x"] } });
    const completed = application({ succeeded: 1, conditions: [{ type: "Complete", status: "True" }] });
    expect(moved(waiting, running)).toBe(true);
    expect(moved(running, counting)).toBe(false);
    expect(moved(counting, completed)).toBe(true);
  });
});
