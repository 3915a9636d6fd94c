/**
 * The life of a SparkApplication, as kubeflow/spark-operator v2.5.2 leads it: from what is observed to what is to be done.
 * Pure.
 */
import { type coreV1, kubernetesTime } from "@berth/kube";
import {
  type ApplicationStateType,
  DRIVER_CONTAINER,
  driverNameOf,
  EXECUTOR_CONTAINER,
  type ExecutorState,
  label,
  type SparkApplication,
  type SparkApplicationStatus,
} from "./application.ts";

/** What there is of an application in the cluster. */
export interface Observed {
  readonly driver: coreV1.Pod | undefined;
  /** Of its present submission. */
  readonly executors: Iterable<coreV1.Pod>;
}

/** What is to be done, in this order. */
export interface Decision {
  readonly deleteDriver?: boolean;
  readonly deleteApplication?: boolean;
  /** The driver is to be created, and the status to be written when it is. */
  readonly submit?: boolean;
  /** To be written, if it is another than the present one. */
  readonly status?: SparkApplicationStatus;
  /** It has to be looked at again after so much time. */
  readonly afterMs?: number;
}

/** For how long a driver that was submitted may be missing. */
const DRIVER_GRACE_MS = 10_000;
/** Executors with higher numbers are not kept in the status. */
const MOST_EXECUTORS = 1000;

/** What has to be done for an application. @param application - With its defaults. */
export function decide(application: SparkApplication, observed: Observed, now: number): Decision {
  const { metadata, spec } = application;
  const status = statusOf(application);
  const { state } = status.applicationState;
  if (metadata.deletionTimestamp !== undefined) return { deleteDriver: true };
  if (spec.suspend && !isTerminated(state) && state !== "SUSPENDED" && state !== "SUSPENDING") {
    return { status: inState(status, "SUSPENDING") };
  }
  switch (state) {
    case "":
    case "RESUMING":
      return { submit: true };
    case "SUBMITTED":
    case "RUNNING":
    case "UNKNOWN":
      return observeRun(status, observed, now);
    case "SUBMISSION_FAILED":
      return retrySubmission(application, status, observed, now);
    case "PENDING_RERUN":
      return observed.driver ? {} : { submit: true };
    case "INVALIDATING":
      return { deleteDriver: true, status: invalidated(status) };
    case "SUCCEEDING":
      if (shouldRetry(application, status)) return { deleteDriver: true, status: forAnotherRun(status) };
      return { status: inState(status, "COMPLETED") };
    case "FAILING":
      return retryRun(application, status, now);
    case "COMPLETED":
    case "FAILED":
      return afterEnd(application, status, observed, now);
    case "SUSPENDING":
      return { deleteDriver: true, status: suspended(status) };
    case "SUSPENDED":
      if (observed.driver || spec.suspend) return {};
      return { status: { ...suspended(status), applicationState: { state: "RESUMING" } } };
    default:
      return {};
  }
}

/** The status once a submission has been tried. @param error - Why it failed, if it did. */
export function submitted(
  application: SparkApplication,
  submissionID: string,
  now: number,
  error?: string,
): SparkApplicationStatus {
  const status = statusOf(application);
  const attempt: SparkApplicationStatus = {
    ...status,
    submissionID,
    driverInfo: { ...status.driverInfo, podName: driverNameOf(application) },
    lastSubmissionAttemptTime: kubernetesTime(now),
    submissionAttempts: (status.submissionAttempts ?? 0) + 1,
  };
  if (error !== undefined) {
    return { ...attempt, applicationState: { state: "SUBMISSION_FAILED", errorMessage: error } };
  }
  const executionAttempts = (status.executionAttempts ?? 0) + 1;
  return { ...attempt, executionAttempts, applicationState: { state: "SUBMITTED" } };
}

/** The status of an application whose spec was changed: its run is worth nothing any more. */
export function invalidating(application: SparkApplication): SparkApplicationStatus {
  return inState(statusOf(application), "INVALIDATING");
}

export function isTerminated(state: ApplicationStateType): boolean {
  return state === "COMPLETED" || state === "FAILED";
}

export function statusOf({ status }: SparkApplication): SparkApplicationStatus {
  return (
    status ?? {
      applicationState: { state: "" },
      driverInfo: {},
      lastSubmissionAttemptTime: null,
      terminationTime: null,
    }
  );
}

function inState(status: SparkApplicationStatus, state: ApplicationStateType): SparkApplicationStatus {
  return { ...status, applicationState: { ...status.applicationState, state } };
}

/** Follows the driver and its executors. */
function observeRun(status: SparkApplicationStatus, { driver, executors }: Observed, now: number): Decision {
  const { state } = status.applicationState;
  if (!driver) {
    const since = Date.parse(status.lastSubmissionAttemptTime ?? "") || 0;
    const left = since + DRIVER_GRACE_MS - now;
    if (state === "SUBMITTED" && left >= 0) return { afterMs: left + 1 };
    const failed: SparkApplicationStatus = {
      ...status,
      applicationState: { state: "FAILING", errorMessage: "driver pod not found" },
      terminationTime: kubernetesTime(now),
    };
    return { status: withExecutors(failed, executors) };
  }
  const driverState = driverStateOf(driver);
  const ended = driverState === "SUCCEEDING" || driverState === "FAILING";
  const errorMessage = driverState === "FAILING" ? driverError(driver) : status.applicationState.errorMessage;
  const next: SparkApplicationStatus = {
    ...status,
    sparkApplicationId: driver.metadata.labels?.[label.appSelector] ?? "",
    ...(ended && { terminationTime: status.terminationTime ?? kubernetesTime(now) }),
    applicationState: { state: driverState, ...(errorMessage !== undefined && { errorMessage }) },
  };
  return { status: withExecutors(next, executors) };
}

/** The application's state that follows from its driver's. */
function driverStateOf(driver: coreV1.Pod): ApplicationStateType {
  const exitCode = exitCodeOf(driver, DRIVER_CONTAINER);
  switch (driver.status?.phase) {
    case "Pending":
      return "SUBMITTED";
    case "Running":
      return exitCode === undefined ? "RUNNING" : exitCode === 0 ? "SUCCEEDING" : "FAILING";
    case "Succeeded":
      return "SUCCEEDING";
    case "Failed":
      return exitCode === 0 ? "SUCCEEDING" : "FAILING";
    default:
      return "UNKNOWN";
  }
}

function driverError(driver: coreV1.Pod): string | undefined {
  const ended = terminated(driver, DRIVER_CONTAINER);
  if (!ended) return "driver container status missing";
  return ended.exitCode === 0
    ? undefined
    : `driver container failed with ExitCode: ${ended.exitCode}, Reason: ${ended.reason ?? ""}`;
}

function terminated(pod: coreV1.Pod, container: string): coreV1.ContainerStateTerminated | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === container)?.state?.terminated;
}

/** With what a pod's container ended; `undefined` if it has not. */
export function exitCodeOf(pod: coreV1.Pod, container = EXECUTOR_CONTAINER): number | undefined {
  return terminated(pod, container)?.exitCode;
}

/** Notes how it stands with the executors, also with those that are gone. */
function withExecutors(status: SparkApplicationStatus, executors: Iterable<coreV1.Pod>): SparkApplicationStatus {
  const before = status.executorState ?? {};
  const states: Record<string, ExecutorState> = { ...before };
  const present = new Set<string>();
  let appId: string | undefined;
  for (const { metadata, status: its } of executors) {
    const { name = "", labels = {} } = metadata;
    if (Number(labels[label.executorId]) > MOST_EXECUTORS) continue;
    present.add(name);
    states[name] = executorStateOf(its?.phase);
    appId ??= labels[label.appSelector];
  }
  const { state } = status.applicationState;
  for (const [name, was] of Object.entries(before)) {
    if (present.has(name) || was === "COMPLETED" || was === "FAILED") continue;
    states[name] = state === "RUNNING" ? "UNKNOWN" : state === "COMPLETED" ? "COMPLETED" : "FAILED";
  }
  const { executorState: _, ...rest } = status;
  return {
    ...rest,
    ...(appId !== undefined && { sparkApplicationId: appId }),
    ...(Object.keys(states).length > 0 && { executorState: states }),
  };
}

function executorStateOf(phase: string | undefined): ExecutorState {
  switch (phase) {
    case "Pending":
      return "PENDING";
    case "Running":
      return "RUNNING";
    case "Succeeded":
      return "COMPLETED";
    case "Failed":
      return "FAILED";
    default:
      return "UNKNOWN";
  }
}

function shouldRetry({ spec: { restartPolicy = {} } }: SparkApplication, status: SparkApplicationStatus): boolean {
  const { state } = status.applicationState;
  if (restartPolicy.type === "Always") return true;
  if (restartPolicy.type !== "OnFailure" || state === "SUCCEEDING") return false;
  return state === "FAILING"
    ? (status.executionAttempts ?? 0) <= (restartPolicy.onFailureRetries ?? -1)
    : (status.submissionAttempts ?? 0) <= (restartPolicy.onSubmissionFailureRetries ?? -1);
}

/** The wait grows with each submission. */
function untilRetry(interval: number | undefined, status: SparkApplicationStatus, now: number): number {
  const last = Date.parse(status.lastSubmissionAttemptTime ?? "") || 0;
  return (interval ?? 5) * 1000 * (status.submissionAttempts ?? 0) - (now - last);
}

function retryRun(application: SparkApplication, status: SparkApplicationStatus, now: number): Decision {
  if (!shouldRetry(application, status)) return { status: inState(status, "FAILED") };
  const wait = untilRetry(application.spec.restartPolicy?.onFailureRetryInterval, status, now);
  return wait > 0 ? { afterMs: wait } : { deleteDriver: true, status: forAnotherRun(status) };
}

function retrySubmission(
  application: SparkApplication,
  status: SparkApplicationStatus,
  { driver }: Observed,
  now: number,
): Decision {
  if (!shouldRetry(application, status)) {
    return { status: { ...inState(status, "FAILED"), terminationTime: kubernetesTime(now) } };
  }
  const wait = untilRetry(application.spec.restartPolicy?.onSubmissionFailureRetryInterval, status, now);
  if (wait > 0) return { afterMs: wait };
  return driver ? { deleteDriver: true, afterMs: 1000 } : { submit: true };
}

/** Notes what becomes of executors after the end, and removes the application when its time is up. */
function afterEnd(
  { spec: { timeToLiveSeconds } }: SparkApplication,
  status: SparkApplicationStatus,
  { executors }: Observed,
  now: number,
): Decision {
  const ended = Date.parse(status.terminationTime ?? "");
  const next = withExecutors(status, executors);
  if (timeToLiveSeconds === undefined || Number.isNaN(ended)) return { status: next };
  const left = ended + timeToLiveSeconds * 1000 - now;
  if (left <= 0) return { deleteApplication: true };
  return { status: next, afterMs: left };
}

/** What was known of a run that is over, without that run. */
function forAnotherRun(status: SparkApplicationStatus): SparkApplicationStatus {
  const { sparkApplicationId: _, executorState: __, ...rest } = status;
  return { ...rest, terminationTime: null, driverInfo: {}, applicationState: { state: "PENDING_RERUN" } };
}

function invalidated(status: SparkApplicationStatus): SparkApplicationStatus {
  const { submissionAttempts: _, executionAttempts: __, ...rest } = forAnotherRun(status);
  return { ...rest, lastSubmissionAttemptTime: null };
}

function suspended(status: SparkApplicationStatus): SparkApplicationStatus {
  const { sparkApplicationId: _, executorState: __, ...rest } = status;
  return { ...rest, driverInfo: {}, applicationState: { state: "SUSPENDED" } };
}
