/**
 * Which slots a testbed has: nodes and the spec go in, slots come out. Pure.
 *
 * A slot's position is what schedulers call it, so it stays with its piece of its node for as long as there is one; and a slot
 * that somebody still has is not taken away, but leaves when it is free.
 */
import type { coreV1 } from "@berth/kube";
import type { Slot, Testbed } from "@berth/model";

type Resources = Readonly<Record<string, string>>;

/** A slot as it is to be. */
export interface SlotPlan {
  readonly position: number;
  readonly nodeName: string;
  /** The value of the label. */
  readonly nodeId: string;
  readonly positionOnNode: number;
  readonly resources: Resources;
  /** Why it goes as soon as it is free; nobody gets it any more. */
  readonly leaving: string | undefined;
}

export interface SlotsInput {
  readonly spec: Testbed["spec"];
  /** All nodes there are. */
  readonly nodes: readonly coreV1.Node[];
  /** The slots that there are. */
  readonly present: readonly Slot[];
  /** Whether somebody has the slot of a position: a job that asks for it, or an executor that is still there. */
  readonly isTaken: (position: number) => boolean;
}

/** In the order of their positions. */
export function plannedSlots({ spec, nodes, present, isTaken }: SlotsInput): SlotPlan[] {
  const wanted = new Map<string, Omit<SlotPlan, "position">>();
  for (const { name, id } of membersOf(spec, nodes)) {
    for (let positionOnNode = 0; positionOnNode < spec.slotsPerNode; positionOnNode++) {
      const resources = texts(spec.resourcesPerSlot);
      wanted.set(placeOf(name, positionOnNode), {
        nodeName: name,
        nodeId: id,
        positionOnNode,
        resources,
        leaving: undefined,
      });
    }
  }
  const slots: SlotPlan[] = [];
  for (const { spec: known } of onePerPosition(present)) {
    const place = placeOf(known.nodeName, known.positionOnNode);
    const plan = wanted.get(place);
    const taken = isTaken(known.position);
    if (plan) {
      wanted.delete(place);
      // Whoever is in it has been given so much; the next one gets what there is to be then.
      const resources = taken ? texts(known.resources) : plan.resources;
      slots.push({ ...plan, position: known.position, resources });
    } else if (taken) {
      const { position, nodeName, nodeId, positionOnNode, resources } = known;
      const leaving = reasonToLeave(known, spec, nodeOf(known.nodeName, nodes)) ?? "the testbed is about to go";
      slots.push({ position, nodeName, nodeId, positionOnNode, resources: texts(resources), leaving });
    }
  }
  const used = new Set(slots.map(({ position }) => position));
  let next = 0;
  for (const plan of wanted.values()) {
    while (used.has(next)) next++;
    slots.push({ ...plan, position: next++ });
  }
  return slots.sort((a, b) => a.position - b.position);
}

/** The nodes of a testbed, in the order in which their slots are numbered: by the label's value, then by name. */
export function membersOf(
  { nodeLabel }: Pick<Testbed["spec"], "nodeLabel">,
  nodes: readonly coreV1.Node[],
): { readonly name: string; readonly id: string }[] {
  const members = nodes.flatMap(({ metadata: { name = "", labels = {}, deletionTimestamp } }) =>
    Object.hasOwn(labels, nodeLabel) && deletionTimestamp === undefined
      ? [{ name, id: labels[nodeLabel] as string }]
      : [],
  );
  return members.sort((a, b) => byValue(a.id, b.id) || byText(a.name, b.name));
}

/** Numbers as numbers, before everything else. */
function byValue(a: string, b: string): number {
  const [left, right] = [numberIn(a), numberIn(b)];
  if (left !== undefined && right !== undefined) return left - right || byText(a, b);
  if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
  return byText(a, b);
}

function numberIn(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Nobody should have made two of one position; if somebody did, the older one counts. */
function onePerPosition(slots: readonly Slot[]): Slot[] {
  const age = ({ metadata }: Slot) => `${metadata.creationTimestamp ?? ""}/${metadata.name ?? ""}`;
  const oldest = new Map<number, Slot>();
  for (const slot of slots.toSorted((a, b) => byText(age(a), age(b)))) {
    if (!oldest.has(slot.spec.position)) oldest.set(slot.spec.position, slot);
  }
  return [...oldest.values()].sort((a, b) => a.spec.position - b.spec.position);
}

function nodeOf(name: string, nodes: readonly coreV1.Node[]): coreV1.Node | undefined {
  return nodes.find(({ metadata }) => metadata.name === name);
}

/** Why a slot goes as soon as nobody has it; `undefined` if it stays. */
export function reasonToLeave(
  slot: Pick<Slot["spec"], "nodeName" | "positionOnNode">,
  spec: Testbed["spec"],
  node: coreV1.Node | undefined,
): string | undefined {
  if (!node) return `node ${slot.nodeName} is gone`;
  if (!Object.hasOwn(node.metadata.labels ?? {}, spec.nodeLabel)) {
    return `node ${slot.nodeName} has no label ${spec.nodeLabel} any more`;
  }
  if (node.metadata.deletionTimestamp !== undefined) return `node ${slot.nodeName} is about to go`;
  if (slot.positionOnNode < spec.slotsPerNode) return undefined;
  return `the testbed has ${spec.slotsPerNode} slots on each node now`;
}

function placeOf(nodeName: string, positionOnNode: number): string {
  return `${nodeName}/${positionOnNode}`;
}

/** Whole numbers may be written as such; quantities are texts. */
export function texts(resources: Readonly<Record<string, string | number>>): Resources {
  return Object.fromEntries(Object.entries(resources).map(([name, amount]) => [name, String(amount)]));
}
