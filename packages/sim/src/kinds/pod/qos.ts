/** How well a pod is served when a node runs short: its class of quality of service. Pure. */
import type { Quantity } from "@berth/kube";
import { quantityOf, type ResourceList } from "../common/quantities.ts";
import type { PodSpec } from "./types.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

const COUNTED = ["cpu", "memory"] as const;

/** Guaranteed: limits for all, and requests equal to them. BestEffort: nothing said. Burstable: all others. */
export function qosClass({ resources, containers = [], initContainers = [] }: PodSpec): QosClass {
  const all = resources
    ? [resources]
    : [...containers, ...initContainers].map((container) => container.resources ?? {});
  const [requests, limits] = [new Map<string, Quantity>(), new Map<string, Quantity>()];
  let complete = true;
  for (const each of all) {
    add(requests, each.requests);
    if (add(limits, each.limits) < COUNTED.length) complete = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const equal = [...requests].every(([name, amount]) => limits.get(name)?.equals(amount));
  return complete && equal && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

/** How many of the resources that count are in the list. */
function add(amounts: Map<string, Quantity>, list: ResourceList | undefined): number {
  let found = 0;
  if (!list) return found;
  for (const name of COUNTED) {
    const amount = quantityOf(list[name]);
    if (amount.nano <= 0n) continue;
    found++;
    const before = amounts.get(name);
    amounts.set(name, before ? before.plus(amount) : amount);
  }
  return found;
}
