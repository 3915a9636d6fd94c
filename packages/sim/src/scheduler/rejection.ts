/** Why a node does not do for a pod, in the words of kube-scheduler. */

/** The rules by the names that kube-scheduler gives its plugins. */
export type Plugin =
  | "SchedulingGates"
  | "NodeUnschedulable"
  | "NodeName"
  | "TaintToleration"
  | "NodeAffinity"
  | "NodePorts"
  | "NodeResourcesFit"
  | "PodTopologySpread"
  | "InterPodAffinity"
  | "DefaultPreemption"
  | "DynamicResources"
  | "NodeResourcesBalancedAllocation"
  | "ImageLocality"
  /** Not a plugin: whoever is asked over HTTP. */
  | "Extender";

export interface Rejection {
  /** Absent if no rule said so, but whoever put the rules together. */
  readonly plugin?: Plugin;
  readonly reasons: readonly string[];
  /** Whether other pods could make place: no preemption changes what a node is. */
  readonly resolvable: boolean;
}

export function resolvable(plugin: Plugin, ...reasons: string[]): Rejection {
  return { plugin, reasons, resolvable: true };
}

export function unresolvable(plugin: Plugin, ...reasons: string[]): Rejection {
  return { plugin, reasons, resolvable: false };
}
