/** What the operator tells people when a status changes. Pure. */
import type { Note } from "../../controllers/recorder.ts";
import type { ExecutorState, SparkApplicationStatus } from "./application.ts";

/** @param name - The application's. */
export function notesOn(name: string, before: SparkApplicationStatus, after: SparkApplicationStatus): Note[] {
  const notes: Note[] = [];
  const { state, errorMessage = "" } = after.applicationState;
  if (state !== before.applicationState.state) {
    const driver = after.driverInfo.podName ?? "";
    const note = driverNote(state, driver) ?? applicationNote(state, name, errorMessage);
    if (note) notes.push(note);
  }
  for (const [executor, its] of Object.entries(after.executorState ?? {})) {
    if (before.executorState?.[executor] !== its) notes.push(executorNote(its, executor));
  }
  return notes;
}

function driverNote(state: string, driver: string): Note | undefined {
  if (state === "RUNNING") return { reason: "SparkDriverRunning", message: `Driver ${driver} is running` };
  if (state === "SUCCEEDING") return { reason: "SparkDriverCompleted", message: `Driver ${driver} completed` };
  if (state === "FAILING") return { type: "Warning", reason: "SparkDriverFailed", message: `Driver ${driver} failed` };
  return undefined;
}

function applicationNote(state: string, name: string, error: string): Note | undefined {
  const warning = (reason: string, message: string): Note => ({ type: "Warning", reason, message });
  switch (state) {
    case "SUBMITTED":
      return { reason: "SparkApplicationSubmitted", message: `SparkApplication ${name} was submitted successfully` };
    case "SUBMISSION_FAILED":
      return warning("SparkApplicationSubmissionFailed", `failed to submit SparkApplication ${name}: ${error}`);
    case "COMPLETED":
      return { reason: "SparkApplicationCompleted", message: `SparkApplication ${name} completed` };
    case "FAILED":
      return warning("SparkApplicationFailed", `SparkApplication ${name} failed: ${error}`);
    case "PENDING_RERUN":
      return warning("SparkApplicationPendingRerun", `SparkApplication ${name} is pending rerun`);
    case "SUSPENDING":
      return warning("SparkApplicationSuspending", `SparkApplication ${name} is suspending`);
    case "SUSPENDED":
      return warning("SparkApplicationSuspended", `SparkApplication ${name} is suspended`);
    case "RESUMING":
      return warning("SparkApplicationResuming", `SparkApplication ${name} is resuming`);
    default:
      return undefined;
  }
}

function executorNote(state: ExecutorState, executor: string): Note {
  switch (state) {
    case "PENDING":
      return { reason: "SparkExecutorPending", message: `Executor ${executor} is pending` };
    case "RUNNING":
      return { reason: "SparkExecutorRunning", message: `Executor ${executor} is running` };
    case "COMPLETED":
      return { reason: "SparkExecutorCompleted", message: `Executor ${executor} completed` };
    case "FAILED":
      return { type: "Warning", reason: "SparkExecutorFailed", message: `Executor ${executor} failed` };
    default:
      return { type: "Warning", reason: "SparkExecutorUnknown", message: `Executor ${executor} in unknown state` };
  }
}
