/** What pods ask for and nodes have, in plain numbers: quick to add and to compare. Pure. */
import { type coreV1, Quantity } from "@berth/kube";

/** By resource: thousandths of CPUs, and whole units (bytes, pieces) of everything else. */
export type Amounts = ReadonlyMap<string, number>;

/** Few quantities are written in a cluster, each of them often. */
const known = new Map<string, number>();
const MOST_KNOWN = 10_000;

/** A quantity as a number, rounded up as schedulers do; what is none counts as nothing. */
export function amountOf(resource: string, quantity: string | number): number {
  const key = resource === "cpu" ? `m${quantity}` : `${quantity}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  const amount = read(resource, quantity);
  known.set(key, amount);
  return amount;
}

function read(resource: string, quantity: string | number): number {
  try {
    const parsed = Quantity.parse(quantity);
    return Number(resource === "cpu" ? parsed.milli : parsed.units);
  } catch {
    return 0;
  }
}

/** What a node has for pods. */
export function allocatableOf({ status }: coreV1.Node): Amounts {
  return amounts(status?.allocatable);
}

function amounts(list: Readonly<Record<string, string>> | undefined): Map<string, number> {
  const result = new Map<string, number>();
  for (const name in list) result.set(name, amountOf(name, list[name] as string));
  return result;
}

/** What a pod asks for: its containers together, or its hungriest init container if that is more; and its overhead. */
export function requestsOf({ spec }: coreV1.Pod): Amounts {
  const { containers = [], initContainers = [], overhead, resources } = spec ?? {};
  const sum = new Map<string, number>();
  for (const container of containers) add(sum, container.resources?.requests);
  if (initContainers.length > 0) withInitContainers(sum, initContainers);
  // What is said for the pod as a whole counts instead.
  for (const name in resources?.requests) {
    if (ofWholePods(name)) sum.set(name, amountOf(name, resources?.requests?.[name] as string));
  }
  add(sum, overhead);
  return sum;
}

function withInitContainers(sum: Map<string, number>, containers: readonly coreV1.Container[]): void {
  const sidecars = new Map<string, number>();
  const hungriest = new Map<string, number>();
  for (const { resources, restartPolicy } of containers) {
    if (restartPolicy === "Always") {
      add(sum, resources?.requests);
      add(sidecars, resources?.requests);
      raise(hungriest, sidecars);
      continue;
    }
    const together = new Map(sidecars); // those that were started before run beside it
    add(together, resources?.requests);
    raise(hungriest, together);
  }
  raise(sum, hungriest);
}

function ofWholePods(resource: string): boolean {
  return resource === "cpu" || resource === "memory" || resource.startsWith("hugepages-");
}

function add(sum: Map<string, number>, list: Readonly<Record<string, string>> | undefined): void {
  for (const name in list) sum.set(name, (sum.get(name) ?? 0) + amountOf(name, list[name] as string));
}

function raise(to: Map<string, number>, least: Amounts): void {
  for (const [name, amount] of least) if (amount > (to.get(name) ?? 0)) to.set(name, amount);
}
