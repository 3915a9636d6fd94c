/**
 * Sends the executors of a job to their slots: those that wait at the gate are let in, those for whom there is no slot are told
 * so, and those whom kube-scheduler forgets are helped.
 */
import type { Cache, Client, coreV1, EventRecorder } from "@berth/kube";
import { keyOf } from "@berth/kube";
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
/** Whoever could not be let in, or had to wait for others, is tried again by then. */
const AGAIN_MS = 1000;

export class Seating {
  readonly #options: SeatingOptions;
  /** Those that are being let in, by uid, and into which slot. Nobody waits for them: others may have come meanwhile. */
  readonly #entering = new Map<string, number>();
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
    for (const assignment of fresh) if (this.#entering.size < AT_ONCE) this.#enter(assignment, claim, client);
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

  #enter(assignment: Assignment, claim: Claim, client: Client): void {
    const { uid = "" } = assignment.pod.metadata;
    this.#entering.set(uid, assignment.slot);
    this.#letIn(assignment, claim, client)
      .catch((error: unknown) => this.#failures.set(claim.job, error))
      .finally(() => this.#entering.delete(uid));
  }

  async #letIn(assignment: Assignment, claim: Claim, client: Client): Promise<void> {
    const { cache, ledger, placing, placement } = this.#options;
    const slot = slotAt(claim.testbed, assignment.slot, cache);
    if (!slot || !isGated(assignment.pod)) return;
    const node = slot.spec.nodeName;
    const ghost = placement.type === "gate" ? ghostOf(keyOf(slot), cache) : undefined;
    await place({ client, ledger, claim, placing, assignment, node, ghost });
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
