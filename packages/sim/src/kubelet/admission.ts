/**
 * What a kubelet checks before it takes a pod, whoever put it there: whether it fits, and whether it belongs here. Worded as
 * the real one words it. Pure.
 */
import { type coreV1, LabelSelector } from "@berth/kube";
import type { Amounts } from "./resources.ts";

/** Why a pod is not taken. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** What a node has, and what of it is in use. */
export interface Occupancy {
  readonly allocatable: Amounts;
  readonly used: Amounts;
  readonly pods: number;
  /** Ports of the host, as `portsOf` writes them. */
  readonly ports: ReadonlySet<string>;
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
  return (
    insufficient(requests, occupancy) ??
    (belongs(pod, node) ? undefined : predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")) ??
    (portsOf(pod).some((port) => isTaken(port, occupancy.ports))
      ? predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
      : undefined) ??
    (node.spec?.taints?.some((taint) => taint.effect === "NoExecute" && !tolerates(spec?.tolerations, taint))
      ? predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
      : undefined)
  );
}

function rejected(reason: string, why: string): Rejection {
  return { reason, message: why };
}

function predicate(name: string, why: string): Rejection {
  return rejected(name, `Predicate ${name} failed: ${why}`);
}

function insufficient(requests: Amounts, { allocatable, used, pods }: Occupancy): Rejection | undefined {
  const room = allocatable.get("pods") ?? 0;
  if (pods + 1 > room) return tooLittle("pods", 1, pods, room);
  for (const name of inOrder(requests)) {
    const wanted = requests.get(name) ?? 0;
    const [has, inUse] = [allocatable.get(name), used.get(name) ?? 0];
    if (wanted === 0 || (has === undefined && isExtended(name))) continue; // others look after what no node has
    if (wanted > (has ?? 0) - inUse) return tooLittle(name, wanted, inUse, has ?? 0);
  }
  return undefined;
}

const FIRST = ["cpu", "memory", "ephemeral-storage"];

function inOrder(requests: Amounts): readonly string[] {
  const others = [...requests.keys()].filter((name) => !FIRST.includes(name));
  return others.length === 0 ? FIRST : [...FIRST, ...others.sort()];
}

function isExtended(resource: string): boolean {
  return resource.includes("/") && !resource.includes("kubernetes.io/");
}

function tooLittle(resource: string, requested: number, used: number, capacity: number): Rejection {
  const figures = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return rejected(`OutOf${resource}`, `Node didn't have enough resource: ${resource}, ${figures}`);
}

/** Whether a node is one of those that the pod may be on. */
export function belongs({ spec }: coreV1.Pod, node: coreV1.Node): boolean {
  const { labels = {}, name = "" } = node.metadata;
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms) return true;
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const fits = matchFields.every(({ key, operator, values = [] }) => {
      if (key !== "metadata.name") return false;
      return operator === "In" ? values.includes(name) : operator === "NotIn" && !values.includes(name);
    });
    return fits && matches(matchExpressions, labels);
  });
}

function matches(
  expressions: readonly coreV1.NodeSelectorRequirement[],
  labels: Readonly<Record<string, string>>,
): boolean {
  if (expressions.length === 0) return true;
  try {
    return LabelSelector.fromSpec({ matchExpressions: expressions }).matches(labels);
  } catch {
    return false; // what cannot be understood fits nowhere
  }
}

/** The ports of its host that a pod takes. */
export function portsOf({ spec }: coreV1.Pod): string[] {
  const ports: string[] = [];
  for (const container of spec?.containers ?? []) {
    for (const { hostPort, protocol = "TCP", hostIP = "" } of container.ports ?? []) {
      if (hostPort) ports.push(`${protocol}/${hostPort}/${hostIP === "0.0.0.0" ? "" : hostIP}`);
    }
  }
  return ports;
}

/** A port of all addresses is in the way of the same port of each. */
function isTaken(port: string, ports: ReadonlySet<string>): boolean {
  if (ports.has(port)) return true;
  const [protocol, number, address] = port.split("/");
  const same = `${protocol}/${number}/`;
  return address === "" ? [...ports].some((other) => other.startsWith(same)) : ports.has(same);
}

/** Whether one of the tolerations is for a taint. */
export function tolerates(tolerations: readonly coreV1.Toleration[] | undefined, taint: coreV1.Taint): boolean {
  return tolerations?.some((toleration) => toleratesTaint(toleration, taint)) ?? false;
}

/** Whether a toleration is for a taint. */
export function toleratesTaint(
  { key, operator = "Equal", value = "", effect }: coreV1.Toleration,
  taint: coreV1.Taint,
) {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return operator === "Equal" && Boolean(key) && value === (taint.value ?? "");
}
