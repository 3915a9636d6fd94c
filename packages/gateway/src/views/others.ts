/** What is shown of testbeds, slots, Schedulings and nodes. Pure. */
import { type coreV1, findCondition } from "@berth/kube";
import type {
  NodeView,
  Scheduling,
  SchedulingView,
  Slot,
  SlotView,
  Testbed,
  TestbedView,
  TurnSlot,
} from "@berth/model";
import { label } from "../names.ts";
import type { Epoch } from "./epoch.ts";
import { nameIn } from "./job.ts";

/** A testbed. @param slots - How many there are. @param scheduler - The external one that has it. */
export function testbedViewOf(
  { metadata, spec, status }: Testbed,
  slots: TestbedView["slots"],
  scheduler: string | undefined,
): TestbedView {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  return {
    name: metadata.name ?? "",
    nodes: status?.nodes ?? 0,
    slotsPerNode: spec.slotsPerNode,
    nodeLabel: spec.nodeLabel,
    resourcesPerSlot: texts(spec.resourcesPerSlot),
    slots,
    ready: ready?.status === "True",
    ...(ready && { message: ready.message }),
    ...(scheduler !== undefined && { scheduler }),
    version: metadata.resourceVersion ?? "",
  };
}

/** A slot. @param line - How it stands with it: its own status says so a moment later, and then since when, and who is in it. */
export function slotViewOf({ metadata, spec, status = {} }: Slot, line: TurnSlot, epoch: Epoch): SlotView {
  const { podName, since } = status;
  const isTold = status.state === line.state && (status.job && nameIn(status.job)) === line.job;
  return {
    testbed: spec.testbed,
    ...line,
    ...(isTold && podName !== undefined && { pod: podName }),
    ...(isTold && since !== undefined && { since: epoch.of(since) }),
    resources: texts(spec.resources),
    version: metadata.resourceVersion ?? "",
  };
}

/** A Scheduling. */
export function schedulingViewOf({ metadata, spec, status = {} }: Scheduling, epoch: Epoch): SchedulingView {
  const message = findCondition(status.conditions ?? [], "Progressing")?.message;
  const scheduler = metadata.labels?.[label.scheduler];
  const turn = Number(metadata.labels?.[label.turn]);
  return {
    name: metadata.name ?? "",
    testbed: spec.testbed.name,
    phase: status.phase ?? "Acquire",
    strategy: spec.slotBased ? "slots" : "queue",
    exclusive: spec.exclusive ?? false,
    ...(spec.reason !== undefined && { reason: spec.reason }),
    ...(message !== undefined && { message }),
    created: epoch.of(metadata.creationTimestamp ?? "1970-01-01T00:00:00Z"),
    ...(status.startTime !== undefined && { started: epoch.of(status.startTime) }),
    ...(status.completionTime !== undefined && { ended: epoch.of(status.completionTime) }),
    ...(scheduler !== undefined && { scheduler }),
    ...(scheduler !== undefined && Number.isInteger(turn) && { turn }),
    jobs: entriesOf(spec, status),
    version: metadata.resourceVersion ?? "",
  };
}

/** Each job once; of those that nobody has looked at yet, what is wanted of them. */
function entriesOf(spec: Scheduling["spec"], status: NonNullable<Scheduling["status"]>): SchedulingView["jobs"] {
  const told = new Map((status.jobs ?? []).map((entry) => [entry.name, entry]));
  const wanted = (spec.slotBased ?? spec.queueBased ?? []) as readonly { name: string; slots?: number[] }[];
  const names = new Set([...wanted.map(({ name }) => name), ...told.keys()]);
  const slotsOf = new Map(wanted.map(({ name, slots }) => [name, slots]));
  return [...names].map((name) => {
    const { phase = "Waiting", message, slots = slotsOf.get(name) } = told.get(name) ?? {};
    return { name, phase, ...(slots && { slots }), ...(message !== undefined && { message }) };
  });
}

/** A node, with the slots that are on it. */
export function nodeViewOf({ metadata, spec, status }: coreV1.Node, slots: readonly Slot[]): NodeView {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    name: metadata.name ?? "",
    ready: ready?.status === "True",
    schedulable: !spec?.unschedulable,
    labels: metadata.labels ?? {},
    allocatable: texts(status?.allocatable ?? {}),
    slots: slots.map((slot) => ({ testbed: slot.spec.testbed, id: slot.spec.position })).sort(bySlot),
    version: metadata.resourceVersion ?? "",
  };
}

function bySlot(a: { testbed: string; id: number }, b: { testbed: string; id: number }): number {
  return a.testbed === b.testbed ? a.id - b.id : a.testbed < b.testbed ? -1 : 1;
}

function texts(amounts: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
}
