/**
 * What a Scheduling wants to start next: both strategies become one list of wishes, and a wish is granted when its slots are
 * free. Pure.
 *
 * The rules:
 * - Wishes are taken in order. By queue nobody overtakes; by slot only who wants other slots than those who wait before.
 * - A job gets all of its slots at once, or none.
 * - Between Schedulings the older goes first: what it waits for is kept from the younger ones.
 * - Who is exclusive waits until everybody else is gone, and lets nobody else in.
 */
import { keyText } from "@berth/kube";
import type { Scheduling } from "@berth/model";
import { someOf } from "../words.ts";

/** One job of a Scheduling, and the slots that it is to have: some that are named, or so many of any. */
export interface Wish {
  /** "namespace/name". */
  readonly job: string;
  readonly slots: readonly number[] | undefined;
  /** How many executors. */
  readonly count: number;
  /** Where in the queue its executors stand: the order in which free slots are handed out. */
  readonly places: readonly number[];
}

/** The wishes of a Scheduling, in the order in which they are to start. */
export function wishesOf({ metadata, spec }: Pick<Scheduling, "metadata" | "spec">): Wish[] {
  const keyOf = (job: { name: string; namespace?: string | undefined }) =>
    keyText({ namespace: job.namespace || metadata.namespace, name: job.name });
  if (spec.slotBased) {
    return spec.slotBased.map((entry) => ({
      job: keyOf(entry),
      slots: entry.slots,
      count: entry.slots.length,
      places: [],
    }));
  }
  const places = new Map<string, number[]>();
  for (const [place, entry] of (spec.queueBased ?? []).entries()) {
    const job = keyOf(entry);
    places.set(job, [...(places.get(job) ?? []), place]);
  }
  return [...places].map(([job, each]) => ({ job, slots: undefined, count: each.length, places: each }));
}

/** How it stands with the slots of a testbed. */
export interface Pool {
  /** Positions of all slots that somebody could be put into, ascending. */
  readonly usable: readonly number[];
  readonly isUsable: (slot: number) => boolean;
  /** Whether nobody has a slot, and nobody is in it. */
  readonly isFree: (slot: number) => boolean;
}

/** A wish that is granted. */
export interface Grant {
  readonly job: string;
  readonly slots: readonly number[];
}

/** A wish that is not, and why. */
export interface Wait {
  readonly job: string;
  readonly reason: "SlotsTaken" | "NoSuchSlot" | "TooFewSlots" | "BehindOthers" | "Exclusive" | "JobUnavailable";
  readonly message: string;
}

export interface Plan {
  readonly grants: readonly Grant[];
  readonly waits: readonly Wait[];
}

/** What the Schedulings before this one keep to themselves. */
export interface Reserved {
  /** Slots that they wait for. */
  readonly slots: ReadonlySet<number>;
  /** One of them waits for any slots: then all that are free are its own. */
  readonly all: string | undefined;
}

export const NOTHING_RESERVED: Reserved = { slots: new Set(), all: undefined };

export interface PlanInput {
  /** Those of the Scheduling's wishes that have not started. */
  readonly wishes: readonly Wish[];
  readonly pool: Pool;
  readonly reserved?: Reserved;
  /** For an exclusive Scheduling: who else has slots of the testbed. */
  readonly others?: readonly string[];
}

/** What can start now, and why the rest cannot. */
export function plan({ wishes, pool, reserved = NOTHING_RESERVED, others = [] }: PlanInput): Plan {
  if (others.length > 0) {
    const message = `waits until nobody else has slots of the testbed: ${someOf(others)}`;
    return { grants: [], waits: wishes.map(({ job }) => ({ job, reason: "Exclusive", message })) };
  }
  const isOpen = (slot: number) => pool.isFree(slot) && !reserved.slots.has(slot) && reserved.all === undefined;
  return wishes.some(({ slots }) => slots)
    ? bySlot(wishes, pool, isOpen, reserved)
    : byQueue(wishes, pool, isOpen, reserved);
}

type IsOpen = (slot: number) => boolean;

function bySlot(wishes: readonly Wish[], pool: Pool, isOpen: IsOpen, reserved: Reserved): Plan {
  const [grants, waits]: [Grant[], Wait[]] = [[], []];
  /** Slots that those before have got, or wait for. */
  const spoken = new Set(reserved.slots);
  for (const { job, slots = [] } of wishes) {
    const problem = problemOf(slots, pool, isOpen, spoken, reserved);
    if (problem) waits.push({ job, ...problem });
    else grants.push({ job, slots });
    // Who can never start keeps nothing from the others.
    if (problem?.reason !== "NoSuchSlot") for (const slot of slots) spoken.add(slot);
  }
  return { grants, waits };
}

function byQueue(wishes: readonly Wish[], { usable }: Pool, isOpen: IsOpen, { all }: Reserved): Plan {
  const open = usable.filter(isOpen);
  const [ready, waits]: [Wish[], Wait[]] = [[], []];
  let left = open.length;
  let isBlocked = false;
  for (const wish of wishes) {
    const { job, count } = wish;
    if (count > usable.length) {
      const message = `wants ${count} slots, and the testbed has ${usable.length} that could be used`;
      waits.push({ job, reason: "TooFewSlots", message });
    } else if (all !== undefined) waits.push({ job, reason: "BehindOthers", message: `${all} comes first` });
    // Not which: a long queue would be told anew whenever its head moves.
    else if (isBlocked) waits.push({ job, reason: "BehindOthers", message: "others come first in the queue" });
    else if (count > left) {
      isBlocked = true;
      waits.push({ job, reason: "SlotsTaken", message: `wants ${count} slots, and ${left} are free` });
    } else {
      left -= count;
      ready.push(wish);
    }
  }
  return { grants: dealt(ready, open), waits };
}

/** Who waits for one of these waits for something else than slots, and keeps none from others: nobody waits in a circle. */
const KEEPS_NOTHING: ReadonlySet<Wait["reason"]> = new Set(["NoSuchSlot", "TooFewSlots", "JobUnavailable"]);

/** What a Scheduling keeps from those after it: what it waits for. */
export function reservedBy(
  name: string,
  wishes: readonly Wish[],
  { waits }: Plan,
  before: Reserved = NOTHING_RESERVED,
): Reserved {
  const waiting = new Set(waits.filter(({ reason }) => !KEEPS_NOTHING.has(reason)).map(({ job }) => job));
  const slots = new Set(before.slots);
  let { all } = before;
  for (const wish of wishes) {
    if (!waiting.has(wish.job)) continue;
    if (wish.slots === undefined) all ??= name;
    for (const slot of wish.slots ?? []) slots.add(slot);
  }
  return { slots, all };
}

/** Free slots, one after the other, to executors in the order in which they stand in the queue. */
function dealt(wishes: readonly Wish[], open: readonly number[]): Grant[] {
  const turns = wishes.flatMap(({ job, places }) => places.map((place) => ({ job, place })));
  const slots = new Map<string, number[]>(wishes.map(({ job }) => [job, []]));
  for (const [index, { job }] of turns.sort((a, b) => a.place - b.place).entries()) {
    slots.get(job)?.push(open[index] as number);
  }
  return wishes.map(({ job }) => ({ job, slots: slots.get(job) ?? [] }));
}

function problemOf(
  slots: readonly number[],
  { isUsable }: Pool,
  isOpen: IsOpen,
  spoken: ReadonlySet<number>,
  reserved: Reserved,
): Omit<Wait, "job"> | undefined {
  const missing = slots.filter((slot) => !isUsable(slot));
  if (missing.length > 0) {
    return { reason: "NoSuchSlot", message: `the testbed has no slot ${someOf(missing)} that could be used` };
  }
  const behind = slots.filter((slot) => spoken.has(slot));
  if (behind.length > 0) return { reason: "BehindOthers", message: `others come first in slot ${someOf(behind)}` };
  const taken = slots.filter((slot) => !isOpen(slot));
  if (taken.length > 0) {
    if (reserved.all !== undefined) return { reason: "BehindOthers", message: `${reserved.all} comes first` };
    return { reason: "SlotsTaken", message: `waits for slot ${someOf(taken)}` };
  }
  return undefined;
}
