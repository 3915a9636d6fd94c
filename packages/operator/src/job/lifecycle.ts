/**
 * The life of a job: from what is stored to what is to be done next. Pure.
 *
 * It is asked again whenever anything has changed, and after every outage, so it goes by what there is and not by what it said
 * before: no phase in between has to be seen. A run belongs to a claim, which its application names; whatever application
 * belongs to no claim that is granted is removed.
 */
import { kubernetesTime } from "@berth/kube";
import type { BatchJob, JobPhase, JobRun } from "@berth/model";
import type { Observation } from "../apps/application.ts";
import type { Claim } from "../ledger/ledger.ts";
import { someOf } from "../words.ts";

/** An application that there is for a job. */
export interface ApplicationView {
  readonly name: string;
  readonly uid: string;
  readonly kind: string;
  /** Which claim it was made for, which run it is and which try at it. */
  readonly claim: string;
  readonly run: number;
  readonly attempt: number;
  /** It was deleted, and is not gone yet. */
  readonly isGoing: boolean;
  readonly observation: Observation;
}

export interface JobWorld {
  /** What the job has been given; none if it asks for nothing, or if others were first. */
  readonly claim: Claim | undefined;
  /** All applications that there are for it: one, as a rule. */
  readonly applications: readonly ApplicationView[];
  readonly executors: { readonly placed: number; readonly running: number };
  /** The slots that executors have been put into. */
  readonly places: readonly number[];
  /** Where a slot is. */
  readonly nodeOf: (slot: number) => string | undefined;
  /** Slots of the claim that are gone for good, and executors with them: "slot 3 is gone with its node n1". */
  readonly lost: readonly string[];
  /** Whether the application goes on with the executors that are left. */
  readonly survivesLoss: boolean;
  /** In the words of the Scheduling that has it: what it waits for. */
  readonly waitsFor: string | undefined;
  /** Jobs that have slots on the same nodes. */
  readonly neighbours: () => readonly string[];
  readonly now: number;
}

export type JobAction =
  | { readonly type: "create"; readonly run: number; readonly attempt: number }
  | { readonly type: "remove"; readonly name: string }
  /** There is nothing to do before then, in milliseconds. */
  | { readonly type: "wait"; readonly until: number }
  | { readonly type: "none" };

/** What is true of a job now, and what is to be done about it. */
export interface JobStep {
  readonly status: Status;
  readonly action: JobAction;
  /** For people: why it is as it is. */
  readonly message: string;
}

type Status = NonNullable<BatchJob["status"]>;

const LONGEST_HISTORY = 20;
const LONGEST_BACKOFF_SECONDS = 86_400;

/** What comes next in the life of a job. */
export function nextStep(job: BatchJob, world: JobWorld): JobStep {
  const { claim } = world;
  if (!job.spec.activeScheduling) return released(job, world);
  if (!claim) return queued(job, world);
  const status = job.status ?? {};
  if (status.claimTime === claim.since && isFinal(status.phase)) return over(status, status.phase, world);
  return status.claimTime === claim.since ? underWay(job, status, claim, world) : beginning(job, status, claim, world);
}

/** It has ended. Its application stays, to be looked at, until the next run; no other one does. */
function over(status: Status, phase: "Completed" | "Failed", { applications }: JobWorld): JobStep {
  const { claimTime, run, attempt = 0, runs = [] } = status;
  const isRecord = (each: ApplicationView) =>
    each.claim === claimTime && each.attempt === attempt && /^(completed|failed)$/.test(each.observation.phase);
  const left = leftOver(applications.filter((each) => !isRecord(each)));
  const why = runs.find(({ number }) => number === run)?.message;
  return {
    status,
    action: left ? removal(left) : { type: "none" },
    message: why ?? (phase === "Completed" ? "has completed" : "has failed"),
  };
}

/** Nobody has the job. What has ended stays as it ended; what has not is taken down. */
function released({ status = {} }: BatchJob, world: JobWorld): JobStep {
  if (isFinal(status.phase)) return over(status, status.phase, world);
  const left = leftOver(world.applications);
  const ready = idle(withRelease(status, world), "Ready", world);
  if (left) return { status: ready, action: removal(left), message: "was released: its application is being removed" };
  return { status: ready, action: { type: "none" }, message: "waits for a Scheduling" };
}

/** Somebody has it, and no slots for it yet. */
function queued({ status = {} }: BatchJob, world: JobWorld): JobStep {
  const waiting = idle(withRelease(status, world), "InQueue", world);
  const left = leftOver(world.applications);
  if (left) {
    return {
      status: waiting,
      action: removal(left),
      message: "waits for slots; the application that it had is being removed",
    };
  }
  return { status: waiting, action: { type: "none" }, message: world.waitsFor ?? "waits for slots" };
}

/** It has slots, and this is a new run. */
function beginning(job: BatchJob, before: Status, claim: Claim, world: JobWorld): JobStep {
  // Made by a process that did not live to say so.
  const ours = world.applications.find((each) => each.claim === claim.since);
  const old = leftOver(world.applications.filter((each) => each !== ours));
  const history = withRelease(before, world);
  if (old) {
    return {
      status: idle(history, "InQueue", world),
      action: removal(old),
      message: `waits for ${old.name} to be gone`,
    };
  }
  const run = ours?.run ?? (before.run ?? 0) + 1;
  const { application: _gone, startTime: _start, completionTime: _end, retryTime: _retry, ...kept } = history;
  const status: Status = { ...kept, phase: "InQueue", run, attempt: ours?.attempt ?? 0, claimTime: claim.since };
  return underWay(job, status, claim, world);
}

/** Its run has begun, and not ended. */
function underWay(job: BatchJob, before: Status, claim: Claim, world: JobWorld): JobStep {
  const { executors: _counted, ...status } = before; // they are counted anew if there is an application
  const { run = 1, attempt = 0 } = status;
  const ours = world.applications.find((each) => each.claim === claim.since && each.attempt === attempt);
  const old = leftOver(world.applications.filter((each) => each !== ours));
  if (old) return { status, action: removal(old), message: `waits for ${old.name} to be gone` };
  const ends = ours?.observation.phase === "completed" || ours?.observation.phase === "failed";
  const fatal = ends ? undefined : fatalLoss(claim, world);
  if (fatal !== undefined) {
    // Another try would have the same slots. Whoever decides next knows of others.
    const { retryTime: _never, ...last } = status;
    const step = ended(last, { phase: "failed" }, claim, world, "Failed", fatal);
    return ours ? { ...step, action: removal(ours) } : step;
  }
  if (!ours) {
    if (status.application) return failed(job, status, claim, world, "its application was deleted");
    const until = status.retryTime === undefined ? 0 : Date.parse(status.retryTime);
    if (until > world.now)
      return { status, action: { type: "wait", until }, message: `tries again at ${status.retryTime}` };
    return {
      status: { ...status, phase: "InQueue" },
      action: { type: "create", run, attempt },
      message: `was given slot ${someOf(claim.slots)} of ${claim.testbed}, and is about to be submitted`,
    };
  }
  const { retryTime: _over, ...rest } = status;
  const known: Status = {
    ...rest,
    application: { kind: ours.kind, name: ours.name, uid: ours.uid },
    executors: { requested: claim.slots.length, ...world.executors },
  };
  const { phase, message } = ours.observation;
  if (phase === "completed")
    return ended(known, ours.observation, claim, world, "Completed", message ?? "has completed");
  if (phase === "failed")
    return failed(job, known, claim, world, message ?? "its application failed", ours.observation);
  if (ours.isGoing) return { status: known, action: { type: "none" }, message: "its application is being deleted" };
  if (phase === "running") {
    const startTime = known.startTime ?? ours.observation.startTime ?? kubernetesTime(world.now);
    const message = `runs: ${whereabouts(world)}`;
    return { status: { ...known, phase: "Running", startTime }, action: { type: "none" }, message };
  }
  const isPlaced = world.executors.placed >= claim.slots.length;
  const missing = claim.slots.length - world.executors.placed;
  return {
    status: { ...known, phase: isPlaced ? "Scheduled" : "Submitted" },
    action: { type: "none" },
    message: isPlaced
      ? `all executors are in their slots: ${whereabouts(world)}`
      : `${missing} of ${claim.slots.length} executors are not there yet`,
  };
}

/** Why it cannot go on without the slots that are gone. */
function fatalLoss({ slots }: Claim, { lost, survivesLoss }: JobWorld): string | undefined {
  return lost.length === 0 || (survivesLoss && lost.length < slots.length) ? undefined : someOf(lost);
}

/** For people: where its executors are, and which cannot be any more. */
function whereabouts({ places, nodeOf, lost }: JobWorld): string {
  const placeOf = (slot: number) => `slot ${slot} on ${nodeOf(slot) ?? "its node"}`;
  const found = places.length > 0 ? places : ["no executor is in its slot yet"];
  return someOf([...found, ...lost], (each) => (typeof each === "number" ? placeOf(each) : each));
}

/** A try has failed: there is another one, or that was it. */
function failed(
  job: BatchJob,
  status: Status,
  claim: Claim,
  world: JobWorld,
  why: string,
  observation: Observation = { phase: "failed" },
): JobStep {
  const { limit = 0, backoffSeconds = 10 } = job.spec.retry ?? {};
  const { attempt = 0 } = status;
  if (attempt >= limit) return ended(status, observation, claim, world, "Failed", why);
  const seconds = Math.min(backoffSeconds * 2 ** attempt, LONGEST_BACKOFF_SECONDS);
  const retryTime = kubernetesTime(world.now + seconds * 1000);
  const { application: _failed, startTime: _start, executors: _counted, ...kept } = status;
  const left = leftOver(world.applications);
  return {
    status: { ...kept, phase: "InQueue", attempt: attempt + 1, retryTime },
    action: left ? removal(left) : { type: "wait", until: Date.parse(retryTime) },
    message: `${why}; tries again at ${retryTime}, for the ${ordinal(attempt + 1)} time of ${limit}`,
  };
}

function ended(
  status: Status,
  { startTime, endTime }: Observation,
  claim: Claim,
  world: JobWorld,
  outcome: "Completed" | "Failed",
  message: string,
): JobStep {
  const completionTime = endTime ?? kubernetesTime(world.now);
  const began = startTime ?? status.startTime;
  const record = recordOf(status, claim.slots, claim.testbed, world, { outcome, message, began, completionTime });
  return {
    status: {
      ...status,
      phase: outcome,
      // Those who are still there are about to go, and nobody will count them again.
      executors: { requested: claim.slots.length, placed: 0, running: 0 },
      ...(began !== undefined && { startTime: began }),
      completionTime,
      runs: withRun(status.runs, record),
    },
    action: { type: "none" },
    message,
  };
}

/** A status of a job that runs nothing; what was is history. */
function idle(status: Status, phase: JobPhase, { applications }: JobWorld): Status {
  const { runs, observedGeneration, conditions } = status;
  // Perhaps nobody has said yet that there was one more: the next is to have another number, since those of this one may still be there.
  const numbers = [...applications.map((each) => each.run), ...(status.run === undefined ? [] : [status.run])];
  const run = numbers.length > 0 ? Math.max(...numbers) : undefined;
  return {
    phase,
    ...(run !== undefined && { run }),
    ...(runs && { runs }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(conditions && { conditions }),
  };
}

/** A run that was broken off goes into the history, also one of which nobody has said yet that it had begun. */
function withRelease(status: Status, world: JobWorld): Status {
  const isKnown = status.application !== undefined && !isFinal(status.phase);
  const isUnsaid = (each: ApplicationView) => each.run > (status.run ?? 0) && each.claim !== world.claim?.since;
  const run = isKnown ? status.run : world.applications.find(isUnsaid)?.run;
  if (!isKnown && run === undefined) return status;
  const completionTime = kubernetesTime(world.now);
  const record = recordOf({ run }, undefined, undefined, world, {
    outcome: "Released",
    message: "was released",
    began: isKnown ? status.startTime : undefined,
    completionTime,
  });
  return { ...status, runs: withRun(status.runs, record) };
}

interface End {
  readonly outcome: JobRun["outcome"];
  readonly message: string;
  readonly began: string | undefined;
  readonly completionTime: string;
}

function recordOf(
  { run = 1 }: Status,
  slots: readonly number[] | undefined,
  testbed: string | undefined,
  world: JobWorld,
  { outcome, message, began, completionTime }: End,
): JobRun {
  const neighbours = world.neighbours();
  // Two clocks may have told the times: nothing runs for less than no time.
  const seconds =
    began === undefined ? undefined : Math.max(0, (Date.parse(completionTime) - Date.parse(began)) / 1000);
  return {
    number: run,
    outcome,
    message,
    ...(began !== undefined && { startTime: began }),
    completionTime,
    ...(seconds !== undefined && Number.isFinite(seconds) && { seconds }),
    ...(testbed !== undefined && { testbed }),
    ...(slots && { slots: [...slots] }),
    ...(neighbours.length > 0 && { neighbours: [...neighbours] }),
  };
}

/** The latest first, each run once. */
function withRun(runs: readonly JobRun[] = [], run: JobRun): JobRun[] {
  return [run, ...runs.filter(({ number }) => number !== run.number)].slice(0, LONGEST_HISTORY);
}

/** One that is to go, of those that there are: rather one that does not know it yet. */
function leftOver(applications: readonly ApplicationView[]): ApplicationView | undefined {
  return applications.find(({ isGoing }) => !isGoing) ?? applications[0];
}

function removal({ name, isGoing }: ApplicationView): JobAction {
  return isGoing ? { type: "none" } : { type: "remove", name };
}

export function isFinal(phase: JobPhase | undefined): phase is "Completed" | "Failed" {
  return phase === "Completed" || phase === "Failed";
}

function ordinal(number: number): string {
  const isTeen = number % 100 > 10 && number % 100 < 20;
  const ending = (!isTeen && ["th", "st", "nd", "rd"][number % 10]) || "th";
  return `${number}${ending}`;
}
