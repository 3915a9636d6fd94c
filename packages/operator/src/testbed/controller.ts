/**
 * Makes testbeds true: a Slot for each piece of a node, and a status that says how it stands with all of them. What is to be is
 * worked out in slots.ts; each slot is looked after by itself, by its own controller.
 */
import {
  type Cache,
  type Client,
  type ControllerOptions,
  coreV1,
  type EventRecorder,
  findCondition,
  generationChanged,
  isAlreadyExists,
  isBeingDeleted,
  keyOf,
  keyText,
  onUpdate,
  or,
  owned,
  type ReconcileContext,
  type Request,
  type Result,
  watch,
  withCondition,
  withController,
  withFinalizer,
  withoutFinalizer,
} from "@berth/kube";
import { Slot, Testbed } from "@berth/model";
import { may, SEE } from "../install/rights.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Pace } from "../pace.ts";
import { nodeMatters } from "../slot/controller.ts";
import { slotName, slotsOf } from "../slot/world.ts";
import { together } from "../together.ts";
import { isSame, unlessGone } from "../writes.ts";
import { plannedSlots, type SlotPlan } from "./slots.ts";

/** Holds a testbed until the last of its slots is free. */
const FINALIZER = "berth.dev/testbed";

export interface TestbedControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly events: EventRecorder;
}

export const testbedRights = [
  may([...SEE, "update"], Testbed),
  may(["patch"], Testbed, "status"),
  may([...SEE, "create", "update", "delete"], Slot),
  may(SEE, coreV1.Node),
];

export function testbedController(options: TestbedControllerOptions): ControllerOptions<Testbed> {
  const everyTestbed = () => options.cache.informer(Testbed).list().map(keyOf);
  const pace = new Pace();
  return {
    for: Testbed,
    owns: [owned(Slot, { predicates: [or(generationChanged, onUpdate(stateChanged))] })],
    watches: [watch(coreV1.Node, everyTestbed, { predicates: [nodeMatters] })],
    reconcile: async (request, context): Promise<Result | undefined> => {
      const delay = pace.delay(keyText(request), slotsOf(request, options.cache).length, context.clock);
      return delay > 0 ? { requeueAfter: delay } : reconcile(request, context, options);
    },
  };
}

function stateChanged(old: Slot, slot: Slot): boolean {
  return old.status?.state !== slot.status?.state || old.status?.reason !== slot.status?.reason;
}

type Context = Pick<ReconcileContext, "client" | "clock">;

async function reconcile(key: Request, context: Context, options: TestbedControllerOptions): Promise<undefined> {
  const { client } = context;
  const testbed = await client.find(Testbed, key);
  if (!testbed) return;
  if (!isBeingDeleted(testbed) && !testbed.metadata.finalizers?.includes(FINALIZER)) {
    await client.update(Testbed, withFinalizer(testbed, FINALIZER));
    return; // and comes again
  }
  const slots = await keepSlots(testbed, client, options);
  await tell(testbed, slots, context, options);
  if (isBeingDeleted(testbed) && slots.length === 0) await client.update(Testbed, withoutFinalizer(testbed, FINALIZER));
}

/** Makes, changes and removes Slots until they are as planned. */
async function keepSlots(
  testbed: Testbed,
  client: Client,
  { cache, ledger }: TestbedControllerOptions,
): Promise<Slot[]> {
  const name = keyText(keyOf(testbed));
  const present = slotsOf(keyOf(testbed), cache);
  const plans = plannedSlots({
    spec: testbed.spec,
    nodes: isBeingDeleted(testbed) ? [] : cache.informer(coreV1.Node).list(),
    present,
    isTaken: (position) => ledger.isTaken(name, position),
  });
  const left = new Map(present.map((slot) => [slot.metadata.name, slot]));
  const kept: Slot[] = [];
  await together(plans, async (plan) => {
    const wanted = slotObject(testbed, plan);
    const known = left.get(wanted.metadata.name);
    left.delete(wanted.metadata.name);
    const object = known ? await changed(known, wanted, client) : await created(wanted, client);
    if (object) kept.push(object);
  });
  await together([...left.values()], (slot) => client.delete(Slot, keyOf(slot)).then(() => {}, unlessGone));
  return kept;
}

async function changed(known: Slot, wanted: Slot, client: Client): Promise<Slot> {
  const spec = { ...wanted.spec, unschedulable: known.spec.unschedulable };
  return isSame(known.spec, spec) ? known : client.update(Slot, { ...known, spec });
}

async function created(wanted: Slot, client: Client): Promise<Slot | undefined> {
  try {
    return await client.create(Slot, wanted);
  } catch (error) {
    if (isAlreadyExists(error)) return undefined; // of before, and going; its end brings us here again
    throw error;
  }
}

function slotObject(testbed: Testbed, { leaving: _, ...plan }: SlotPlan): Slot {
  const { namespace = "", name = "" } = testbed.metadata;
  const slot: Slot = {
    metadata: { namespace, name: slotName(name, plan.position) },
    spec: { testbed: name, unschedulable: false, ...plan, resources: { ...plan.resources } },
  };
  return withController(slot, testbed);
}

/** Writes down how it stands with all of the slots, in the words of each. */
async function tell(
  testbed: Testbed,
  slots: readonly Slot[],
  { client, clock }: Context,
  { events }: TestbedControllerOptions,
): Promise<void> {
  const counts = { total: slots.length, free: 0, reserved: 0, occupied: 0, unavailable: 0 };
  for (const { status } of slots) counts[status?.state ?? "unavailable"]++;
  const ready = readiness(testbed, slots, counts);
  const { generation = 1 } = testbed.metadata;
  const before = testbed.status?.conditions ?? [];
  const status: Testbed["status"] = {
    nodes: new Set(slots.map(({ spec }) => spec.nodeName)).size,
    slots: counts,
    observedGeneration: generation,
    conditions: [...withCondition(before, { ...ready, observedGeneration: generation }, clock)],
  };
  if (isSame(status, testbed.status)) return;
  await client.status.patch(Testbed, keyOf(testbed), { merge: { status } }).catch(unlessGone);
  if (findCondition(before, "Ready")?.reason === ready.reason) return;
  events.event(testbed, { ...ready, note: ready.message, type: ready.status === "True" ? "Normal" : "Warning" });
}

function readiness(
  testbed: Testbed,
  slots: readonly Slot[],
  { total, unavailable }: { total: number; unavailable: number },
) {
  const type = "Ready";
  if (total === 0) {
    const message = `no node has the label ${testbed.spec.nodeLabel}`;
    return { type, status: "False" as const, reason: "NoSlots", message };
  }
  if (unavailable === 0) {
    return { type, status: "True" as const, reason: "AllSlotsHeld", message: `all ${total} slots are there` };
  }
  const reasons = [...new Set(slots.flatMap(({ status }) => status?.reason ?? []))].sort();
  const message = `${unavailable} of ${total} slots are unavailable: ${reasons.slice(0, 3).join("; ")}`;
  return { type, status: "False" as const, reason: "SlotsUnavailable", message };
}
