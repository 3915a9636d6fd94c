/**
 * Sends the executors of a job to their slots: those that wait at the gate are let in, those for whom there is no slot are told
 * so, and those whom kube-scheduler forgets are helped.
 */
import { type Cache, type Client, coreV1, type EventRecorder, isBeingDeleted, keyOf } from "@berth/kube";
import type { BatchJob } from "@berth/model";
import type { Placement } from "../apps/application.ts";
import type { Claim, Ledger } from "../ledger/ledger.ts";
import { ghostOf, slotAt, slotKey } from "../slot/world.ts";
import { removePod } from "../writes.ts";
import { type Assignment, assign } from "./assign.ts";
import { isGated, type Placing, place } from "./gate.ts";

export interface SeatingOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly events: EventRecorder;
  readonly placing: Placing;
  readonly placement: Placement;
}

/**
 * How long kube-scheduler has to evict a ghost. If the extender fails it in the moment it asks, it does not ask again for
 * minutes, unless room is made: then we do that.
 */
const PATIENCE_MS = 10_000;

/** Not all at once: all ghosts would be sent away before the first executor could come. */
const AT_ONCE = 32;
/** Whoever could not be let in is tried again by then. */
const AGAIN_MS = 1000;

/** Those of a job that are to be let in, and in whose name. */
interface Queue {
  readonly claim: Claim;
  readonly client: Client;
  readonly left: Assignment[];
}

export class Seating {
  readonly #options: SeatingOptions;
  /** Those that are being let in, by uid, and into which slot. Nobody waits for them: others may have come meanwhile. */
  readonly #entering = new Map<string, number>();
  /** By job: who comes next. The job that has just had its turn is the last. */
  readonly #queues = new Map<string, Queue>();
  /** By job: why the last one was not let in. */
  readonly #failures = new Map<string, unknown>();
  /** By job, and by the uid of its executors: since when they have been on their way. */
  readonly #underWay = new Map<string, ReadonlyMap<string, number>>();

  constructor(options: SeatingOptions) {
    this.#options = options;
  }

  /** Gives the time at which to look again. @param executors - Those of the present run that have not ended. */
  async seat(
    job: BatchJob,
    claim: Claim,
    executors: readonly coreV1.Pod[],
    client: Client,
    now: number,
  ): Promise<number> {
    const failure = this.#failures.get(claim.job);
    this.#failures.delete(claim.job);
    if (failure !== undefined) throw failure;
    const { fresh, placed, surplus } = assign(claim.slots, executors, this.#entering);
    if (fresh.length > 0) this.#queues.set(claim.job, { claim, client, left: [...fresh] });
    else this.#queues.delete(claim.job);
    this.#proceed();
    for (const pod of surplus) {
      const slots = `${claim.slots.length} slot${claim.slots.length === 1 ? "" : "s"}`;
      const note = `job ${job.metadata.name} was given ${slots}, and there is an executor in each: this one has to wait`;
      this.#options.events.event(pod, { reason: "NoSlot", type: "Warning", note });
    }
    const next = fresh.length > 0 ? now + AGAIN_MS : Number.POSITIVE_INFINITY;
    return this.#options.placement.type === "gate"
      ? next
      : Math.min(next, await this.#help(placed, claim, client, now));
  }

  /** Lets in as many as may be under way at once, of each job in turn. */
  #proceed(): void {
    while (this.#entering.size < AT_ONCE) {
      const [next] = this.#queues;
      if (!next) return;
      const [job, queue] = next;
      this.#queues.delete(job);
      const assignment = queue.left.shift();
      if (!assignment) continue;
      this.#queues.set(job, queue);
      this.#enter(assignment, queue);
    }
  }

  #enter(assignment: Assignment, { claim, client }: Queue): void {
    const { uid = "" } = assignment.pod.metadata;
    this.#entering.set(uid, assignment.slot);
    this.#letIn(assignment, claim, client)
      .catch((error: unknown) => this.#failures.set(claim.job, error))
      .finally(() => {
        this.#entering.delete(uid);
        this.#proceed();
      });
  }

  async #letIn({ pod, slot: position }: Assignment, claim: Claim, client: Client): Promise<void> {
    const { cache, ledger, placing, placement } = this.#options;
    const slot = slotAt(claim.testbed, position, cache);
    // It has waited for others: perhaps it has changed, or is gone.
    const now = cache.informer(coreV1.Pod).get(keyOf(pod));
    if (!slot || !now || now.metadata.uid !== pod.metadata.uid || !isGated(now) || isBeingDeleted(now)) return;
    const node = slot.spec.nodeName;
    const ghost = placement.type === "gate" ? ghostOf(keyOf(slot), cache) : undefined;
    await place({ client, ledger, claim, placing, assignment: { pod: now, slot: position }, node, ghost });
  }

  async #help(placed: readonly Assignment[], claim: Claim, client: Client, now: number): Promise<number> {
    const before = this.#underWay.get(claim.job);
    const after = new Map<string, number>();
    for (const { pod, slot } of placed) {
      const key = slotKey(claim.testbed, slot);
      if (!key || pod.spec?.nodeName) continue;
      const { uid = "" } = pod.metadata;
      const since = before?.get(uid) ?? now;
      after.set(uid, since);
      const ghost = ghostOf(key, this.#options.cache);
      if (ghost && now - since >= PATIENCE_MS) await removePod(client, ghost);
    }
    if (after.size > 0) this.#underWay.set(claim.job, after);
    else this.#underWay.delete(claim.job);
    const waiting = [...after.values()].filter((since) => now - since < PATIENCE_MS);
    return Math.min(Number.POSITIVE_INFINITY, ...waiting) + PATIENCE_MS;
  }
}
