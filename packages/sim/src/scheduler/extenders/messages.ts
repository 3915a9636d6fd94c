/** What a scheduler and its extenders say to each other (`k8s.io/kube-scheduler/extender/v1`): JSON, in Go's spelling. */
import type { coreV1 } from "@berth/kube";
import type { Node } from "../node-info.ts";
import type { Pod } from "../pod-info.ts";

/** To filter and to prioritize: nodes by name for extenders that know them, else in full. */
export interface ExtenderArgs {
  readonly Pod: Pod;
  readonly Nodes: { readonly metadata: object; readonly items: readonly Node[] } | null;
  readonly NodeNames: readonly string[] | null;
}

export interface ExtenderFilterResult {
  readonly Nodes?: { readonly items?: readonly Node[] | null } | null;
  readonly NodeNames?: readonly string[] | null;
  /** Name → why. Preemption may help with these. */
  readonly FailedNodes?: Readonly<Record<string, string>> | null;
  readonly FailedAndUnresolvableNodes?: Readonly<Record<string, string>> | null;
  readonly Error?: string;
}

export interface HostPriority {
  readonly Host: string;
  /** From 0 to 10; more is not refused. */
  readonly Score: number;
}

export interface MetaVictims {
  readonly Pods: readonly { readonly UID: string }[] | null;
  readonly NumPDBViolations: number;
}

export interface Victims {
  readonly Pods: readonly coreV1.Pod[];
  readonly NumPDBViolations: number;
}

export interface ExtenderPreemptionArgs {
  readonly Pod: Pod;
  readonly NodeNameToVictims: Readonly<Record<string, Victims>> | null;
  readonly NodeNameToMetaVictims: Readonly<Record<string, MetaVictims>> | null;
}

export interface ExtenderPreemptionResult {
  readonly NodeNameToMetaVictims?: Readonly<Record<string, MetaVictims>> | null;
}

export interface ExtenderBindingArgs {
  readonly PodName: string;
  readonly PodNamespace: string;
  readonly PodUID: string;
  readonly Node: string;
}

export interface ExtenderBindingResult {
  readonly Error?: string;
}
