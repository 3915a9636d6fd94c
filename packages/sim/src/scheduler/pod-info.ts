/** A pod as the scheduler sees it: what it asks for and minds, read once. */
import type { coreV1 } from "@berth/kube";
import { type HostPort, hostPortsOf } from "../placement/host-ports.ts";
import { type Amounts, podRequests } from "../placement/resources.ts";
import type { Labels } from "../placement/selectors.ts";
import { type AffinityTerms, affinityTermsOf, NO_TERMS } from "./affinity-terms.ts";

export type Pod = coreV1.Pod;

export class PodInfo {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels | undefined;
  readonly priority: number;
  readonly requests: Amounts;
  readonly nonZeroCpu: number;
  readonly nonZeroMemory: number;
  readonly scoreCpu: number;
  readonly scoreMemory: number;
  readonly ports: readonly HostPort[];
  readonly terms: AffinityTerms;

  /** @param before - The same pod as it was: what has not changed is not read again. */
  constructor(pod: Pod, before?: PodInfo) {
    const { metadata, spec } = pod;
    this.pod = pod;
    this.uid = metadata.uid ?? "";
    this.namespace = metadata.namespace ?? "";
    this.name = metadata.name ?? "";
    this.labels = metadata.labels;
    this.priority = spec?.priority ?? 0;
    const same = before !== undefined && asksTheSame(pod, before.pod);
    const { requests, nonZeroCpu, nonZeroMemory, scoreCpu, scoreMemory } = same ? before : podRequests(pod);
    this.requests = requests;
    this.nonZeroCpu = nonZeroCpu;
    this.nonZeroMemory = nonZeroMemory;
    this.scoreCpu = scoreCpu;
    this.scoreMemory = scoreMemory;
    this.ports = same ? before.ports : hostPortsOf(pod);
    this.terms =
      before !== undefined && spec?.affinity === before.pod.spec?.affinity
        ? before.terms
        : affinityTermsOf(this.namespace, spec?.affinity);
  }

  get hasTerms(): boolean {
    return this.terms !== NO_TERMS;
  }
}

/** Objects share what has not changed, so that comparing costs next to nothing. */
function asksTheSame({ spec, status }: Pod, { spec: before, status: statusBefore }: Pod): boolean {
  return (
    spec?.containers === before?.containers &&
    spec?.initContainers === before?.initContainers &&
    spec?.resources === before?.resources &&
    spec?.overhead === before?.overhead &&
    status?.containerStatuses === statusBefore?.containerStatuses &&
    status?.initContainerStatuses === statusBefore?.initContainerStatuses
  );
}

/** Finished pods take no place, and need none: for the scheduler they are gone. */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isAssigned({ spec }: Pod): boolean {
  return Boolean(spec?.nodeName);
}
