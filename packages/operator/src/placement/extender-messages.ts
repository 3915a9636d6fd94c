/** What kube-scheduler and an extender say to each other (`k8s.io/kube-scheduler/extender/v1`): JSON, in Go's spelling. */
import type { coreV1 } from "@berth/kube";

export interface ExtenderArgs {
  readonly Pod: coreV1.Pod;
  /** Only for extenders that know the nodes (`nodeCacheCapable`). */
  readonly NodeNames: readonly string[] | null;
}

export interface FilterResult {
  readonly NodeNames?: readonly string[];
  /** Node → why not, whoever were evicted there. */
  readonly FailedAndUnresolvableNodes?: Readonly<Record<string, string>>;
  readonly Error?: string;
}

/** Pods of a node that would have to go. */
export interface MetaVictims {
  readonly Pods: readonly { readonly UID: string }[] | null;
  readonly NumPDBViolations: number;
}

export interface PreemptionArgs {
  readonly Pod: coreV1.Pod;
  readonly NodeNameToMetaVictims: Readonly<Record<string, MetaVictims>> | null;
}

export interface PreemptionResult {
  readonly NodeNameToMetaVictims: Readonly<Record<string, MetaVictims>>;
}
