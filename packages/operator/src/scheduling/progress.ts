/**
 * How far a Scheduling has come: what has become of each of its wishes, which of them still wait, and which jobs it has to let
 * go. Pure.
 *
 * While a job is ours, the job itself says how it stands. What has ended is written into the Scheduling's status before the job
 * is let go, and stays there: nobody has to remember anything.
 */
import { keyText, kubernetesTime } from "@berth/kube";
import type { BatchJob, Scheduling, SchedulingPhase } from "@berth/model";
import { isFinal } from "../job/lifecycle.ts";
import { claimOf } from "../ledger/ledger.ts";
import { isSame } from "../writes.ts";
import type { Wait, Wish } from "./plan.ts";

type Status = NonNullable<Scheduling["status"]>;
export type Entry = NonNullable<Status["jobs"]>[number];

/** For how long a job may be missing before a Scheduling gives it up. */
export const GRACE_MS = 60_000;

/** A wish that has not started, and whether its job could be had. */
export interface Waiting {
  readonly wish: Wish;
  /** Why not yet; `undefined` if it only needs slots. */
  readonly obstacle: string | undefined;
  /** It will never be there. */
  readonly hopeless: boolean;
  /** Since when there is no such job. */
  readonly missingSince?: string;
}

export interface Progress {
  /** By wish, in order. */
  readonly entries: readonly (Entry | undefined)[];
  readonly waiting: readonly Waiting[];
  /** Jobs that are ours and are to be let go, when the entries are written. */
  readonly release: readonly string[];
}

export interface ProgressInput {
  readonly scheduling: Scheduling;
  readonly wishes: readonly Wish[];
  readonly jobOf: (key: string) => BatchJob | undefined;
  /** Jobs that are ours, by what they say themselves. */
  readonly ours: readonly BatchJob[];
  /** Whether a job may be taken from another Scheduling that only has it in its queue. Default: never. */
  readonly mayTakeFrom?: (holder: string) => boolean;
  readonly now: number;
}

export function progressOf({ scheduling, wishes, jobOf, ours, now, mayTakeFrom }: ProgressInput): Progress {
  const key = keyText({ namespace: scheduling.metadata.namespace, name: scheduling.metadata.name ?? "" });
  const before = new Map<string, Entry>();
  for (const entry of scheduling.status?.jobs ?? []) {
    const job = entryKey(scheduling, entry);
    if (!before.has(job)) before.set(job, entry);
  }
  const [entries, waiting]: [(Entry | undefined)[], Waiting[]] = [[], []];
  const release = new Set<string>();
  const kept = new Set<string>();
  const seen = new Set<string>();
  for (const wish of wishes) {
    // The API server refuses a job that is there twice, unless one of the two spells out the namespace that both have.
    if (seen.has(wish.job)) {
      entries.push({ ...nameOf(scheduling, wish.job), phase: "Failed", message: "the job is there twice" });
      continue;
    }
    seen.add(wish.job);
    const known = before.get(wish.job);
    const job = jobOf(wish.job);
    const isOurs = job !== undefined && holderOf(job) === key;
    if (known && isOver(known)) {
      entries.push(known);
      if (isOurs) release.add(wish.job);
      continue;
    }
    if (isOurs && job.spec.creationRequest) {
      const entry = entryOf(scheduling, job);
      entries.push(entry);
      kept.add(wish.job);
      if (isOver(entry)) release.add(wish.job);
      continue;
    }
    if (known && hasStarted(known)) {
      entries.push({ ...known, phase: "Released", message: "was released before it ended" });
      continue;
    }
    if (isOurs) kept.add(wish.job);
    entries.push(undefined);
    waiting.push({ wish, ...(job ? obstacleOf(job, isOurs, mayTakeFrom) : absence(known, now)) });
  }
  // What is not wished for any more is let go, whether it runs or not.
  for (const job of ours) if (!kept.has(keyOfJob(job))) release.add(keyOfJob(job));
  return { entries, waiting, release: [...release] };
}

/** The entries of the status: what is known, and why the rest waits. */
export function entriesOf(
  scheduling: Scheduling,
  wishes: readonly Wish[],
  { entries, waiting }: Progress,
  waits: readonly Wait[],
): Entry[] {
  const reasons = new Map(waits.map((wait) => [wait.job, wait.message]));
  const missing = new Map(waiting.map(({ wish, missingSince }) => [wish.job, missingSince]));
  return wishes.map((wish, index) => {
    const known = entries[index];
    if (known) return known;
    const message = reasons.get(wish.job);
    const missingSince = missing.get(wish.job);
    return {
      ...nameOf(scheduling, wish.job),
      phase: "Waiting",
      ...(message !== undefined && { message }),
      ...(missingSince !== undefined && { missingSince }),
    };
  });
}

/** The phase that follows from the entries. */
export function phaseOf(entries: readonly Entry[], hopeless: number): SchedulingPhase {
  const waiting = entries.filter(({ phase }) => phase === "Waiting" || phase === "InQueue").length;
  if (waiting === 0) {
    if (entries.every(isOver)) return "Completed";
    return entries.some(({ phase }) => phase === "Submitted") ? "Confirmation" : "AwaitCompletion";
  }
  if (hopeless > 0 && entries.every((entry) => isOver(entry) || entry.phase === "Waiting") && waiting === hopeless)
    return "Failed";
  return entries.some(hasStarted) ? "Submission" : "Acquire";
}

/** Whether nothing is new but how far jobs have come that had begun before, and have not ended: they will come further in a moment. */
export function isOnlyFurther(before: Status, after: Status): boolean {
  const [old, now] = [before.jobs ?? [], after.jobs ?? []];
  if (old.length !== now.length || before.observedGeneration !== after.observedGeneration) return false;
  return now.every((entry, index) => {
    const known = old[index] as Entry;
    return isSame(known, entry) || (known.name === entry.name && hasStarted(known) && !isOver(entry));
  });
}

function entryOf(scheduling: Scheduling, job: BatchJob): Entry {
  const { creationRequest } = job.spec;
  const isPresent = job.status?.claimTime === claimOf(job)?.since;
  const phase = isPresent ? job.status?.phase : undefined;
  const shown = phase === undefined || phase === "Ready" || phase === "InQueue" ? "Submitted" : phase;
  const message = isFinal(phase) ? job.status?.runs?.[0]?.message : undefined;
  return {
    ...nameOf(scheduling, keyOfJob(job)),
    phase: shown,
    slots: [...(creationRequest?.slots ?? [])],
    ...(message !== undefined && { message }),
    ...(isPresent && job.status?.run !== undefined && { run: job.status.run }),
  };
}

/** A job that is not there may still come. Time counts from when it was first missed, also if it was added later. */
function absence(known: Entry | undefined, now: number): Omit<Waiting, "wish"> {
  const missingSince = known?.missingSince ?? kubernetesTime(now);
  const hopeless = now - Date.parse(missingSince) >= GRACE_MS;
  return { obstacle: hopeless ? "there is no such job" : "there is no such job yet", hopeless, missingSince };
}

function obstacleOf(
  job: BatchJob,
  isOurs: boolean,
  mayTakeFrom: ProgressInput["mayTakeFrom"],
): Pick<Waiting, "obstacle" | "hopeless"> {
  if (job.metadata.deletionTimestamp !== undefined) return { obstacle: "the job is being deleted", hopeless: false };
  const holder = holderOf(job);
  if (holder === undefined || isOurs) return { obstacle: undefined, hopeless: false };
  const isTakable = !job.spec.creationRequest && mayTakeFrom?.(holder) === true;
  return { obstacle: isTakable ? undefined : `${holder} has the job`, hopeless: false };
}

/** What the status of a Scheduling says of a job. */
export function entryFor(scheduling: Scheduling, job: string): Entry | undefined {
  return scheduling.status?.jobs?.find((entry) => entryKey(scheduling, entry) === job);
}

/** The Scheduling that has a job. */
export function holderOf({ metadata, spec }: BatchJob): string | undefined {
  const { activeScheduling } = spec;
  return (
    activeScheduling &&
    keyText({ namespace: activeScheduling.namespace || metadata.namespace, name: activeScheduling.name })
  );
}

export function isOver({ phase }: Pick<Entry, "phase">): boolean {
  return phase === "Completed" || phase === "Failed" || phase === "Released";
}

export function hasStarted({ phase }: Pick<Entry, "phase">): boolean {
  return phase !== "Waiting" && phase !== "InQueue";
}

function keyOfJob({ metadata }: BatchJob): string {
  return keyText({ namespace: metadata.namespace, name: metadata.name ?? "" });
}

function entryKey({ metadata }: Scheduling, { namespace, name }: Entry): string {
  return keyText({ namespace: namespace || metadata.namespace, name });
}

function nameOf({ metadata }: Scheduling, key: string): Pick<Entry, "name" | "namespace"> {
  const [namespace = "", name = ""] = key.split("/");
  return namespace === metadata.namespace ? { name } : { name, namespace };
}
