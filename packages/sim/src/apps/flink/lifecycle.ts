/**
 * The life of a FlinkDeployment, as apache/flink-kubernetes-operator 1.15 leads it in native mode: from what is observed to
 * what is to be done. Pure.
 */
import { type appsV1, type Condition, hasFinalizer, kubernetesTime } from "@berth/kube";
import { equal, isObject } from "../../api/json.ts";
import { resourcesOf, taskManagersOf } from "./conf.ts";
import {
  FLINK_FINALIZER,
  type FlinkDeployment,
  type FlinkDeploymentSpec,
  type FlinkDeploymentStatus,
  type FlinkJobState,
  type LifecycleState,
} from "./deployment.ts";

/** What there is of a deployment in the cluster. */
export interface Observed {
  readonly jobManager: appsV1.Deployment | undefined;
  readonly taskManagers: number;
  /** What the JobManager says of its job; `undefined` if it does not answer. */
  readonly job: { readonly state: FlinkJobState; readonly since?: number | undefined } | undefined;
}

/** How long the operator waits between two looks, in milliseconds. */
export interface Intervals {
  /** While the JobManager is being deployed. */
  readonly progressMs: number;
  /** From the JobManager's port to its REST API. */
  readonly restMs: number;
  /** In general. */
  readonly reconcileMs: number;
  /** For how long a JobManager stays whose job has ended. */
  readonly shutdownMs: number;
}

/** What is to be done, in this order. */
export interface Decision {
  readonly addFinalizer?: boolean;
  readonly deleteCluster?: boolean;
  readonly deploy?: boolean;
  readonly removeFinalizer?: boolean;
  readonly status?: FlinkDeploymentStatus;
  readonly afterMs?: number;
}

/** @param newJobId - For a job that is deployed now. */
export function decide(
  flink: FlinkDeployment,
  observed: Observed,
  now: number,
  intervals: Intervals,
  newJobId: () => string,
): Decision {
  const { metadata, spec } = flink;
  const status = statusOf(flink);
  const isGone = !observed.jobManager && observed.taskManagers === 0;
  if (metadata.deletionTimestamp !== undefined) {
    if (isGone) return { removeFinalizer: true };
    return { deleteCluster: true, status: { ...status, lifecycleState: "DELETING" } };
  }
  if (!hasFinalizer(flink, FLINK_FINALIZER)) return { addFinalizer: true };
  const problem = problemWith(flink);
  if (problem !== undefined) return { status: finished({ ...status, error: errorText(problem) }, now) };

  const last = specIn(status.reconciliationStatus.lastReconciledSpec);
  if (!last) {
    if (spec.job?.state === "suspended") {
      return { status: finished({ ...status, error: errorText("Job must start in running state") }, now) };
    }
    return { deploy: true, status: deployed(flink, now, newJobId()), afterMs: intervals.progressMs };
  }
  if (status.reconciliationStatus.state === "UPGRADING") {
    if (!isGone) return { deleteCluster: true, afterMs: intervals.progressMs };
    if (isSuspended(spec)) return afterChange(flink, last, observed, now);
    return { deploy: true, status: deployed(flink, now, newJobId()), afterMs: intervals.progressMs };
  }
  if (isChanged(last, spec)) return afterChange(flink, last, observed, now);
  if (isSuspended(last)) return observed.jobManager ? { deleteCluster: true } : {};
  return observe(flink, observed, now, intervals, newJobId);
}

/** Looks at the JobManager, and through it at its job. */
function observe(
  flink: FlinkDeployment,
  { jobManager, job }: Observed,
  now: number,
  intervals: Intervals,
  newJobId: () => string,
): Decision {
  const status = statusOf(flink);
  const was = status.jobManagerDeploymentStatus;
  if (!jobManager) {
    // Its job has ended and its time was up, or somebody has removed it: then it comes back.
    if (isOver(status.jobStatus.state))
      return { status: finished({ ...status, jobManagerDeploymentStatus: "MISSING" }, now) };
    return { deploy: true, status: deployed(flink, now, newJobId()), afterMs: intervals.progressMs };
  }
  if (was === "READY" || was === "DEPLOYED_NOT_READY") {
    const ready: FlinkDeploymentStatus = { ...status, jobManagerDeploymentStatus: "READY" };
    const next = flink.spec.job ? withJob(ready, flink, job, now) : ready;
    if (!isOver(next.jobStatus.state))
      return { status: finished(stabilised(next), now), afterMs: intervals.reconcileMs };
    // Nothing changes any more once a job has ended: the operator would look in vain.
    const afterMs = Number(next.jobStatus.updateTime) + intervals.shutdownMs - now;
    if (!(afterMs > 0)) {
      return { deleteCluster: true, status: finished({ ...next, jobManagerDeploymentStatus: "MISSING" }, now) };
    }
    return { status: finished(stabilised(next), now), afterMs };
  }
  const { replicas = 1 } = jobManager.spec ?? {};
  const available = jobManager.status?.availableReplicas === replicas && jobManager.status.replicas === replicas;
  const failure = jobManager.status?.conditions?.find(
    ({ type, reason, status: holds }) => type === "ReplicaFailure" && reason === "FailedCreate" && holds === "True",
  );
  if (available) {
    return {
      status: finished({ ...status, jobManagerDeploymentStatus: "DEPLOYED_NOT_READY" }, now),
      afterMs: intervals.restMs,
    };
  }
  const error = failure && errorText(failure.message ?? "FailedCreate");
  return {
    status: finished(
      { ...status, jobManagerDeploymentStatus: failure ? "ERROR" : "DEPLOYING", ...(error !== undefined && { error }) },
      now,
    ),
    afterMs: intervals.progressMs,
  };
}

/** The spec is another: the job is cancelled, and deployed anew unless it is to be suspended. */
function afterChange(
  flink: FlinkDeployment,
  last: FlinkDeploymentSpec,
  { jobManager }: Observed,
  now: number,
): Decision {
  const { spec } = flink;
  const status = statusOf(flink);
  const stops = isSuspended(spec);
  const cancelled: FlinkDeploymentStatus = {
    ...status,
    jobManagerDeploymentStatus: "MISSING",
    jobStatus: { ...status.jobStatus, ...(!isSuspended(last) && { state: "FINISHED", updateTime: String(now) }) },
    ...(flink.metadata.generation !== undefined && { observedGeneration: flink.metadata.generation }),
    reconciliationStatus: {
      ...status.reconciliationStatus,
      lastReconciledSpec: textOf(
        stops ? spec : { ...spec, ...(spec.job && { job: { ...spec.job, state: "suspended" } }) },
      ),
      reconciliationTimestamp: Math.floor(now),
      state: stops ? "DEPLOYED" : "UPGRADING",
    },
  };
  return { ...(jobManager && { deleteCluster: true }), status: finished(cancelled, now), afterMs: 0 };
}

/** The status right after a deployment. */
function deployed(flink: FlinkDeployment, now: number, jobId: string): FlinkDeploymentStatus {
  const { metadata, spec } = flink;
  const { error: _, ...status } = statusOf(flink);
  return finished(
    {
      ...status,
      jobManagerDeploymentStatus: "DEPLOYING",
      jobStatus: spec.job ? { jobId, state: "RECONCILING" } : {},
      ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
      reconciliationStatus: {
        ...status.reconciliationStatus,
        lastReconciledSpec: textOf(spec),
        reconciliationTimestamp: Math.floor(now),
        state: "DEPLOYED",
      },
      taskManager: {
        labelSelector: `component=taskmanager,app=${metadata.name}`,
        replicas: taskManagersOf(spec),
      },
    },
    now,
  );
}

function withJob(
  status: FlinkDeploymentStatus,
  { metadata: { name = "" } }: FlinkDeployment,
  job: Observed["job"],
  now: number,
): FlinkDeploymentStatus {
  const { jobStatus } = status;
  if (!job) {
    // It did run, and nobody answers any more.
    return jobStatus.state === "RUNNING" ? { ...status, jobStatus: { ...jobStatus, state: "RECONCILING" } } : status;
  }
  if (job.state === jobStatus.state) return status;
  const startTime = job.since === undefined ? jobStatus.startTime : String(Math.floor(job.since));
  const error = job.state === "FAILED" ? errorText("Job failed") : status.error;
  return {
    ...status,
    ...(error !== undefined && { error }),
    jobStatus: {
      ...jobStatus,
      jobName: name,
      state: job.state,
      ...(startTime !== undefined && { startTime }),
      updateTime: String(Math.floor(now)),
    },
  };
}

/** A spec whose job has run is one that can be gone back to. */
function stabilised(status: FlinkDeploymentStatus): FlinkDeploymentStatus {
  const { state } = status.jobStatus;
  const { lastReconciledSpec, lastStableSpec } = status.reconciliationStatus;
  const isStable = state === "RUNNING" || state === "FINISHED" || state === undefined;
  if (!isStable || lastReconciledSpec === undefined || lastReconciledSpec === lastStableSpec) return status;
  return {
    ...status,
    reconciliationStatus: { ...status.reconciliationStatus, lastStableSpec: lastReconciledSpec },
  };
}

/** What follows from the rest of the status: the lifecycle state and the condition. */
function finished(status: FlinkDeploymentStatus, now: number): FlinkDeploymentStatus {
  const lifecycleState = lifecycleOf(status);
  const { state } = status.jobStatus;
  if (state === undefined || status.reconciliationStatus.lastReconciledSpec === undefined) {
    return { ...status, lifecycleState };
  }
  const known = status.conditions?.[0];
  const holds = state === "RUNNING" ? "True" : "False";
  const condition: Condition = {
    type: "Running",
    status: holds,
    reason: `${state.charAt(0)}${state.slice(1).toLowerCase()}`,
    message: `Job state ${state}`,
    lastTransitionTime: known?.status === holds ? known.lastTransitionTime : kubernetesTime(now),
  };
  return { ...status, lifecycleState, conditions: [condition] };
}

function lifecycleOf({ reconciliationStatus, jobStatus, error }: FlinkDeploymentStatus): LifecycleState {
  const { lastReconciledSpec, lastStableSpec, state } = reconciliationStatus;
  if (lastReconciledSpec === undefined) return error ? "FAILED" : "CREATED";
  if (state === "UPGRADING") return "UPGRADING";
  const spec = specIn(lastReconciledSpec);
  if (spec && isSuspended(spec)) return "SUSPENDED";
  if (jobStatus.state === "FAILED") return "FAILED";
  return lastReconciledSpec === lastStableSpec ? "STABLE" : "DEPLOYED";
}

export function statusOf({ status }: FlinkDeployment): FlinkDeploymentStatus {
  return (
    status ?? {
      clusterInfo: {},
      jobManagerDeploymentStatus: "MISSING",
      jobStatus: {},
      lifecycleState: "CREATED",
      reconciliationStatus: { reconciliationTimestamp: 0, state: "UPGRADING" },
    }
  );
}

function isSuspended({ job }: FlinkDeploymentSpec): boolean {
  return job?.state === "suspended";
}

/** Whether a job has come to an end of its own. */
export function isOver(state: FlinkJobState | undefined): boolean {
  return state === "FINISHED" || state === "FAILED" || state === "CANCELED";
}

/** What of a change makes no difference to what runs. */
const IGNORED = new Set([
  ...["upgradeMode", "allowNonRestoredState", "initialSavepointPath", "initialStateReference"],
  ...["savepointTriggerNonce", "checkpointTriggerNonce"],
]);

function isChanged(before: FlinkDeploymentSpec, after: FlinkDeploymentSpec): boolean {
  return !equal(essentialOf(before), essentialOf(after));
}

function essentialOf(spec: FlinkDeploymentSpec): unknown {
  const { job, ...rest } = spec;
  if (!job) return rest;
  const kept = Object.entries(job).filter(([field]) => !IGNORED.has(field));
  return { ...rest, job: { ...Object.fromEntries(kept), state: job.state ?? "running" } };
}

function textOf(spec: FlinkDeploymentSpec): string {
  return JSON.stringify({ spec, resource_metadata: { apiVersion: "flink.apache.org/v1beta1", firstDeployment: true } });
}

/** The spec in a text that was written by `textOf`, or by anybody. */
function specIn(text: string | undefined): FlinkDeploymentSpec | undefined {
  if (text === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) && isObject(read.spec) ? (read.spec as FlinkDeploymentSpec) : undefined;
  } catch {
    return undefined;
  }
}

/** What the operator's own validation refuses. */
function problemWith({ metadata: { name = "" }, spec }: FlinkDeployment): string | undefined {
  if (name.length > 45) return "The FlinkDeployment name must be no more than 45 characters.";
  const { job } = spec;
  if (job && (job.parallelism ?? 0) < 1 && !spec.taskManager?.replicas) return "Job parallelism must be larger than 0";
  for (const component of ["jobmanager", "taskmanager"] as const) {
    try {
      resourcesOf(spec, component);
    } catch {
      return `${component === "jobmanager" ? "JobManager" : "TaskManager"} resource memory parse error`;
    }
  }
  return undefined;
}

function errorText(message: string): string {
  const type = "org.apache.flink.kubernetes.operator.exception.ReconciliationException";
  return JSON.stringify({ type, message, additionalMetadata: {}, throwableList: [] });
}
