/**
 * The board of a testbed: who waits, who runs, and how it stands with the slots, kept up to date change by change. What a
 * scheduler is told in a turn is read off here, and what has changed since an earlier turn as well.
 *
 * It goes by claims and not by the states of Slots, which are told a moment later: a slot is free when no job asks for it in its
 * `creationRequest` and no Scheduling that has yet to be carried out names it. Only of jobs in other namespaces, which nobody
 * watches here, the states of Slots have to tell.
 */
import type {
  BatchJob,
  QueuedJob,
  RunningJob,
  Scheduling,
  Slot,
  SlotState,
  TestbedView,
  TurnEvent,
  TurnSlot,
} from "@berth/model";
import type { Epoch } from "../views/epoch.ts";
import { jobBasics, nameIn, wantsToRun } from "../views/job.ts";
import { type Intent, intentsOf } from "./intents.ts";

/** A line of the board, and since which version it has been so. */
interface Line<T> {
  readonly at: number;
  readonly view: T;
}

/** Something that has happened, for whoever was told of an earlier version. */
interface Entry {
  readonly version: number;
  readonly event: TurnEvent;
}

export interface BoardOptions {
  readonly namespace: string;
  readonly testbed: string;
  readonly epoch: Epoch;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  /** Told when something has happened that a scheduler may want to decide about. */
  readonly onNews: () => void;
  /** Told when it stands otherwise with slots: those of them that are still there. */
  readonly onSlots: (slots: readonly Slot[]) => void;
}

/** What a scheduler has brought about itself: it hears of it with the next turn. Of everything else it is told at once. */
const NO_NEWS: ReadonlySet<TurnEvent["type"]> = new Set(["job.claimed", "job.started", "call"]);

/** How many events are remembered: whoever was away for longer is told how things are, not what happened. */
const LONGEST_MEMORY = 10_000;

/** A line that is gone; it is remembered for those who may have seen it. */
const GONE = undefined;

export class Board {
  readonly #options: BoardOptions;
  readonly #jobs = new Map<string, BatchJob>();
  readonly #slots = new Map<number, Slot>();
  /** By Scheduling: which jobs and slots it is about to take. */
  readonly #intents = new Map<string, readonly Intent[]>();
  readonly #queue = new Map<string, Line<QueuedJob | typeof GONE>>();
  readonly #running = new Map<string, Line<RunningJob | typeof GONE>>();
  readonly #shown = new Map<number, Line<TurnSlot | typeof GONE>>();
  readonly #counts: Record<SlotState, number> = { free: 0, reserved: 0, occupied: 0, unavailable: 0 };
  /** Who has a slot, or is about to: the names of jobs, each as often as it is said. */
  readonly #holders = new Map<number, string[]>();
  /** Which Schedulings are about to take a job. */
  readonly #intended = new Map<string, Set<string>>();
  readonly #events: Entry[] = [];
  readonly #dirtyJobs = new Set<string>();
  readonly #dirtySlots = new Set<number>();
  #version = 0;
  #oldest = 0;
  #isSynced = false;

  constructor(options: BoardOptions) {
    this.#options = options;
  }

  /** Everything that was there has been told: from now on there is news. */
  synced(): void {
    this.#update();
    this.#isSynced = true;
    this.#events.length = 0;
  }

  setJob(name: string, job: BatchJob | undefined): void {
    const before = this.#jobs.get(name);
    if (job) this.#jobs.set(name, job);
    else this.#jobs.delete(name);
    this.#move(name, this.#claimOf(before), this.#claimOf(job));
    this.#dirtyJobs.add(name);
    this.#look();
  }

  setSlot(position: number, slot: Slot | undefined): void {
    if (slot) this.#slots.set(position, slot);
    else this.#slots.delete(position);
    this.#dirtySlots.add(position);
    this.#look();
  }

  setScheduling(name: string, scheduling: Scheduling | undefined): void {
    const before = this.#intents.get(name) ?? [];
    const after = scheduling ? intentsOf(scheduling, this.#options) : [];
    if (after.length > 0) this.#intents.set(name, after);
    else this.#intents.delete(name);
    for (const { job, slots } of before) {
      this.#intended.get(job)?.delete(name);
      this.#move(job, slots, []);
      this.#dirtyJobs.add(job);
    }
    for (const { job, slots } of after) {
      this.#intended.set(job, (this.#intended.get(job) ?? new Set()).add(name));
      this.#move(job, [], slots);
      this.#dirtyJobs.add(job);
    }
    if (before.length + after.length > 0) this.#look();
  }

  /** Changes whenever the board does. */
  get version(): number {
    this.#update();
    return this.#version;
  }

  /** Whether it can still be said what has changed since a version. */
  remembers(version: number): boolean {
    return version >= this.#oldest && version <= this.#version;
  }

  eventsSince(version: number): TurnEvent[] {
    this.#update();
    const first = this.#events.findIndex((entry) => entry.version > version);
    return first === -1 ? [] : this.#events.slice(first).map(({ event }) => event);
  }

  /** Whether anything has happened since a version that a scheduler may want to decide about. */
  hasNews(version: number): boolean {
    this.#update();
    for (let index = this.#events.length - 1; index >= 0; index--) {
      const entry = this.#events[index] as Entry;
      if (entry.version <= version) return false;
      if (!NO_NEWS.has(entry.event.type)) return true;
    }
    return false;
  }

  /** Those that wait for a decision, the earliest submitted first. @param since - Only lines that are newer. */
  queue(since = -1): { set: QueuedJob[]; removed: string[] } {
    this.#update();
    const { set, removed } = changes(this.#queue, since);
    return { set: set.sort(bySubmission), removed };
  }

  running(since = -1): { set: RunningJob[]; removed: string[] } {
    this.#update();
    const { set, removed } = changes(this.#running, since);
    return { set: set.sort(bySubmission), removed };
  }

  slots(since = -1): { set: TurnSlot[]; removed: number[] } {
    this.#update();
    const { set, removed } = changes(this.#shown, since);
    return { set: set.sort((a, b) => a.id - b.id), removed };
  }

  queued(job: string): QueuedJob | undefined {
    this.#update();
    return this.#queue.get(job)?.view;
  }

  runningJob(job: string): RunningJob | undefined {
    this.#update();
    return this.#running.get(job)?.view;
  }

  slot(id: number): TurnSlot | undefined {
    this.#update();
    return this.#shown.get(id)?.view;
  }

  /** How it stands with a slot. */
  lineOf({ spec, status = {} }: Slot): TurnSlot {
    const { position: id, nodeName: node, unschedulable } = spec;
    const { namespace } = this.#options;
    const { state, job: told, reason = "no reason given" } = status;
    const [job] = this.#holders.get(id) ?? [];
    if (job !== undefined) {
      // It may still be about the one before.
      const isIn = state === "occupied" && (told === undefined || told === `${namespace}/${job}`);
      return { id, node, state: isIn ? "occupied" : "reserved", job };
    }
    const isElsewhere = told !== undefined && !told.startsWith(`${namespace}/`);
    if (isElsewhere && (state === "occupied" || state === "reserved")) return { id, node, state, job: nameIn(told) };
    if (unschedulable) return { id, node, state: "unavailable", reason: "it was set unschedulable" };
    if (state === undefined) return { id, node, state: "unavailable", reason: "its ghost is not there yet" };
    return state === "unavailable" ? { id, node, state, reason } : { id, node, state: "free" };
  }

  /** How many slots there are of each kind. */
  counts(): TestbedView["slots"] {
    this.#update();
    const { free, reserved, occupied, unavailable } = this.#counts;
    return { total: free + reserved + occupied + unavailable, free, reserved, occupied, unavailable };
  }

  /** Numbers of all slots that are free, ascending. */
  freeSlots(): number[] {
    this.#update();
    const free: number[] = [];
    for (const [id, { view }] of this.#shown) if (view?.state === "free") free.push(id);
    return free.sort((a, b) => a - b);
  }

  knows(job: string): boolean {
    return this.#jobs.has(job);
  }

  /** A job's slots, if they are of this testbed. */
  #claimOf(job: BatchJob | undefined): readonly number[] {
    const request = job?.spec.activeScheduling && job.spec.creationRequest;
    if (!request) return [];
    const { testbed, namespace } = this.#options;
    const isOurs = request.testbed.name === testbed && (request.testbed.namespace || namespace) === namespace;
    return isOurs ? request.slots : [];
  }

  #move(job: string, from: readonly number[], to: readonly number[]): void {
    for (const slot of from) {
      const holders = this.#holders.get(slot) ?? [];
      holders.splice(holders.indexOf(job), 1);
      if (holders.length === 0) this.#holders.delete(slot);
      this.#dirtySlots.add(slot);
    }
    for (const slot of to) {
      this.#holders.set(slot, [...(this.#holders.get(slot) ?? []), job]);
      this.#dirtySlots.add(slot);
    }
  }

  /** Something has changed; whether it is news is found out now, while it can still be told from what comes next. */
  #look(): void {
    if (!this.#isSynced) return;
    const before = this.#events.length;
    this.#update();
    if (this.#events.slice(before).some(({ event }) => !NO_NEWS.has(event.type))) this.#options.onNews();
  }

  #update(): void {
    if (this.#dirtyJobs.size === 0 && this.#dirtySlots.size === 0) return;
    this.#version++;
    for (const name of this.#dirtyJobs) this.#updateJob(name);
    const changed = [...this.#dirtySlots].filter((position) => this.#updateSlot(position));
    this.#dirtyJobs.clear();
    this.#dirtySlots.clear();
    this.#forget();
    if (this.#isSynced && changed.length > 0) {
      this.#options.onSlots(changed.flatMap((position) => this.#slots.get(position) ?? []));
    }
  }

  #updateJob(name: string): void {
    const job = this.#jobs.get(name);
    const [queued, running] = [this.#queue.get(name)?.view, this.#running.get(name)?.view];
    const isHeld = job !== undefined && this.#isHeld(name, job);
    const nowQueued = job && !isHeld && wantsToRun(job) ? jobBasics(job, this.#options.epoch) : GONE;
    const nowRunning = job && isHeld && this.#isHere(name, job) ? this.#runningView(name, job) : GONE;
    this.#write(this.#queue, name, queued, nowQueued);
    this.#write(this.#running, name, running, nowRunning);
    this.#tellOf(name, job, { queued, running, nowQueued, nowRunning });
  }

  #isHeld(name: string, job: BatchJob): boolean {
    return job.spec.activeScheduling !== undefined || (this.#intended.get(name)?.size ?? 0) > 0;
  }

  /** Whether it is on this testbed that somebody has it. */
  #isHere(name: string, job: BatchJob): boolean {
    return this.#claimOf(job).length > 0 || this.#intentFor(name)?.isHere === true;
  }

  #intentFor(job: string): Intent | undefined {
    const [by] = this.#intended.get(job) ?? [];
    return this.#intents.get(by ?? "")?.find((intent) => intent.job === job);
  }

  #runningView(name: string, job: BatchJob): RunningJob {
    const { status = {}, spec } = job;
    const claimed = this.#claimOf(job);
    const [by] = this.#intended.get(name) ?? [];
    const { slots: intended = [] } = this.#intentFor(name) ?? {};
    const { phase = "Ready", startTime } = status;
    // A job that is to run again has ended before, which is not what is going on now.
    const isOther = claimed.length === 0 || status.claimTime !== spec.creationRequest?.claimTime;
    const isOld = isOther && (phase === "Completed" || phase === "Failed");
    const scheduling = spec.activeScheduling?.name ?? by;
    return {
      ...jobBasics(job, this.#options.epoch),
      phase: isOld ? "InQueue" : phase,
      slots: [...(claimed.length > 0 ? claimed : intended)],
      ...(startTime !== undefined && !isOld && { started: this.#options.epoch.of(startTime) }),
      ...(scheduling !== undefined && { scheduling }),
    };
  }

  #tellOf(
    name: string,
    job: BatchJob | undefined,
    change: {
      queued: QueuedJob | undefined;
      running: RunningJob | undefined;
      nowQueued: QueuedJob | undefined;
      nowRunning: RunningJob | undefined;
    },
  ): void {
    const { queued, running, nowQueued, nowRunning } = change;
    if (!job) {
      if (queued || running) this.#tell("job.deleted", { job: name });
      return;
    }
    if (running && !nowRunning) {
      const phase = job.status?.phase;
      if (phase === "Completed") this.#tell("job.completed", { job: name });
      else if (phase === "Failed") this.#tell("job.failed", { job: name });
      else this.#tell("job.released", { job: name });
      return;
    }
    if (!queued && nowQueued) this.#tell("job.submitted", { job: name });
    else if (queued && !nowQueued && nowRunning) this.#tell("job.claimed", { job: name });
    else if (nowRunning?.phase === "Running" && running?.phase !== "Running") this.#tell("job.started", { job: name });
  }

  /** Whether it stands otherwise with it than before. */
  #updateSlot(position: number): boolean {
    const slot = this.#slots.get(position);
    const before = this.#shown.get(position)?.view;
    const after = slot ? this.lineOf(slot) : GONE;
    if (!this.#write(this.#shown, position, before, after)) return false;
    if (before) this.#counts[before.state]--;
    if (after) this.#counts[after.state]++;
    if (!after) this.#tell("slot.removed", { slot: position });
    else if (!before) this.#tell("slot.added", { slot: position });
    else if (after.state === "unavailable" && before.state !== "unavailable")
      this.#tell("slot.unavailable", { slot: position });
    else if (after.state === "free" && before.state === "unavailable") this.#tell("slot.available", { slot: position });
    else if (after.state === "free" && before.state !== "free") this.#tell("slot.freed", { slot: position });
    return true;
  }

  /** Whether it is another line than before. */
  #write<K, T>(lines: Map<K, Line<T | undefined>>, key: K, before: T | undefined, after: T | undefined): boolean {
    if (before === undefined && after === undefined) return false;
    if (before !== undefined && after !== undefined && JSON.stringify(before) === JSON.stringify(after)) return false;
    lines.set(key, { at: this.#version, view: after });
    return true;
  }

  #tell(type: TurnEvent["type"], about: { job?: string; slot?: number }): void {
    const time = this.#options.epoch.seconds(this.#options.now());
    this.#events.push({ version: this.#version, event: { type, time, ...about } });
  }

  /** What is too old to be asked for. */
  #forget(): void {
    if (this.#events.length <= 2 * LONGEST_MEMORY) return;
    this.#events.splice(0, this.#events.length - LONGEST_MEMORY);
    this.#oldest = (this.#events[0] as Entry).version;
    for (const lines of [this.#queue, this.#running, this.#shown] as Map<unknown, Line<unknown>>[]) {
      for (const [key, { at, view }] of lines) if (view === GONE && at < this.#oldest) lines.delete(key);
    }
  }
}

function changes<K, T>(lines: ReadonlyMap<K, Line<T | undefined>>, since: number): { set: T[]; removed: K[] } {
  const [set, removed]: [T[], K[]] = [[], []];
  for (const [key, { at, view }] of lines) {
    if (at <= since) continue;
    if (view !== undefined) set.push(view);
    else if (since >= 0) removed.push(key);
  }
  return { set, removed };
}

function bySubmission(a: QueuedJob, b: QueuedJob): number {
  return a.submitted - b.submitted || (a.name < b.name ? -1 : 1);
}
