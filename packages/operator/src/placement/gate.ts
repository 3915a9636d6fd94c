/**
 * Lets gated executors go to their slots: the ghost makes room, and in the next moment the executor is pinned to its node and
 * its gate lifted, so that the scheduler's first attempt succeeds. With an extender the ghost stays: kube-scheduler evicts it,
 * and keeps its place for the executor.
 */
import { type Client, type Clock, coreV1, isConflict, isInvalid, isNotFound, keyOf } from "@berth/kube";
import type { Claim, Ledger } from "../ledger/ledger.ts";
import { annotation, SLOT_GATE } from "../names.ts";
import { removePod } from "../writes.ts";
import type { Assignment } from "./assign.ts";

/** Schedulers and nodes are still at work for so long when an executor has been let in. */
const AFTERMATH_MS = 2000;
/** So many executors on their way at once are nothing out of the ordinary. */
const FEW = 16;

/** Slots whose ghost has been sent away for an executor that is about to come: nobody brings another ghost meanwhile. */
export class Placing {
  readonly #clock: Clock;
  readonly #slots = new Set<string>();
  /** When the last ones were let in, the oldest first. */
  readonly #letIn: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether many are being put into slots: what can wait does. */
  get isBusy(): boolean {
    const since = this.#clock.steady() - AFTERMATH_MS;
    return this.#slots.size + this.#letIn.filter((time) => time > since).length > FEW;
  }

  has(testbed: string, slot: number): boolean {
    return this.#slots.has(`${testbed}#${slot}`);
  }

  async during(testbed: string, slot: number, work: () => Promise<void>): Promise<void> {
    const key = `${testbed}#${slot}`;
    this.#slots.add(key);
    try {
      await work();
    } finally {
      this.#slots.delete(key);
      if (this.#letIn.push(this.#clock.steady()) > FEW + 1) this.#letIn.shift(); // no more have to be counted
    }
  }
}

export interface PlaceInput {
  readonly client: Client;
  readonly ledger: Ledger;
  /** By which it may have the slot. */
  readonly claim: Claim;
  readonly placing: Placing;
  readonly assignment: Assignment;
  /** The node of the slot. */
  readonly node: string;
  /** Who has to make room; none if there is nobody, or if that is the scheduler's affair. */
  readonly ghost: coreV1.Pod | undefined;
}

/** Puts one executor into its slot. Whether it is there: not if its job has lost the slot, or if it is gone itself. */
export async function place(input: PlaceInput): Promise<boolean> {
  const { client, ledger, claim, placing, assignment, node, ghost } = input;
  const { pod, slot } = assignment;
  const { uid = "" } = pod.metadata;
  // Much may have happened since we looked. From here to the write it is ours, whoever lets go of the job meanwhile.
  if (ledger.claimOf(claim.job)?.since !== claim.since) return false;
  ledger.occupy(uid, claim.testbed, slot, claim.job);
  try {
    await placing.during(claim.testbed, slot, async () => {
      if (ghost) await removePod(client, ghost);
      await client.patch(coreV1.Pod, keyOf(pod), { merge: admission(pod, slot, node) });
    });
    return true;
  } catch (error) {
    // Perhaps it was written nevertheless: the slot is not free before that is known.
    if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
    ledger.setPod(uid, pod); // it has changed, or is gone; then there will be word of it
    return false;
  }
}

/** Whether a pod waits behind our gate. */
export function isGated({ spec }: coreV1.Pod): boolean {
  return spec?.schedulingGates?.some(({ name }) => name === SLOT_GATE) ?? false;
}

/** What lets a gated pod go to a node, and nowhere else. Pure. */
export function admission({ metadata, spec }: coreV1.Pod, slot: number, node: string): object {
  const gates = spec?.schedulingGates?.filter(({ name }) => name !== SLOT_GATE) ?? [];
  const pin = { key: "metadata.name", operator: "In", values: [node] };
  const { nodeSelectorTerms: terms = [] } =
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  // Any one of several terms is enough to go elsewhere, so each of them is pinned.
  const pinned =
    terms.length === 0
      ? [{ matchFields: [pin] }]
      : terms.map((term) => ({ ...term, matchFields: [...(term.matchFields ?? []), pin] }));
  return {
    metadata: {
      uid: metadata.uid, // another pod of the same name is not meant
      annotations: { [annotation.slot]: String(slot) },
      // Nobody applies executors, so nobody asks who owns which of their fields. To keep account of that is half of what this
      // write costs the API server, and a good part of every executor that it sends to anybody from now on.
      managedFields: [{}],
    },
    spec: {
      schedulingGates: gates.length > 0 ? gates : null,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: pinned } } },
    },
  };
}
