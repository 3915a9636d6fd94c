/** What a testbed's controller sees of the cluster: gathered from caches, without a request. */
import { type Cache, coreV1, keyText, type ObjectKey } from "@berth/kube";
import { Slot } from "@berth/model";
import type { Ledger } from "../ledger/ledger.ts";
import { annotation, label } from "../names.ts";
import { isOver, slotOf } from "../placement/assign.ts";
import { ghostName } from "./ghosts.ts";
import { type Finding, stateOf } from "./slot-state.ts";
import { type SlotPlan, texts } from "./slots.ts";

/** Names of the indexes that caches are asked by. */
const PODS_OF_TESTBED = "berth.dev/testbed";
const SLOTS_OF_TESTBED = "berth.dev/testbed";
const SLOTS_ON_NODE = "berth.dev/node";

/** Has to be called before the caches start. */
export function indexForTestbeds(cache: Cache): void {
  cache.informer(coreV1.Pod).addIndex(PODS_OF_TESTBED, ({ metadata }) => {
    const testbed = metadata.annotations?.[annotation.testbed];
    return testbed === undefined ? [] : [testbed];
  });
  cache
    .informer(Slot)
    .addIndex(SLOTS_OF_TESTBED, ({ metadata, spec }) => [
      keyText({ namespace: metadata.namespace, name: spec.testbed }),
    ])
    .addIndex(SLOTS_ON_NODE, ({ spec }) => [spec.nodeName]);
}

/** The ghosts and executors of a testbed. */
export function podsOf(
  cache: Cache,
  testbed: ObjectKey,
): { readonly ghosts: coreV1.Pod[]; readonly executors: coreV1.Pod[] } {
  const pods = cache.informer(coreV1.Pod).byIndex(PODS_OF_TESTBED, keyText(testbed));
  const of = (role: string) => pods.filter(({ metadata }) => metadata.labels?.[label.role] === role);
  return { ghosts: of("ghost"), executors: of("executor") };
}

export function slotObjectsOf(cache: Cache, testbed: ObjectKey): Slot[] {
  return [...cache.informer(Slot).byIndex(SLOTS_OF_TESTBED, keyText(testbed))];
}

/** Slots of all testbeds on a node. */
export function slotsOn(node: string, cache: Cache): readonly Slot[] {
  return cache.informer(Slot).byIndex(SLOTS_ON_NODE, node);
}

/** @param testbed - As "namespace/name". */
export function slotObject(testbed: string, slot: number, cache: Cache): Slot | undefined {
  const [key] = keysIn(testbed);
  return key && cache.informer(Slot).get({ namespace: key.namespace, name: `${key.name}-${slot}` });
}

/** Who keeps a slot. */
export function ghostOf({ namespace, name }: ObjectKey, slot: number, cache: Cache): coreV1.Pod | undefined {
  return cache.informer(coreV1.Pod).get({ namespace, name: ghostName(name, slot) });
}

/** How it stands with a slot, who is in it and who has it. */
export interface SlotReport extends Finding {
  readonly position: number;
  readonly pod: coreV1.Pod | undefined;
  readonly job: string | undefined;
}

/** @param slots - As they are planned; default: as they are. */
export function slotViews(
  cache: Cache,
  ledger: Ledger,
  testbed: ObjectKey,
  slots: readonly { readonly plan: SlotPlan; readonly object: Slot }[] = slotObjectsOf(cache, testbed).map(asPlanned),
): SlotReport[] {
  const { ghosts, executors } = podsOf(cache, testbed);
  const ghostByName = new Map(ghosts.map((pod) => [pod.metadata.name, pod]));
  const executorBySlot = new Map(executors.filter((pod) => !isOver(pod)).map((pod) => [slotOf(pod), pod]));
  const nodes = cache.informer(coreV1.Node);
  const reports = slots.map(({ plan, object }) => {
    const ghost = ghostByName.get(ghostName(testbed.name, plan.position));
    const executor = executorBySlot.get(plan.position);
    const holder = ledger.holderOf(keyText(testbed), plan.position);
    const node = nodes.get({ name: plan.nodeName });
    const finding = stateOf({ plan, node, unschedulable: object.spec.unschedulable, ghost, executor, holder });
    return { ...finding, position: plan.position, pod: executor ?? ghost, job: holder };
  });
  return reports.sort((a, b) => a.position - b.position);
}

function asPlanned(object: Slot): { readonly plan: SlotPlan; readonly object: Slot } {
  const { position, nodeName, nodeId, positionOnNode, resources } = object.spec;
  return {
    plan: { position, nodeName, nodeId, positionOnNode, resources: texts(resources), leaving: undefined },
    object,
  };
}

/** A key from what `keyText` made of it; none from nothing. */
export function keysIn(text: string | undefined): ObjectKey[] {
  const slash = text?.indexOf("/") ?? -1;
  return text === undefined || slash === -1 ? [] : [{ namespace: text.slice(0, slash), name: text.slice(slash + 1) }];
}
