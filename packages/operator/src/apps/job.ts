/**
 * A plain Job, whose pods are the executors: one index for each slot. Pure.
 *
 * A pod that was taken away (its node was lost or drained, or it was evicted) is not its program's fault: the Job controller
 * makes another one, which is placed again. A pod that fails makes the Job fail at once; trying again is the job's affair.
 */
import { batchV1, findCondition } from "@berth/kube";
import type { ApplicationAdapter, Observation, RunOrder } from "./application.ts";
import { hasExecutorLabel, keyOfJob } from "./labels.ts";
import { forPlacement, templateAt, withReplaced } from "./pod-template.ts";
import { objectAt, objectsAt, without } from "./reading.ts";
import { answered, refuse } from "./refusal.ts";
import { amountsOf, fitted, leftFor } from "./requests.ts";

/** These count failures by index, select pods by other labels, keep the Job from running, or remove it too early. */
const UNWANTED = [
  "backoffLimitPerIndex",
  "maxFailedIndexes",
  "selector",
  "manualSelector",
  "suspend",
  "ttlSecondsAfterFinished",
] as const;

export const job: ApplicationAdapter<batchV1.Job> = {
  kind: "job",
  resource: batchV1.Job,
  survivesLoss: false,
  render: (order) => answered(() => jobFor(order)),
  observe,
  isExecutor: ({ metadata: { labels } }) =>
    labels?.["batch.kubernetes.io/job-name"] !== undefined && hasExecutorLabel(labels),
};

function jobFor(order: RunOrder): batchV1.Job {
  const given = objectAt(order.job.spec.jobSpec, "jobSpec");
  const path = "jobSpec.template.spec";
  const template = templateAt(given.template, "jobSpec.template");
  const [main] = template.spec.containers;
  if (!main) return refuse("BERTH_APPLICATION_INVALID", `${path}.containers must have at least one container`);
  const slot = amountsOf(order.resources);
  const left = leftFor(main, template.spec, slot, path);
  const filled = withReplaced(template, main, fitted(main, left, slot, `${path}.containers "${main.name}"`));
  const placed = forPlacement(filled, order);

  return {
    apiVersion: batchV1.Job.apiVersion,
    kind: batchV1.Job.kind,
    metadata: { namespace: keyOfJob(order).namespace, name: order.name },
    spec: {
      ...without(given, ...UNWANTED),
      completions: order.slots.length,
      parallelism: order.slots.length,
      completionMode: "Indexed",
      backoffLimit: 0,
      podFailurePolicy: failurePolicy(given.podFailurePolicy),
      // Not before the old one has left its slot; with a failure policy there is no other choice.
      podReplacementPolicy: "Failed",
      // A container that starts again in place would be a failure that nobody sees.
      template: { ...placed, spec: { ...placed.spec, restartPolicy: "Never" } },
    },
  };
}

/** Pods that were taken away do not count; what people say of others holds, except what needs a count for each index. */
function failurePolicy(given: unknown): batchV1.PodFailurePolicy {
  const path = "jobSpec.podFailurePolicy";
  const rules = objectsAt(objectAt(given, path).rules, `${path}.rules`) as unknown as batchV1.PodFailurePolicyRule[];
  return {
    rules: [
      { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
      ...rules.filter(({ action }) => action !== "FailIndex"),
    ],
  };
}

function observe({ status = {} }: batchV1.Job): Observation {
  const { startTime, completionTime, conditions = [] } = status;
  const holds = (type: string) => {
    const condition = findCondition(conditions, type);
    return condition?.status === "True" ? condition : undefined;
  };
  const started = startTime === undefined ? {} : { startTime };
  const complete = holds("Complete");
  if (complete) {
    const endTime = completionTime ?? complete.lastTransitionTime;
    return { phase: "completed", ...started, ...(endTime !== undefined && { endTime }) };
  }
  const failed = holds("Failed");
  if (failed) {
    const { lastTransitionTime: endTime } = failed;
    return { phase: "failed", ...messageOf(failed), ...started, ...(endTime !== undefined && { endTime }) };
  }
  const suspended = holds("Suspended");
  if (suspended) return { phase: "pending", message: suspended.message || "Suspended" };
  // A pod is active from its creation on, also while it waits for its slot: those that are ready or have ended did run.
  const { ready = 0, succeeded = 0, failed: failures = 0, uncountedTerminatedPods } = status;
  const uncounted = (uncountedTerminatedPods?.succeeded?.length ?? 0) + (uncountedTerminatedPods?.failed?.length ?? 0);
  if (ready + succeeded + failures + uncounted === 0) return { phase: "pending" };
  const ending = holds("FailureTarget");
  return { phase: "running", ...(ending && messageOf(ending)), ...started };
}

function messageOf({ reason, message }: batchV1.JobCondition): { message: string } {
  return { message: [reason, message].filter(Boolean).join(": ") || "Failed" };
}
