/** What Berth writes on the objects of others: labels, annotations, gates, priority classes. */
import { createHash } from "node:crypto";
import type { ObjectKey } from "@berth/kube";

/** A pod with this gate waits until it is told into which slot it goes. */
export const SLOT_GATE = "berth.dev/slot";

/** On ghosts and executors, for selectors; whoever wants to know exactly reads the annotations. */
export const label = {
  /** The testbed, as "namespace.name", shortened if need be. */
  testbed: "berth.dev/testbed",
  /** "ghost" or "executor". */
  role: "berth.dev/role",
  /** On executors: the job, as "namespace.name", shortened if need be, and the number of its run. */
  job: "berth.dev/job",
  run: "berth.dev/run",
  /** On ghosts: the number of the slot. */
  slot: "berth.dev/slot",
} as const;

export const annotation = {
  /** On ghosts and executors: "namespace/name". */
  testbed: "berth.dev/testbed",
  /** On executors: "namespace/name". */
  job: "berth.dev/job",
  /** On applications: the claim that it was made for, the number of the run, and of the try at it. */
  claim: "berth.dev/claim",
  run: "berth.dev/run",
  attempt: "berth.dev/attempt",
  /** On an executor that was placed: the number of its slot. */
  slot: "berth.dev/slot",
} as const;

/** From the least important to the most; see the page on the life of an executor. */
export const priority = {
  /** Holds a slot, and evicts nobody to get it. */
  ghost: "berth-ghost",
  /** Comes back to a slot whose executor has left, and may evict who has taken its place meanwhile. */
  ghostReturn: "berth-ghost-return",
  /** Executors: go before ghosts. */
  slot: "berth-slot",
} as const;

/** The most that the value of a label may have. */
const LONGEST_VALUE = 63;

/** An object's namespace and name as the value of a label: "namespace.name", or the beginning of it and a hash. */
export function labelValueOf({ namespace = "", name }: ObjectKey): string {
  const value = `${namespace}.${name}`;
  if (value.length <= LONGEST_VALUE) return value;
  const hash = createHash("sha256").update(value).digest("hex").slice(0, 10);
  return `${value.slice(0, LONGEST_VALUE - hash.length - 1)}-${hash}`;
}
