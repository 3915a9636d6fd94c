/**
 * Who has which slot: the only place that answers "is it free?".
 *
 * It holds no facts of its own. Claims are what BatchJobs ask for in `spec.creationRequest`, occupants are the executors that
 * are there; from these it can be rebuilt at any time, in any order. Whoever writes a claim tells it at once, so that the next
 * decision of the same process sees it before the API server's watch does.
 */
import { type coreV1, keyOf, keyText } from "@berth/kube";
import type { BatchJob } from "@berth/model";
import { annotation, label } from "../names.ts";
import { compare } from "../order.ts";
import { isOver, slotOf } from "../placement/assign.ts";

/** A job's wish for slots, which is granted unless an earlier one has any of them. */
export interface Claim {
  /** "namespace/name". */
  readonly job: string;
  /** "namespace/name". */
  readonly testbed: string;
  readonly slots: readonly number[];
  /** For the order of claims. */
  readonly since: string;
}

/** Who has which slot. */
export class Ledger {
  readonly #claims = new Map<string, Claim>();
  /** Who claims a slot: one job, unless two processes took themselves for the leader. */
  readonly #claimants = new Map<string, Set<string>>();
  /** By slot: which jobs have an executor there. */
  readonly #occupants = new Map<string, Map<string, string>>();
  /** By the uid of a pod: where it is. */
  readonly #places = new Map<string, string>();
  #doubles = 0;

  /** A job is as it is stored now; `undefined` if it is gone. */
  setJob(key: string, job: BatchJob | undefined): void {
    const before = this.#claims.get(key);
    if (before) this.#withdraw(before);
    const claim = job && claimOf(job);
    if (claim) this.#enter(claim);
  }

  /** An executor is about to be put into a slot; from now on it is in it. What is stored of it later counts instead. */
  occupy(uid: string, testbed: string, slot: number, job: string): void {
    this.#settle(uid, { slot: slotKey(testbed, slot), job });
  }

  /** A pod is as it is stored now, or is gone. */
  setPod(uid: string, pod: coreV1.Pod | undefined): void {
    this.#settle(uid, pod && placeOfPod(pod));
  }

  #settle(uid: string, place: Place | undefined): void {
    const before = this.#places.get(uid);
    if (before !== undefined && before !== place?.slot) {
      this.#places.delete(uid);
      const occupants = this.#occupants.get(before);
      occupants?.delete(uid);
      if (occupants?.size === 0) this.#occupants.delete(before);
    }
    if (!place) return;
    this.#places.set(uid, place.slot);
    const occupants = this.#occupants.get(place.slot) ?? new Map<string, string>();
    this.#occupants.set(place.slot, occupants.set(uid, place.job));
  }

  /** The job that has a slot. */
  holderOf(testbed: string, slot: number): string | undefined {
    const claimants = this.#claimants.get(slotKey(testbed, slot));
    if (!claimants) return undefined;
    if (this.#doubles === 0) return claimants.values().next().value;
    return [...claimants].find((job) => !this.losers().has(job));
  }

  /** Whether anybody, other than one who asks, has a slot or is still in it. */
  isFree(testbed: string, slot: number, asking?: string): boolean {
    const key = slotKey(testbed, slot);
    for (const job of this.#claimants.get(key) ?? []) if (job !== asking) return false;
    for (const job of this.#occupants.get(key)?.values() ?? []) if (job !== asking) return false;
    return true;
  }

  /** Whether a slot is claimed, or an executor is still in it: then it cannot be taken away. */
  isTaken(testbed: string, slot: number): boolean {
    return !this.isFree(testbed, slot);
  }

  /** What a job has, unless it has lost it to an earlier claim. */
  claimOf(job: string): Claim | undefined {
    return this.losers().has(job) ? undefined : this.#claims.get(job);
  }

  /** All claims on slots of a testbed that are granted. */
  claimsOn(testbed: string): Claim[] {
    const losers = this.losers();
    return [...this.#claims.values()].filter((claim) => claim.testbed === testbed && !losers.has(claim.job));
  }

  /** Jobs whose claim is void, because an earlier one has a slot of theirs: all of their slots are somebody else's to have. */
  losers(): ReadonlySet<string> {
    if (this.#doubles === 0) return NOBODY;
    const [taken, losers] = [new Set<string>(), new Set<string>()];
    for (const { job, testbed, slots } of [...this.#claims.values()].sort(byAge)) {
      const keys = slots.map((slot) => slotKey(testbed, slot));
      if (keys.some((key) => taken.has(key))) losers.add(job);
      else for (const key of keys) taken.add(key);
    }
    return losers;
  }

  /** How many slots are claimed, and in how many there is an executor. */
  figures(): { readonly claimed: number; readonly occupied: number } {
    return { claimed: this.#claimants.size, occupied: this.#occupants.size };
  }

  /** By rule: how many slots, and for L4 how many jobs, are not as they are to be. All of them are 0, or pass in a moment. */
  violations(): { readonly L1: number; readonly L3: number; readonly L4: number } {
    const isDisputed = (slot: string, jobs: ReadonlyMap<string, string>) =>
      [...jobs.values()].some((job) => [...(this.#claimants.get(slot) ?? [job])].some((other) => other !== job));
    return {
      L1: [...this.#claimants.values()].filter(({ size }) => size > 1).length,
      L3: [...this.#occupants].filter(([slot, jobs]) => isDisputed(slot, jobs)).length,
      L4: this.losers().size,
    };
  }

  #enter(claim: Claim): void {
    this.#claims.set(claim.job, claim);
    for (const slot of claim.slots) {
      const key = slotKey(claim.testbed, slot);
      const claimants = this.#claimants.get(key) ?? new Set<string>();
      this.#claimants.set(key, claimants.add(claim.job));
      if (claimants.size === 2) this.#doubles++;
    }
  }

  #withdraw({ job, testbed, slots }: Claim): void {
    this.#claims.delete(job);
    for (const slot of slots) {
      const key = slotKey(testbed, slot);
      const claimants = this.#claimants.get(key);
      claimants?.delete(job);
      if (claimants?.size === 1) this.#doubles--;
      if (claimants?.size === 0) this.#claimants.delete(key);
    }
  }
}

const NOBODY: ReadonlySet<string> = new Set();

/** What a job claims. */
export function claimOf(job: BatchJob): Claim | undefined {
  const { activeScheduling, creationRequest } = job.spec;
  if (!activeScheduling || !creationRequest) return undefined;
  const { testbed, slots, claimTime } = creationRequest;
  const { namespace } = job.metadata;
  return {
    job: keyText(keyOf(job)),
    testbed: keyText({ namespace: testbed.namespace || namespace, name: testbed.name }),
    slots,
    since: claimTime ?? job.metadata.creationTimestamp ?? "",
  };
}

/** Where an executor is, and whose it is. */
interface Place {
  readonly slot: string;
  readonly job: string;
}

function placeOfPod(pod: coreV1.Pod): Place | undefined {
  const { labels = {}, annotations = {} } = pod.metadata;
  const [testbed, job, slot] = [annotations[annotation.testbed], annotations[annotation.job], slotOf(pod)];
  if (labels[label.role] !== "executor" || !testbed || !job || slot === undefined || isOver(pod)) return undefined;
  return { slot: slotKey(testbed, slot), job };
}

function slotKey(testbed: string, slot: number): string {
  return `${testbed}#${slot}`;
}

function byAge(a: Claim, b: Claim): number {
  return compare(`${a.since}/${a.job}`, `${b.since}/${b.job}`);
}
