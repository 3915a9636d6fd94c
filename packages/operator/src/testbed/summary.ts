/** Says how it stands with a testbed: how many of its slots are free, and why others are not. For people, who are not in a hurry. */
import {
  type Cache,
  type ControllerOptions,
  type EventRecorder,
  findCondition,
  generationChanged,
  keyOf,
  keyText,
  onUpdate,
  or,
  owned,
  type Result,
  withCondition,
} from "@berth/kube";
import { Slot, Testbed } from "@berth/model";
import { may, SEE } from "../install/rights.ts";
import { Pace } from "../pace.ts";
import { slotsOf } from "../slot/world.ts";
import { isSame, unlessGone } from "../writes.ts";

/** How often, at most; and of many slots less often, since there is always something new. */
const EVERY_MS = 500;
const SLOTS_EACH_MS = 0.2;

export interface SummaryControllerOptions {
  readonly cache: Cache;
  readonly events: EventRecorder;
}

export const summaryRights = [may(SEE, Testbed), may(["patch"], Testbed, "status"), may(SEE, Slot)];

export function summaryController({ cache, events }: SummaryControllerOptions): ControllerOptions<Testbed> {
  const pace = new Pace({ leastMs: EVERY_MS, eachMs: SLOTS_EACH_MS });
  return {
    name: "summary",
    for: Testbed,
    predicates: [generationChanged],
    owns: [owned(Slot, { predicates: [or(generationChanged, onUpdate(stateChanged))] })],
    reconcile: async (request, { client, clock }): Promise<Result | undefined> => {
      const delay = pace.delay(keyText(request), clock);
      if (delay > 0) return { requeueAfter: delay };
      const testbed = await client.find(Testbed, request);
      if (!testbed) return undefined;
      const slots = slotsOf(request, cache);
      pace.done(keyText(request), slots.length, clock);
      const summary = summaryOf(testbed, slots);
      const { generation = 1 } = testbed.metadata;
      const before = testbed.status?.conditions ?? [];
      const condition = { ...summary.ready, observedGeneration: generation };
      const conditions = [...withCondition(before, condition, clock)];
      const status = { ...summary.status, observedGeneration: generation, conditions };
      if (isSame(status, testbed.status)) return undefined;
      await client.status.patch(Testbed, keyOf(testbed), { merge: { status } }).catch(unlessGone);
      const { reason, message: note, status: isReady } = summary.ready;
      if (findCondition(before, "Ready")?.reason !== reason) {
        events.event(testbed, { reason, note, type: isReady === "True" ? "Normal" : "Warning" });
      }
      return undefined;
    },
  };
}

function stateChanged(old: Slot, slot: Slot): boolean {
  return old.status?.state !== slot.status?.state || old.status?.reason !== slot.status?.reason;
}

/** In the words of each slot. Pure. */
export function summaryOf({ spec }: Testbed, slots: readonly Slot[]) {
  const counts = { total: slots.length, free: 0, reserved: 0, occupied: 0, unavailable: 0 };
  for (const { status } of slots) counts[status?.state ?? "unavailable"]++;
  const nodes = new Set(slots.map((slot) => slot.spec.nodeName)).size;
  return { status: { nodes, slots: counts }, ready: { type: "Ready", ...readiness(spec, slots, counts) } };
}

function readiness(
  { nodeLabel }: Testbed["spec"],
  slots: readonly Slot[],
  { total, unavailable }: { readonly total: number; readonly unavailable: number },
): { status: "True" | "False"; reason: string; message: string } {
  if (total === 0) return { status: "False", reason: "NoSlots", message: `no node has the label ${nodeLabel}` };
  if (unavailable === 0) return { status: "True", reason: "AllSlotsHeld", message: `all ${total} slots are there` };
  const reasons = [...new Set(slots.flatMap(({ status }) => status?.reason ?? []))].sort();
  const message = `${unavailable} of ${total} slots are unavailable: ${reasons.slice(0, 3).join("; ")}`;
  return { status: "False", reason: "SlotsUnavailable", message };
}
