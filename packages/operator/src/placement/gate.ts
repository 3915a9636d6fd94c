/**
 * Puts gated executors into their slots: the ghost makes room, and in the next moment the executor is pinned to its node and
 * its gate lifted, so that the scheduler's first attempt succeeds.
 */
import { type Client, coreV1, isConflict, isInvalid, isNotFound, keyOf } from "@berth/kube";
import { annotation, SLOT_GATE } from "../names.ts";
import { removePod } from "../writes.ts";
import type { Assignment } from "./assign.ts";

/** Slots whose ghost has been sent away for an executor that is about to come: nobody brings another ghost meanwhile. */
export class Placing {
  readonly #slots = new Set<string>();

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
    }
  }
}

export interface PlaceInput {
  readonly client: Client;
  readonly testbed: string;
  readonly placing: Placing;
  readonly assignment: Assignment;
  /** The node of the slot. */
  readonly node: string;
  readonly ghost: coreV1.Pod | undefined;
}

/** Puts one executor into its slot. */
export async function place({
  client,
  testbed,
  placing,
  assignment: { pod, slot },
  node,
  ghost,
}: PlaceInput): Promise<void> {
  await placing.during(testbed, slot, async () => {
    if (ghost) await removePod(client, ghost);
    try {
      await client.patch(coreV1.Pod, keyOf(pod), { merge: admission(pod, slot, node) });
    } catch (error) {
      // It has changed, or is gone; then there will be word of it.
      if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
    }
  });
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
    // Another pod of the same name is not meant.
    metadata: { uid: metadata.uid, annotations: { [annotation.slot]: String(slot) } },
    spec: {
      schedulingGates: gates.length > 0 ? gates : null,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: pinned } } },
    },
  };
}
