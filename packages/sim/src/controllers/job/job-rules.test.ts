import type { batchV1, coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { NO_FAILURES, remainingMs, withEnded } from "./backoff.ts";
import { IndexSet } from "./indexes.ts";
import { finishedAt } from "./job-facts.ts";
import { podOfJob } from "./pods-of-job.ts";
import { enoughSucceeded, failureVerdict } from "./policies.ts";

const ended = (second: number, exitCode = 0): coreV1.Pod => ({
  metadata: { name: "p", namespace: "default" },
  status: {
    phase: exitCode === 0 ? "Succeeded" : "Failed",
    containerStatuses: [
      {
        ...{ name: "main", image: "", imageID: "", ready: false, restartCount: 0 },
        state: { terminated: { exitCode, finishedAt: new Date(second * 1000).toISOString() } },
      },
    ],
  },
});

describe("the back-off of pods", () => {
  it("doubles with each failure, up to ten minutes", () => {
    const waits = [0, 1, 2, 3, 6, 7, 8, 100].map((failures) => remainingMs({ failures, lastFailure: 0 }, 0) / 1000);
    expect(waits).toEqual([0, 10, 20, 40, 320, 600, 600, 600]);
    expect(remainingMs({ failures: 2, lastFailure: 5000 }, 12_000)).toBe(13_000);
  });

  it("starts again with a success", () => {
    const twice = withEnded(NO_FAILURES, [], [ended(1, 1), ended(2, 1)]);
    expect(twice).toEqual({ failures: 2, lastFailure: 2000 });
    expect(withEnded(twice, [ended(3)], [])).toEqual(NO_FAILURES);
    expect(withEnded(twice, [ended(3)], [ended(2, 1), ended(4, 1)])).toEqual({ failures: 1, lastFailure: 4000 });
    expect(withEnded(twice, [], [])).toBe(twice);
  });

  it("counts from the end of the last container, or from what comes closest", () => {
    expect(finishedAt(ended(7))).toBe(7000);
    const metadata = { creationTimestamp: "1970-01-01T00:00:01Z" };
    expect(finishedAt({ metadata })).toBe(1000);
    const deleted = { ...metadata, deletionTimestamp: "1970-01-01T00:01:00Z", deletionGracePeriodSeconds: 30 };
    expect(finishedAt({ metadata: deleted })).toBe(30_000);
    const ready = { type: "Ready", status: "False", lastTransitionTime: "1970-01-01T00:00:05Z" };
    expect(finishedAt({ metadata: deleted, status: { conditions: [ready] } })).toBe(5000);
  });
});

describe("failureVerdict", () => {
  const rules: batchV1.PodFailurePolicyRule[] = [
    { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
    { action: "FailJob", onExitCodes: { operator: "In", values: [42] } },
    { action: "FailIndex", onExitCodes: { operator: "NotIn", values: [1, 2] } },
  ];

  it("takes the first rule that fits", () => {
    expect(failureVerdict({ rules }, ended(0, 42))).toEqual({
      counts: true,
      action: "FailJob",
      failJob: "Container main for pod default/p failed with exit code 42 matching FailJob rule at index 1",
    });
    expect(failureVerdict({ rules }, ended(0, 3))).toEqual({ counts: true, action: "FailIndex" });
    expect(failureVerdict({ rules }, ended(0, 1))).toEqual({ counts: true });
    const disrupted = ended(0, 42);
    const conditions = [{ type: "DisruptionTarget", status: "True" }];
    expect(failureVerdict({ rules }, { ...disrupted, status: { ...disrupted.status, conditions } })).toEqual({
      counts: false,
      action: "Ignore",
    });
    expect(failureVerdict(undefined, ended(0, 42))).toEqual({ counts: true });
  });
});

describe("enoughSucceeded", () => {
  it("takes the first rule that is met", () => {
    const enough = (rules: batchV1.SuccessPolicyRule[], ...indexes: number[]) =>
      enoughSucceeded({ rules }, 10, IndexSet.of(indexes));
    expect(enough([{ succeededIndexes: "0,2-3" }], 0, 2, 3)).toBe("Matched rules at index 0");
    expect(enough([{ succeededIndexes: "0,2-3" }], 0, 2)).toBeUndefined();
    expect(enough([{ succeededIndexes: "0,2-3", succeededCount: 2 }], 0, 2)).toBe("Matched rules at index 0");
    expect(enough([{ succeededIndexes: "7" }, { succeededCount: 2 }], 0, 1)).toBe("Matched rules at index 1");
    expect(enough([{ succeededCount: 1 }])).toBeUndefined();
  });
});

describe("podOfJob", () => {
  const job: batchV1.Job = {
    metadata: { name: "j", namespace: "default", uid: "u" },
    spec: {
      completionMode: "Indexed",
      template: {
        metadata: { labels: { a: "b" }, annotations: { c: "d" } },
        spec: { containers: [{ name: "main", image: "x" }], restartPolicy: "Never" },
      },
    },
  };

  it("gives each index its name, its labels and its variable", () => {
    const pod = podOfJob(job, 3, undefined);
    expect(pod.metadata).toEqual({
      generateName: "j-3-",
      namespace: "default",
      labels: { a: "b", "batch.kubernetes.io/job-completion-index": "3" },
      annotations: { c: "d", "batch.kubernetes.io/job-completion-index": "3" },
      finalizers: ["batch.kubernetes.io/job-tracking"],
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(pod.spec?.hostname).toBe("j-3");
    expect(pod.spec?.containers[0]?.env).toEqual([
      {
        name: "JOB_COMPLETION_INDEX",
        valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
      },
    ]);
    expect(job.spec?.template.spec?.containers[0]).toEqual({ name: "main", image: "x" });
  });

  it("keeps count of an index's failures where there is a limit to them", () => {
    const limited = { ...job, spec: { ...job.spec, template: job.spec?.template ?? {}, backoffLimitPerIndex: 2 } };
    const first = podOfJob(limited, 0, undefined);
    expect(first.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"]).toBe("0");
    const second = podOfJob(limited, 0, { ...first, status: { phase: "Failed" } });
    expect(second.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"]).toBe("1");
  });
});
