/** What happens in a cluster, in the terms by which the scheduler decides whom it may help. Pure. */
import { equal } from "../../api/json.ts";
import { isLess } from "../../placement/resources.ts";
import { type Node, NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";

export type PodAction =
  | "Add"
  | "Delete"
  | "Update"
  | "UpdateLabels"
  | "ScaleDown"
  | "UpdateTolerations"
  | "GatesEliminated";
export type NodeAction =
  | "Add"
  | "Delete"
  | "UpdateAllocatable"
  | "UpdateLabels"
  | "UpdateTaints"
  | "UpdateConditions"
  | "UpdateAnnotations";

export interface PodEvent {
  readonly on: "Pod";
  readonly action: PodAction;
  readonly before?: PodInfo | undefined;
  readonly after?: PodInfo | undefined;
}

/** The nodes are without their pods. */
export interface NodeEvent {
  readonly on: "Node";
  readonly action: NodeAction;
  readonly before?: NodeInfo | undefined;
  readonly after?: NodeInfo | undefined;
}

/** Whatever it was: pods are to be tried again. */
export interface AnyEvent {
  readonly on: "*";
  /** Only this one. */
  readonly uid?: string;
}

export type ClusterEvent = PodEvent | NodeEvent | AnyEvent;

/** What has changed about a pod that matters to anybody. */
export function podChanges(before: PodInfo, after: PodInfo): PodEvent[] {
  const [{ spec: was }, { spec: is }] = [before.pod, after.pod];
  const actions: PodAction[] = [];
  if (before.labels !== after.labels && !equal(before.labels ?? {}, after.labels ?? {})) actions.push("UpdateLabels");
  if (before.requests !== after.requests && isLess(after.requests, before.requests)) actions.push("ScaleDown");
  if (was?.schedulingGates?.length && !is?.schedulingGates?.length) actions.push("GatesEliminated");
  // They can only be added to.
  if (was?.tolerations !== is?.tolerations && was?.tolerations?.length !== is?.tolerations?.length)
    actions.push("UpdateTolerations");
  if (actions.length === 0) actions.push("Update");
  return actions.map((action) => ({ on: "Pod", action, before, after }));
}

/** What has changed about a node that matters to anybody. */
export function nodeChanges(before: Node, after: Node): NodeEvent[] {
  const actions: NodeAction[] = [];
  const differ = (a: unknown, b: unknown) => a !== b && !equal(a, b);
  if (before.spec?.unschedulable && !after.spec?.unschedulable) actions.push("UpdateTaints");
  if (differ(before.status?.allocatable ?? {}, after.status?.allocatable ?? {})) actions.push("UpdateAllocatable");
  if (differ(before.metadata.labels ?? {}, after.metadata.labels ?? {})) actions.push("UpdateLabels");
  if (differ(before.spec?.taints ?? [], after.spec?.taints ?? [])) actions.push("UpdateTaints");
  if (before.status?.conditions !== after.status?.conditions && differ(conditionsOf(before), conditionsOf(after)))
    actions.push("UpdateConditions");
  if (differ(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})) actions.push("UpdateAnnotations");
  if (actions.length === 0) return [];
  const nodes = { before: bare(before), after: bare(after) };
  return actions.map((action) => ({ on: "Node", action, ...nodes }));
}

/** A node without its pods. */
export function bare(node: Node): NodeInfo {
  const info = new NodeInfo(node.metadata.name ?? "");
  info.setNode(node);
  return info;
}

function conditionsOf({ status }: Node): Record<string, string> {
  return Object.fromEntries((status?.conditions ?? []).map((condition) => [condition.type, condition.status]));
}
