/**
 * Makes testbeds true: a Slot for each piece of a node. What is to be is worked out in slots.ts; each slot is looked after by
 * itself, by its own controller, and summary.ts says how it stands with all of them.
 */
import {
  type Cache,
  type Client,
  type ControllerOptions,
  coreV1,
  generationChanged,
  isAlreadyExists,
  isBeingDeleted,
  keyOf,
  keyText,
  type ObjectKey,
  onUpdate,
  or,
  owned,
  type ReconcileContext,
  type Request,
  type Result,
  watch,
  withController,
  withFinalizer,
  withoutFinalizer,
} from "@berth/kube";
import { Slot, Testbed } from "@berth/model";
import { may, SEE } from "../install/rights.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Pace } from "../pace.ts";
import { isGhostThere } from "../scheduling/waking.ts";
import { nodeMatters } from "../slot/controller.ts";
import { slotKeysOf, slotName, slotsOf, testbedKey } from "../slot/world.ts";
import { together } from "../together.ts";
import { isSame, unlessGone } from "../writes.ts";
import { plannedSlots, type SlotPlan, texts } from "./slots.ts";

/** Holds a testbed until the last of its slots is free. */
const FINALIZER = "berth.dev/testbed";

export interface TestbedControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
}

export const testbedRights = [
  may([...SEE, "update"], Testbed),
  may([...SEE, "create", "update", "delete"], Slot),
  may(SEE, coreV1.Node),
  may(SEE, coreV1.Pod),
];

export function testbedController(options: TestbedControllerOptions): ControllerOptions<Testbed> {
  const { cache } = options;
  const everyTestbed = () => cache.informer(Testbed).list().map(keyOf);
  const pace = new Pace();
  return {
    for: Testbed,
    predicates: [or(generationChanged, onUpdate(isGoingNow))],
    owns: [owned(Slot, { predicates: [onUpdate((old, slot) => mayMove(old, slot, cache))] })],
    watches: [
      watch(coreV1.Node, everyTestbed, { predicates: [nodeMatters] }),
      // A slot that nobody is in any more may have to change its size.
      watch(coreV1.Pod, (ghost) => outdatedAt(ghost, cache), { predicates: [isGhostThere] }),
    ],
    reconcile: async (request, context): Promise<Result | undefined> => {
      const delay = pace.delay(keyText(request), context.clock);
      if (delay > 0) return { requeueAfter: delay };
      pace.done(keyText(request), await reconcile(request, context, options), context.clock);
      return undefined;
    },
  };
}

function isGoingNow(old: Testbed, testbed: Testbed): boolean {
  return (
    isBeingDeleted(old) !== isBeingDeleted(testbed) || !isSame(old.metadata.finalizers, testbed.metadata.finalizers)
  );
}

/** Whether a slot has been changed, or was waited for and is free now to go, or to change its size. */
function mayMove(old: Slot, slot: Slot, cache: Cache): boolean {
  if (old.metadata.generation !== slot.metadata.generation) return true;
  if (old.status?.state === slot.status?.state) return false;
  return slot.status?.state === "unavailable" || isOutdated(slot, cache);
}

function isOutdated(slot: Slot, cache: Cache): boolean {
  const testbed = cache.informer(Testbed).get(testbedKey(slot));
  return testbed !== undefined && !isSame(texts(testbed.spec.resourcesPerSlot), texts(slot.spec.resources));
}

function outdatedAt(ghost: coreV1.Pod, cache: Cache): ObjectKey[] {
  const slots = slotKeysOf(ghost).flatMap((key) => cache.informer(Slot).get(key) ?? []);
  return slots.filter((slot) => isOutdated(slot, cache)).map(testbedKey);
}

type Context = Pick<ReconcileContext, "client">;

/** Gives the number of its slots. */
async function reconcile(key: Request, { client }: Context, options: TestbedControllerOptions): Promise<number> {
  const testbed = await client.find(Testbed, key);
  if (!testbed) return 0;
  if (!isBeingDeleted(testbed) && !testbed.metadata.finalizers?.includes(FINALIZER)) {
    await client.update(Testbed, withFinalizer(testbed, FINALIZER));
    return 0; // and comes again
  }
  const slots = await keepSlots(testbed, client, options);
  if (isBeingDeleted(testbed) && slots.length === 0) await client.update(Testbed, withoutFinalizer(testbed, FINALIZER));
  return slots.length;
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
