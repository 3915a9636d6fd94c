/**
 * Looks after one slot: a ghost in it if nobody else is, and a status that says how it stands. Which slots there are is the
 * affair of the testbed's controller.
 */
import {
  type Cache,
  type ControllerOptions,
  coreV1,
  generationChanged,
  isBeingDeleted,
  keyOf,
  keyText,
  kubernetesTime,
  onUpdate,
  type ReconcileContext,
  type Request,
  type Result,
  watch,
} from "@berth/kube";
import { BatchJob, Slot, Testbed } from "@berth/model";
import type { Placement } from "../apps/application.ts";
import { may, SEE } from "../install/rights.ts";
import { claimOf, type Ledger } from "../ledger/ledger.ts";
import { isOver } from "../placement/assign.ts";
import type { Placing } from "../placement/gate.ts";
import { isSame, removePod, unlessGone, unlessThere } from "../writes.ts";
import { ghostFor } from "./ghost.ts";
import { Manners } from "./manners.ts";
import { nodeProblem, scheduledOf } from "./state.ts";
import { ghostOf, reportOn, type SlotReport, slotKey, slotKeysOf, slotsOf, slotsOn, testbedKey } from "./world.ts";

export interface SlotControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly placing: Placing;
  readonly placement: Placement;
  /** Of ghosts: anything that does nothing. */
  readonly ghostImage: string;
}

export const slotRights = [
  may(SEE, Slot),
  may(["update"], Slot, "status"),
  may(SEE, Testbed),
  may(SEE, BatchJob),
  may(SEE, coreV1.Node),
  may([...SEE, "create", "delete"], coreV1.Pod),
];

export function slotController(options: SlotControllerOptions): ControllerOptions<Slot> {
  const { cache } = options;
  const manners = new Manners();
  return {
    for: Slot,
    watches: [
      watch(coreV1.Pod, slotKeysOf, { predicates: [podMatters] }),
      // Slots that a job has, or had until now.
      watch(BatchJob, claimedSlots, { predicates: [generationChanged] }),
      watch(coreV1.Node, ({ metadata }) => slotsOn(metadata.name ?? "", cache).map(keyOf), {
        predicates: [nodeMatters],
      }),
      watch(Testbed, (testbed) => slotsOf(keyOf(testbed), cache).map(keyOf), { predicates: [generationChanged] }),
    ],
    reconcile: (request, context) => reconcile(request, context, options, manners),
  };
}

function claimedSlots(job: BatchJob) {
  const claim = claimOf(job);
  return claim ? claim.slots.flatMap((position) => slotKey(claim.testbed, position) ?? []) : [];
}

type Context = Pick<ReconcileContext, "client" | "clock">;

async function reconcile(
  request: Request,
  { client, clock }: Context,
  options: SlotControllerOptions,
  manners: Manners,
): Promise<Result | undefined> {
  const { cache, ledger, placing, placement, ghostImage } = options;
  const slot = await client.find(Slot, request);
  if (!slot) {
    const ghost = ghostOf(request, cache);
    if (ghost && !isBeingDeleted(ghost)) await removePod(client, ghost);
    manners.over(keyText(request));
    return undefined;
  }
  const testbed = cache.informer(Testbed).get(testbedKey(slot));
  const report = reportOn(slot, testbed, cache, ledger);
  const { leaving, executor, node, ghost } = report;
  if (testbed) {
    const isPlacing = placing.has(keyText(testbedKey(slot)), slot.spec.position);
    const { create, remove } = ghostFor({
      testbed,
      slot,
      ghost,
      isLeaving: leaving !== undefined,
      isOccupied: executor !== undefined,
      // Whoever puts the executor there sends the ghost away.
      isAwaited: isPlacing || (placement.type === "extender" && executor !== undefined && !executor.spec?.nodeName),
      isUsable: nodeProblem(node) === undefined,
      image: ghostImage,
    });
    if (remove) await removePod(client, remove);
    if (create && !(await made(create, client)) && report.state === "unavailable") {
      const reason = `a pod that is not its ghost is called ${create.metadata.name}`;
      const { isUnderWay: _, ...found } = { ...report, reason };
      return (await tell(slot, found, { client, clock }, manners, placing.isBusy)) ?? { requeueAfter: TAKEN_MS };
    }
  }
  return tell(slot, report, { client, clock }, manners, placing.isBusy);
}

/** How often a ghost is tried again whose name somebody else has: of that pod we hear nothing. */
const TAKEN_MS = 10_000;

/** Creates a ghost. `false` if there is a pod of that name: perhaps it is the ghost, and we have not heard of it yet. */
function made(ghost: coreV1.Pod, client: Context["client"]): Promise<boolean> {
  return client.create(coreV1.Pod, ghost).then(
    () => true,
    (error: unknown) => {
      unlessThere(error);
      return false;
    },
  );
}

/** Writes down how it stands, once it has stood so for a moment: nobody waits for it, and slots come and go by the hundred. */
async function tell(
  slot: Slot,
  report: SlotReport,
  { client, clock }: Context,
  manners: Manners,
  isBusy: boolean,
): Promise<Result | undefined> {
  const key = keyText(keyOf(slot));
  const status = statusOf(slot, report, clock.now());
  const isNew = slot.status?.state === undefined && status.state === "free";
  const isUnderWay = status.state === "unavailable" && report.isUnderWay === true;
  if (!isNew && !isSame(status, slot.status)) {
    const waitMs = manners.wait(key, clock.now(), { isUnderWay, isBusy });
    if (waitMs > 0) return { requeueAfter: waitMs };
  }
  manners.over(key);
  if (!isSame(status, slot.status)) await client.status.update(Slot, { ...slot, status }).catch(unlessGone);
  return undefined;
}

function statusOf(
  { status: before = {} }: Slot,
  { state, reason, ghost, executor, holder }: SlotReport,
  now: number,
): NonNullable<Slot["status"]> {
  const since = before.state === state && before.since !== undefined ? before.since : kubernetesTime(now);
  const established = before.established || state === "free" || state === "occupied";
  const { name, uid } = (executor ?? ghost)?.metadata ?? {};
  return {
    state,
    ...(reason !== undefined && { reason }),
    ...(name !== undefined && { podName: name }),
    ...(uid !== undefined && { podUID: uid }),
    ...(holder !== undefined && { job: holder }),
    since,
    ...(established && { established }),
  };
}

/** Changes of pods that concern slots: that one runs by now does not. */
const podMatters = onUpdate<coreV1.Pod>(
  (old, now) =>
    !isSame(slotKeysOf(old), slotKeysOf(now)) ||
    isOver(old) !== isOver(now) ||
    isBeingDeleted(old) !== isBeingDeleted(now) ||
    old.spec?.nodeName !== now.spec?.nodeName ||
    !isSame(old.spec?.containers[0]?.resources, now.spec?.containers[0]?.resources) ||
    scheduledOf(old)?.message !== scheduledOf(now)?.message,
);

/** Changes of nodes that concern slots: heartbeats do not. */
export function nodeMatters(event: { readonly old?: coreV1.Node | undefined; readonly object: coreV1.Node }): boolean {
  const { old, object } = event;
  if (!old) return true;
  return !isSame(old.metadata.labels, object.metadata.labels) || nodeProblem(old) !== nodeProblem(object);
}
