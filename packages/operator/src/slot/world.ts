/** What is known of a slot: gathered from caches, without a request. */
import { type Cache, coreV1, keyText, type ObjectKey } from "@berth/kube";
import { Slot, type Testbed } from "@berth/model";
import type { Ledger } from "../ledger/ledger.ts";
import { annotation, label } from "../names.ts";
import { isOver, slotOf } from "../placement/assign.ts";
import { reasonToLeave } from "../testbed/slots.ts";
import { ghostName } from "./ghost.ts";
import { type Finding, stateOf } from "./state.ts";

const EXECUTORS_IN_SLOT = "berth.dev/slot";
const SLOTS_OF_TESTBED = "berth.dev/testbed";
const SLOTS_ON_NODE = "berth.dev/node";

/** Has to be called before the caches start. */
export function indexForSlots(cache: Cache): void {
  cache
    .informer(coreV1.Pod)
    .addIndex(EXECUTORS_IN_SLOT, (pod) =>
      pod.metadata.labels?.[label.role] === "executor" ? slotKeysOf(pod).map(keyText) : [],
    );
  cache
    .informer(Slot)
    .addIndex(SLOTS_OF_TESTBED, (slot) => [keyText(testbedKey(slot))])
    .addIndex(SLOTS_ON_NODE, ({ spec }) => [spec.nodeName]);
}

export function testbedKey({ metadata, spec }: Slot): ObjectKey {
  return { namespace: metadata.namespace, name: spec.testbed };
}

/** @param testbed - As "namespace/name". */
export function slotKey(testbed: string, position: number): ObjectKey | undefined {
  const [key] = keysIn(testbed);
  return key && { namespace: key.namespace, name: slotName(key.name, position) };
}

export function slotName(testbed: string, position: number): string {
  return `${testbed}-${position}`;
}

/** The slot that a ghost holds, or that an executor was put into. */
export function slotKeysOf(pod: coreV1.Pod): ObjectKey[] {
  const { annotations = {}, labels = {} } = pod.metadata;
  const position = labels[label.role] === "ghost" ? Number(labels[label.slot]) : slotOf(pod);
  const key = position === undefined ? undefined : slotKey(annotations[annotation.testbed] ?? "", position);
  return key ? [key] : [];
}

/** @param testbed - As "namespace/name". */
export function slotAt(testbed: string, position: number, cache: Cache): Slot | undefined {
  const key = slotKey(testbed, position);
  return key && cache.informer(Slot).get(key);
}

export function slotsOf(testbed: ObjectKey, cache: Cache): Slot[] {
  return cache.informer(Slot).byIndex(SLOTS_OF_TESTBED, keyText(testbed));
}

/** Slots of all testbeds on a node. */
export function slotsOn(node: string, cache: Cache): Slot[] {
  return cache.informer(Slot).byIndex(SLOTS_ON_NODE, node);
}

/** Who keeps a slot. */
export function ghostOf({ namespace, name }: ObjectKey, cache: Cache): coreV1.Pod | undefined {
  return cache.informer(coreV1.Pod).get({ namespace, name: ghostName(name) });
}

/** Who was put into a slot, and has not ended. */
export function executorIn(slot: ObjectKey, cache: Cache): coreV1.Pod | undefined {
  return cache
    .informer(coreV1.Pod)
    .byIndex(EXECUTORS_IN_SLOT, keyText(slot))
    .find((pod) => !isOver(pod));
}

/** How it stands with a slot, who is in it and who has it. */
export interface SlotReport extends Finding {
  readonly leaving: string | undefined;
  readonly node: coreV1.Node | undefined;
  readonly ghost: coreV1.Pod | undefined;
  readonly executor: coreV1.Pod | undefined;
  readonly holder: string | undefined;
}

export function reportOn(slot: Slot, testbed: Testbed | undefined, cache: Cache, ledger: Ledger): SlotReport {
  const key = { namespace: slot.metadata.namespace, name: slot.metadata.name ?? "" };
  const node = cache.informer(coreV1.Node).get({ name: slot.spec.nodeName });
  const ghost = ghostOf(key, cache);
  const executor = executorIn(key, cache);
  const holder = ledger.holderOf(keyText(testbedKey(slot)), slot.spec.position);
  const leaving =
    !testbed || testbed.metadata.deletionTimestamp !== undefined
      ? "the testbed is about to go"
      : reasonToLeave(slot.spec, testbed.spec, node);
  const { unschedulable } = slot.spec;
  return {
    ...stateOf({
      leaving,
      node,
      unschedulable,
      ghost,
      executor,
      holder,
      established: slot.status?.established ?? false,
    }),
    leaving,
    node,
    ghost,
    executor,
    holder,
  };
}

/** A key from what `keyText` made of it; none from nothing. */
export function keysIn(text: string | undefined): ObjectKey[] {
  const slash = text?.indexOf("/") ?? -1;
  return text === undefined || slash === -1 ? [] : [{ namespace: text.slice(0, slash), name: text.slice(slash + 1) }];
}
