/** What a Scheduling is about to take: it was decided, and the operator has not carried it out yet. Pure. */
import type { Scheduling } from "@berth/model";

/** A job that is spoken for, and the slots that it is to have, if they are named. */
export interface Intent {
  readonly job: string;
  /** Only of the testbed that is asked about. */
  readonly slots: readonly number[];
  /** Whether it is that testbed. */
  readonly isHere: boolean;
}

/** Of others it is the job itself that says what it has. */
const OPEN: ReadonlySet<string | undefined> = new Set([undefined, "Waiting", "InQueue"]);

/** As seen from one testbed. */
export function intentsOf(
  { metadata, spec, status }: Scheduling,
  { namespace, testbed }: { readonly namespace: string; readonly testbed: string },
): Intent[] {
  const isHere = spec.testbed.name === testbed && (spec.testbed.namespace || metadata.namespace) === namespace;
  if (status?.completionTime !== undefined || metadata.deletionTimestamp !== undefined) return [];
  const told = new Map((status?.jobs ?? []).map(({ name, phase }) => [name, phase]));
  const isOpen = ({ name }: { name: string }) => OPEN.has(told.get(name));
  if (spec.slotBased)
    return spec.slotBased.filter(isOpen).map(({ name, slots }) => ({ job: name, slots: isHere ? slots : [], isHere }));
  const names = new Set((spec.queueBased ?? []).filter(isOpen).map(({ name }) => name));
  return [...names].map((job) => ({ job, slots: [], isHere }));
}
