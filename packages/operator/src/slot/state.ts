/** How it stands with a slot: what people see, and what schedulers can count on. Pure. */
import type { coreV1 } from "@berth/kube";
import type { SlotState } from "@berth/model";
import { isOver } from "../placement/assign.ts";

export interface SlotView {
  /** Why it goes as soon as nobody has it. */
  readonly leaving: string | undefined;
  readonly node: coreV1.Node | undefined;
  /** A person has said that nobody is to be put into it. */
  readonly unschedulable: boolean;
  readonly ghost: coreV1.Pod | undefined;
  /** Who was put into it, and has not ended. */
  readonly executor: coreV1.Pod | undefined;
  /** The job that has it. */
  readonly holder: string | undefined;
  /** Whether it was held before: what comes back to it may evict who is in its place. */
  readonly established: boolean;
}

export interface Finding {
  readonly state: SlotState;
  /** Why it is unavailable. */
  readonly reason?: string;
  /** It is unavailable only because its ghost has yet to come. */
  readonly isUnderWay?: true;
}

export function stateOf(view: SlotView): Finding {
  const { leaving, node, unschedulable, ghost, executor, holder } = view;
  if (executor) return { state: "occupied" };
  if (holder !== undefined) return { state: "reserved" };
  const reason = leaving ?? nodeProblem(node) ?? (unschedulable ? "it was set unschedulable" : undefined);
  if (reason !== undefined) return { state: "unavailable", reason };
  const finding = ghostFinding(ghost);
  // Who comes next need not wait until the ghost is back, only to send it away again.
  return view.established && finding.isUnderWay ? { state: "free" } : finding;
}

/** Why nobody can be put on a node. */
export function nodeProblem(node: coreV1.Node | undefined): string | undefined {
  if (!node) return "its node is gone";
  if (node.spec?.unschedulable) return "its node is cordoned";
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  return `its node is not ready${ready?.reason ? `: ${ready.reason}` : ""}`;
}

/** A slot that is new is free only when its ghost has got its place. */
function ghostFinding(ghost: coreV1.Pod | undefined): Finding {
  const state = "unavailable";
  if (!ghost || isOver(ghost) || ghost.metadata.deletionTimestamp !== undefined) {
    return { state, reason: "its ghost is not there yet", isUnderWay: true };
  }
  if (ghost.spec?.nodeName) return { state: "free" };
  const placed = scheduledOf(ghost);
  if (placed?.reason !== "Unschedulable") return { state, reason: "its ghost waits for its place", isUnderWay: true };
  return { state, reason: `there is no room for it on its node: ${placed.message ?? "no reason given"}` };
}

/** What a scheduler says of a pod. */
export function scheduledOf({ status }: coreV1.Pod): coreV1.PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "PodScheduled");
}
