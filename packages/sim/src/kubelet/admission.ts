/**
 * What a kubelet checks before it takes a pod, whoever put it there: whether it fits, and whether it belongs here. Worded as
 * the real one words it. Pure.
 */
import type { coreV1 } from "@berth/kube";
import { anyConflict, type HostPort, hostPortsOf } from "../placement/host-ports.ts";
import { requiredNodes } from "../placement/required-nodes.ts";
import { type Amounts, amountNamed, isExtended } from "../placement/resources.ts";
import { isTolerated } from "../placement/tolerations.ts";

/** Why a pod is not taken. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** What a node has, and what of it is in use. */
export interface Occupancy {
  readonly allocatable: Amounts & { readonly pods: number };
  readonly used: Amounts;
  /** How many pods have not ended. */
  readonly pods: number;
  /** Ports of the host. */
  readonly ports: readonly HostPort[];
}

/** `undefined` if the node takes the pod. */
export function rejection(
  pod: coreV1.Pod,
  requests: Amounts,
  node: coreV1.Node,
  occupancy: Occupancy,
): Rejection | undefined {
  const { spec } = pod;
  if (spec?.os?.name !== undefined && spec.os.name !== "linux") {
    return rejected("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS");
  }
  const lack = insufficient(requests, occupancy);
  if (lack) return lack;
  const { name = "", labels = {} } = node.metadata;
  if (requiredNodes(pod)?.({ name, labels }) === false) {
    return predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  }
  if (anyConflict(hostPortsOf(pod), occupancy.ports)) {
    return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  }
  if (node.spec?.taints?.some((taint) => taint.effect === "NoExecute" && !isTolerated(taint, spec?.tolerations))) {
    return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}

function rejected(reason: string, why: string): Rejection {
  return { reason, message: why };
}

function predicate(name: string, why: string): Rejection {
  return rejected(name, `Predicate ${name} failed: ${why}`);
}

function insufficient(requests: Amounts, { allocatable, used, pods }: Occupancy): Rejection | undefined {
  if (pods + 1 > allocatable.pods) return tooLittle("pods", 1, pods, allocatable.pods);
  for (const name of namesIn(requests)) {
    const wanted = amountNamed(requests, name) ?? 0;
    const [has, inUse] = [amountNamed(allocatable, name), amountNamed(used, name) ?? 0];
    if (wanted === 0 || (has === undefined && isExtended(name))) continue; // others look after what no node has
    if (wanted > (has ?? 0) - inUse) return tooLittle(name, wanted, inUse, has ?? 0);
  }
  return undefined;
}

const FIRST = ["cpu", "memory", "ephemeral-storage"];

/** In the order in which a lack is told. */
function namesIn({ scalars }: Amounts): readonly string[] {
  return scalars ? [...FIRST, ...[...scalars.keys()].sort()] : FIRST;
}

function tooLittle(resource: string, requested: number, used: number, capacity: number): Rejection {
  const figures = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return rejected(`OutOf${resource}`, `Node didn't have enough resource: ${resource}, ${figures}`);
}
