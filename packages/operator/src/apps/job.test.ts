import type { batchV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { minimal, objectOf, orderFor, problemOf } from "../testing/orders.ts";
import type { RunOrder } from "./application.ts";
import { job } from "./job.ts";

const render = (spec: object = {}, order: Partial<RunOrder> = {}) => job.render(orderFor("jobSpec", spec, order));
const withContainers = (...containers: object[]) => ({ template: { spec: { containers } } });

describe("a Job", () => {
  it("is what people said, and what Berth adds", () => {
    expect(objectOf(render({ activeDeadlineSeconds: 600 }))).toEqual({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { namespace: "default", name: "sample-1" },
      spec: {
        activeDeadlineSeconds: 600,
        completions: 3,
        parallelism: 3,
        completionMode: "Indexed",
        backoffLimit: 0,
        podFailurePolicy: {
          rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
        },
        podReplacementPolicy: "Failed",
        template: {
          metadata: {
            labels: {
              "berth.dev/testbed": "lab.main",
              "berth.dev/role": "executor",
              "berth.dev/job": "default.sample",
              "berth.dev/run": "1",
            },
            annotations: { "berth.dev/testbed": "lab/main", "berth.dev/job": "default/sample" },
          },
          spec: {
            restartPolicy: "Never",
            priorityClassName: "berth-slot",
            schedulingGates: [{ name: "berth.dev/slot" }],
            containers: [
              {
                ...minimal.jobSpec.template.spec.containers[0],
                resources: { requests: { cpu: "700m", memory: "896Mi" } },
              },
            ],
          },
        },
      },
    });
  });

  it("counts, ends and stays as Berth wants it", () => {
    const failJob = { action: "FailJob", onExitCodes: { operator: "In", values: [42] } };
    const { spec } = objectOf(
      render({
        completions: 7,
        parallelism: 1,
        completionMode: "NonIndexed",
        backoffLimit: 6,
        backoffLimitPerIndex: 2,
        maxFailedIndexes: 1,
        manualSelector: true,
        selector: { matchLabels: { a: "b" } },
        suspend: true,
        ttlSecondsAfterFinished: 5,
        podReplacementPolicy: "TerminatingOrFailed",
        podFailurePolicy: { rules: [failJob, { ...failJob, action: "FailIndex" }] },
      }),
    );
    expect(spec).toMatchObject({ completions: 3, parallelism: 3, completionMode: "Indexed", backoffLimit: 0 });
    expect(spec?.podFailurePolicy?.rules.slice(1)).toEqual([failJob]);
    expect(Object.keys(spec ?? {}).toSorted()).toEqual([
      "backoffLimit",
      "completionMode",
      "completions",
      "parallelism",
      "podFailurePolicy",
      "podReplacementPolicy",
      "template",
    ]);
  });

  it.each<[title: string, spec: object, code: string, says: string]>([
    ["no containers", { template: {} }, "INVALID", "jobSpec.template.spec.containers must have at least one container"],
    ["no template", { template: undefined }, "INVALID", "at least one container"],
    ["nonsense", { template: 5 }, "INVALID", "jobSpec.template must be an object, not 5"],
    [
      "more than a slot",
      withContainers({ name: "main", resources: { requests: { memory: "1Gi" } } }),
      "TOO_LARGE",
      'jobSpec.template.spec.containers "main" asks for 1Gi of memory, but a slot has 896Mi',
    ],
    [
      "others with more than a slot",
      withContainers({ name: "main" }, { name: "log", resources: { requests: { cpu: "800m" } } }),
      "TOO_LARGE",
      'which has 700m of cpu: container "log" 800m',
    ],
  ])("is refused with %s", (_title, spec, code, says) => {
    expect(problemOf(render(spec))).toEqual({
      code: `BERTH_APPLICATION_${code}`,
      message: expect.stringContaining(says),
    });
  });
});

describe("how it stands", () => {
  const startTime = "2026-01-01T00:00:00Z";
  const condition = (type: string, more: object = {}) =>
    ({ type, status: "True", lastTransitionTime: "2026-01-01T00:10:00Z", ...more }) as batchV1.JobCondition;

  it.each<[title: string, status: batchV1.JobStatus, expected: object]>([
    ["nobody has looked at it", {}, { phase: "pending" }],
    ["its pods wait", { startTime, active: 3, ready: 0 }, { phase: "pending" }],
    ["one is ready", { startTime, active: 3, ready: 1 }, { phase: "running", startTime }],
    ["one has ended", { startTime, active: 2, succeeded: 1 }, { phase: "running", startTime }],
    [
      "one has just ended",
      { startTime, uncountedTerminatedPods: { succeeded: ["x"] } },
      { phase: "running", startTime },
    ],
    [
      "it is about to fail",
      { startTime, active: 2, failed: 1, conditions: [condition("FailureTarget", { reason: "BackoffLimitExceeded" })] },
      { phase: "running", startTime, message: "BackoffLimitExceeded" },
    ],
    [
      "it has failed",
      {
        startTime,
        failed: 1,
        conditions: [condition("Failed", { reason: "BackoffLimitExceeded", message: "too often" })],
      },
      { phase: "failed", startTime, endTime: "2026-01-01T00:10:00Z", message: "BackoffLimitExceeded: too often" },
    ],
    [
      "it is complete",
      {
        startTime,
        completionTime: "2026-01-01T00:05:00Z",
        conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
      },
      { phase: "completed", startTime, endTime: "2026-01-01T00:05:00Z" },
    ],
    ["it was suspended", { conditions: [condition("Suspended")] }, { phase: "pending", message: "Suspended" }],
    ["it was resumed", { ready: 1, conditions: [condition("Suspended", { status: "False" })] }, { phase: "running" }],
  ])("when %s", (_title, status, expected) => {
    expect(job.observe({ metadata: {}, status })).toEqual(expected);
  });
});

describe("its executors", () => {
  it.each<[Record<string, string>, boolean]>([
    [{ "batch.kubernetes.io/job-name": "sample-1", "berth.dev/role": "executor" }, true],
    [{ "batch.kubernetes.io/job-name": "sample-1" }, false],
    [{ "berth.dev/role": "executor" }, false],
  ])("are known by their labels: %j", (labels, expected) => {
    expect(job.isExecutor({ metadata: { labels } })).toBe(expected);
  });
});
