/**
 * Makes testbeds true: a Slot for each piece of a node, a ghost in each slot that nobody is in, and a status that says how it
 * stands. What is to be is worked out in slots.ts, ghosts.ts and slot-state.ts; this file looks, writes, and looks again.
 */
import {
  type Cache,
  type Client,
  type Clock,
  type ControllerOptions,
  coreV1,
  type EventRecorder,
  findCondition,
  isAlreadyExists,
  keyOf,
  keyText,
  kubernetesTime,
  type ReconcileContext,
  type Request,
  watch,
  withCondition,
  withController,
  withFinalizer,
  withoutFinalizer,
} from "@berth/kube";
import { BatchJob, Slot, Testbed } from "@berth/model";
import type { Placement } from "../apps/application.ts";
import { may, SEE } from "../install/rights.ts";
import { claimOf, type Ledger } from "../ledger/ledger.ts";
import { annotation, labelValueOf } from "../names.ts";
import { isOver, slotOf } from "../placement/assign.ts";
import type { Placing } from "../placement/gate.ts";
import { isSame, removePod, unlessGone, unlessThere } from "../writes.ts";
import { ghostsFor } from "./ghosts.ts";
import { nodeProblem } from "./slot-state.ts";
import { type SlotPlan, slotsOf } from "./slots.ts";
import { keysIn, podsOf, type SlotReport, slotObjectsOf, slotViews } from "./world.ts";

/** Holds a testbed until the last of its slots is free. */
const FINALIZER = "berth.dev/testbed";

export interface TestbedControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly events: EventRecorder;
  readonly placing: Placing;
  readonly placement: Placement;
  /** Of ghosts: anything that does nothing. */
  readonly ghostImage: string;
}

export const testbedRights = [
  may([...SEE, "update"], Testbed),
  may(["patch"], Testbed, "status"),
  may([...SEE, "create", "update", "delete"], Slot),
  may(["update"], Slot, "status"),
  may(SEE, BatchJob),
  may(SEE, coreV1.Node),
  may([...SEE, "create", "delete"], coreV1.Pod),
];

export function testbedController(options: TestbedControllerOptions): ControllerOptions<Testbed> {
  const { cache } = options;
  const everyTestbed = () => cache.informer(Testbed).list().map(keyOf);
  const ofPod = ({ metadata }: coreV1.Pod) => keysIn(metadata.annotations?.[annotation.testbed]);
  return {
    for: Testbed,
    owns: [Slot],
    watches: [
      watch(coreV1.Node, everyTestbed, { predicates: [nodeMatters] }),
      watch(coreV1.Pod, ofPod),
      // Slots that a job has, or had until now.
      watch(BatchJob, (job) => keysIn(claimOf(job)?.testbed)),
    ],
    reconcile: (request, context) => reconcile(request, context, options),
  };
}

type Context = Pick<ReconcileContext, "client" | "clock">;

async function reconcile(key: Request, { client, clock }: Context, options: TestbedControllerOptions): Promise<void> {
  const testbed = await client.find(Testbed, key);
  if (!testbed) return;
  const isGoing = testbed.metadata.deletionTimestamp !== undefined;
  if (!isGoing && !testbed.metadata.finalizers?.includes(FINALIZER)) {
    await client.update(Testbed, withFinalizer(testbed, FINALIZER));
    return; // and comes again
  }
  const slots = await keepSlots(testbed, isGoing, client, options);
  await keepGhosts(testbed, slots, client, options);
  await tell(testbed, slots, client, clock, options);
  if (isGoing && slots.length === 0) await client.update(Testbed, withoutFinalizer(testbed, FINALIZER));
}

interface PlannedSlot {
  readonly plan: SlotPlan;
  readonly object: Slot;
}

/** Makes, changes and removes Slots until they are as planned. */
async function keepSlots(
  testbed: Testbed,
  isGoing: boolean,
  client: Client,
  { cache, ledger }: TestbedControllerOptions,
): Promise<PlannedSlot[]> {
  const name = keyText(keyOf(testbed));
  const present = slotObjectsOf(cache, keyOf(testbed));
  const plans = slotsOf({
    spec: testbed.spec,
    nodes: isGoing ? [] : cache.informer(coreV1.Node).list(),
    present,
    isTaken: (position) => ledger.isTaken(name, position),
  });
  const byName = new Map(present.map((slot) => [slot.metadata.name, slot]));
  const kept: PlannedSlot[] = [];
  for (const plan of plans) {
    const wanted = slotObject(testbed, plan);
    const known = byName.get(wanted.metadata.name);
    byName.delete(wanted.metadata.name);
    const object = known ? await changed(known, wanted, client) : await created(wanted, client);
    if (object) kept.push({ plan, object });
  }
  for (const slot of byName.values()) await client.delete(Slot, keyOf(slot)).catch(unlessGone);
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
    metadata: { namespace, name: `${name}-${plan.position}` },
    spec: { testbed: name, unschedulable: false, ...plan, resources: { ...plan.resources } },
  };
  return withController(slot, testbed);
}

async function keepGhosts(
  testbed: Testbed,
  slots: readonly PlannedSlot[],
  client: Client,
  { cache, placing, placement, ghostImage: image }: TestbedControllerOptions,
): Promise<void> {
  const name = keyText(keyOf(testbed));
  const { ghosts, executors } = podsOf(cache, keyOf(testbed));
  const present = executors.filter((pod) => !isOver(pod));
  const occupied = new Set(present.map(slotOf));
  const awaited = new Set(
    placement.type === "extender" ? present.filter(({ spec }) => !spec?.nodeName).map(slotOf) : [],
  );
  const nodes = cache.informer(coreV1.Node);
  const { create, remove } = ghostsFor({
    testbed,
    testbedLabel: labelValueOf(keyOf(testbed)),
    slots,
    ghosts,
    isOccupied: (position) => occupied.has(position) || placing.has(name, position),
    isAwaited: (position) => awaited.has(position),
    isUsable: (name) => nodeProblem(nodes.get({ name })) === undefined,
    image,
  });
  for (const pod of remove) await removePod(client, pod);
  for (const pod of create) await client.create(coreV1.Pod, pod).catch(unlessThere);
}

/** Writes down how it stands with each slot, and with all of them. */
async function tell(
  testbed: Testbed,
  slots: readonly PlannedSlot[],
  client: Client,
  clock: Clock,
  options: TestbedControllerOptions,
): Promise<void> {
  const views = slotViews(options.cache, options.ledger, keyOf(testbed), slots);
  const counts = { total: slots.length, free: 0, reserved: 0, occupied: 0, unavailable: 0 };
  for (const [index, { object }] of slots.entries()) {
    const view = views[index] as SlotReport;
    counts[view.state]++;
    const status = slotStatus(object, view, clock.now());
    if (status !== object.status) await client.status.update(Slot, { ...object, status }).catch(unlessGone);
  }
  await tellTestbed(testbed, slots, counts, views, client, clock, options.events);
}

async function tellTestbed(
  testbed: Testbed,
  slots: readonly PlannedSlot[],
  counts: NonNullable<NonNullable<Testbed["status"]>["slots"]>,
  views: readonly SlotReport[],
  client: Client,
  clock: Clock,
  events: EventRecorder,
): Promise<void> {
  const nodes = new Set(slots.filter(({ plan }) => !plan.leaving).map(({ plan }) => plan.nodeName)).size;
  const reasons = [...new Set(views.flatMap(({ reason }) => reason ?? []))];
  const isReady = counts.unavailable === 0 && counts.total > 0;
  const ready = {
    type: "Ready",
    status: isReady ? ("True" as const) : ("False" as const),
    reason: isReady ? "AllSlotsHeld" : counts.total === 0 ? "NoSlots" : "SlotsUnavailable",
    message: isReady
      ? `all ${counts.total} slots are there`
      : counts.total === 0
        ? `no node has the label ${testbed.spec.nodeLabel}`
        : `${counts.unavailable} of ${counts.total} slots are unavailable: ${reasons.slice(0, 3).join("; ")}`,
  };
  const { generation = 1 } = testbed.metadata;
  const conditions = withCondition(
    testbed.status?.conditions ?? [],
    { ...ready, observedGeneration: generation },
    clock,
  );
  const status: Testbed["status"] = {
    nodes,
    slots: counts,
    observedGeneration: generation,
    conditions: [...conditions],
  };
  if (isSame(status, testbed.status)) return;
  await client.status.patch(Testbed, keyOf(testbed), { merge: { status } }).catch(unlessGone);
  if (findCondition(testbed.status?.conditions ?? [], "Ready")?.reason === ready.reason) return;
  events.event(testbed, { reason: ready.reason, note: ready.message, type: isReady ? "Normal" : "Warning" });
}

/** The same object if nothing has changed. */
function slotStatus(
  { status: before = {} }: Slot,
  { state, reason, pod, job }: SlotReport,
  now: number,
): Slot["status"] {
  const since = before.state === state && before.since !== undefined ? before.since : kubernetesTime(now);
  const established = before.established || state === "free" || state === "occupied";
  const status = {
    state,
    ...(reason !== undefined && { reason }),
    ...(pod?.metadata.name !== undefined && { podName: pod.metadata.name }),
    ...(pod?.metadata.uid !== undefined && { podUID: pod.metadata.uid }),
    ...(job !== undefined && { job }),
    since,
    ...(established && { established }),
  };
  return isSame(before, status) ? (before as Slot["status"]) : status;
}

/** Changes of nodes that concern slots: heartbeats do not. */
function nodeMatters(event: { readonly old?: coreV1.Node | undefined; readonly object: coreV1.Node }): boolean {
  const { old, object } = event;
  if (!old) return true;
  return (
    JSON.stringify(old.metadata.labels) !== JSON.stringify(object.metadata.labels) ||
    nodeProblem(old) !== nodeProblem(object)
  );
}
