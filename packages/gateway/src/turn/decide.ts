/**
 * From the decisions of a turn to what is to be written: which jobs get which slots, which are released, and what cannot be done.
 * Pure.
 *
 * The rules: a decision is carried out as a whole or not at all; one that is not keeps nothing from the others. They are taken in
 * order, and what is released in a turn can be given away in it.
 */
import type { Decision, QueuedJob, Rejection, RunningJob, TurnSlot } from "@berth/model";
import type { GatewayErrorCode } from "../errors.ts";

/** What there is to decide about. */
export interface Situation {
  queued(job: string): QueuedJob | undefined;
  runningJob(job: string): RunningJob | undefined;
  /** Whether there is such a job at all. */
  knows(job: string): boolean;
  slot(id: number): TurnSlot | undefined;
  /** Ascending. */
  freeSlots(): readonly number[];
}

export interface Outcome {
  /** Jobs to start, and where. */
  readonly starts: readonly { readonly job: string; readonly slots: readonly number[]; readonly reason?: string }[];
  readonly releases: readonly string[];
  readonly rejected: readonly Rejection[];
}

/** What becomes of the decisions of a turn. */
export function decide(decisions: readonly Decision[], situation: Situation): Outcome {
  const seen = new Set<string>();
  const releases = new Set<string>();
  const starts: { job: string; slots: readonly number[]; reason?: string }[] = [];
  const rejected: Rejection[] = [];
  const pool = new Pool(situation);
  for (const job of releasedBy(decisions, situation)) pool.vacate(situation.runningJob(job)?.slots ?? []);
  for (const decision of decisions) {
    const { job, reason } = decision;
    const problem = problemWith(decision, seen, situation) ?? pool.problemWith(decision);
    if (problem) rejected.push({ job, ...problem });
    else if (decision.release) releases.add(job);
    else starts.push({ job, slots: pool.take(decision), ...(reason !== undefined && { reason }) });
    seen.add(job);
  }
  return { starts, releases: [...releases], rejected };
}

/** Jobs that will be released: others' slots can be given away only if theirs really go. */
function releasedBy(decisions: readonly Decision[], situation: Situation): string[] {
  const seen = new Set<string>();
  return decisions.flatMap((decision) => {
    const isReleased = decision.release === true && problemWith(decision, seen, situation) === undefined;
    seen.add(decision.job);
    return isReleased ? [decision.job] : [];
  });
}

interface Problem {
  readonly code: GatewayErrorCode;
  readonly message: string;
}

function problemWith(
  { job, slots, executors, release }: Decision,
  seen: ReadonlySet<string>,
  situation: Situation,
): Problem | undefined {
  const said = [slots, executors, release].filter((each) => each !== undefined).length;
  if (said !== 1) {
    const message = `say what is to happen to ${job}: slots, executors or release, and only one of them`;
    return { code: "BERTH_DECISION_UNCLEAR", message };
  }
  if (seen.has(job)) return { code: "BERTH_DECISION_TWICE", message: `${job} was decided about before in this turn` };
  if (!situation.knows(job)) return { code: "BERTH_JOB_UNKNOWN", message: `there is no job ${job}` };
  // To release what nobody has changes nothing: that may be because it was released, and nobody heard the answer.
  if (release || situation.queued(job)) return undefined;
  const running = situation.runningJob(job);
  if (!running) return { code: "BERTH_JOB_NOT_WAITING", message: `${job} is not in the queue` };
  const where = running.slots.length > 0 ? `, in slot ${running.slots.join(", ")}` : "";
  return { code: "BERTH_JOB_HELD", message: `${running.scheduling ?? "somebody"} has ${job}${where}` };
}

/** Slots as they are given away, one decision after the other. */
class Pool {
  readonly #situation: Situation;
  readonly #taken = new Map<number, string>();
  readonly #vacated = new Set<number>();
  #free: number[] | undefined;

  constructor(situation: Situation) {
    this.#situation = situation;
  }

  vacate(slots: readonly number[]): void {
    for (const slot of slots) this.#vacated.add(slot);
  }

  problemWith({ slots, executors }: Decision): Problem | undefined {
    if (executors !== undefined) {
      const free = this.#freeSlots().length;
      if (executors <= free) return undefined;
      return { code: "BERTH_SLOTS_TOO_FEW", message: `${executors} slots are wanted, and ${free} are free` };
    }
    if (slots && new Set(slots).size < slots.length) {
      return { code: "BERTH_DECISION_UNCLEAR", message: "a slot is named twice" };
    }
    for (const id of slots ?? []) {
      const problem = this.#problemOf(id);
      if (problem) return problem;
    }
    return undefined;
  }

  take({ job, slots, executors = 0 }: Decision): readonly number[] {
    const given = slots ?? this.#freeSlots().slice(0, executors);
    for (const slot of given) this.#taken.set(slot, job);
    this.#free = undefined;
    return given;
  }

  #freeSlots(): number[] {
    this.#free ??= [...new Set([...this.#situation.freeSlots(), ...this.#vacated])]
      .filter((id) => !this.#taken.has(id))
      .sort((a, b) => a - b);
    return this.#free;
  }

  #problemOf(id: number): Problem | undefined {
    const slot = this.#situation.slot(id);
    if (!slot) return { code: "BERTH_SLOT_UNKNOWN", message: `there is no slot ${id}` };
    const holder = this.#taken.get(id) ?? (this.#vacated.has(id) ? undefined : slot.job);
    if (holder !== undefined) return { code: "BERTH_SLOT_TAKEN", message: `${holder} has slot ${id}` };
    if (slot.state !== "unavailable") return undefined;
    return { code: "BERTH_SLOT_UNAVAILABLE", message: `slot ${id}: ${slot.reason ?? "unavailable"}` };
  }
}
