/**
 * What a pod asks for and what a node has, as plain numbers: thousandths of CPUs, bytes, pieces. Exact as long as they are
 * below 2^53. Pure.
 */
import { type coreV1, Quantity } from "@berth/kube";

type Pod = coreV1.Pod;
type ResourceList = Readonly<Record<string, string>>;

/** Amounts of everything that is counted. What is not asked for is 0, or not in the map. */
export interface Amounts {
  /** In thousandths. */
  cpu: number;
  /** In bytes, as storage. */
  memory: number;
  storage: number;
  /** Extended resources, huge pages and the like, in pieces or bytes. Most pods have none. */
  scalars: Map<string, number> | undefined;
}

/** What a container counts for that says nothing about its CPU or memory, where nodes are compared: not in what it gets. */
export const UNSAID_CPU = 100;
export const UNSAID_MEMORY = 200 * 1024 * 1024;

export function nothing(): Amounts {
  return { cpu: 0, memory: 0, storage: 0, scalars: undefined };
}

/** Resources that a node counts besides CPU, memory, storage and pods. */
export function isScalar(name: string): boolean {
  if (name.startsWith("hugepages-") || name.startsWith("attachable-volumes-")) return true;
  return name.includes("/") && (name.includes("kubernetes.io/") || !name.startsWith("requests."));
}

/** Resources that somebody other than Kubernetes has defined. */
export function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}

const REMEMBERED = 10_000;
/** The same few quantities come with every pod. */
const milliOf = remembering((text) => Number(Quantity.parse(text).milli));
const unitsOf = remembering((text) => Number(Quantity.parse(text).units));

/** Of a node's capacity or a pod's overhead: what it has of each, and how many pods it takes. */
export function amountsOf(list: ResourceList | undefined): Amounts & { pods: number } {
  const amounts = { ...nothing(), pods: 0 };
  for (const name in list) {
    const text = list[name] as string;
    if (name === "pods") amounts.pods = unitsOf(text);
    else addOne(amounts, name, text);
  }
  return amounts;
}

/** What a node must have free for a pod, and what the pod counts for where nodes are compared. */
export interface PodRequests {
  readonly requests: Amounts;
  /** As the node's sums count it: no container counts for nothing. */
  readonly nonZeroCpu: number;
  readonly nonZeroMemory: number;
  /** The same, but as the score of free resources sees the pod: what is said for the pod as a whole does not count. */
  readonly scoreCpu: number;
  readonly scoreMemory: number;
}

/** All containers run at once, after the init containers, one by one, beside those of them that stay. */
export function podRequests(pod: Pod): PodRequests {
  const { spec, status } = pod;
  const requests = nothing();
  // CPU and memory with what is left unsaid filled in; the rest of these lists is not used.
  const nonZero = nothing();
  const sidecars = nothing();
  const nonZeroSidecars = nothing();
  // The most that is needed at once before the containers start.
  const starting = nothing();
  const nonZeroStarting = nothing();
  const resized = status?.containerStatuses || status?.initContainerStatuses ? effectiveLists(pod) : undefined;
  for (const container of spec?.containers ?? []) {
    const list = resized?.get(container.name) ?? container.resources?.requests;
    addList(requests, list);
    addNonZero(nonZero, list);
  }
  for (const container of spec?.initContainers ?? []) {
    const list = resized?.get(container.name) ?? container.resources?.requests;
    if (container.restartPolicy === "Always") {
      addList(requests, list);
      addNonZero(nonZero, list);
      addList(sidecars, list);
      addNonZero(nonZeroSidecars, list);
      continue; // the sum, which has it, is no less than all that started before it
    }
    takeLarger(starting, sumOf(sidecars, list));
    const nonZeroNow = { ...nonZeroSidecars };
    addNonZero(nonZeroNow, list);
    takeLarger(nonZeroStarting, nonZeroNow);
  }
  takeLarger(requests, starting);
  takeLarger(nonZero, nonZeroStarting);
  let [nonZeroCpu, nonZeroMemory] = [nonZero.cpu, nonZero.memory];
  const whole = podLevel(pod);
  if (whole) {
    overwrite(requests, whole);
    // Only what neither the pod nor a container says is filled in.
    const says = (name: string) => name in whole || containersSay(pod, name);
    nonZeroCpu = says("cpu") ? requests.cpu : nonZeroCpu;
    nonZeroMemory = says("memory") ? requests.memory : nonZeroMemory;
  }
  const overhead = spec?.overhead;
  const over = overhead ? amountsOf(overhead) : undefined;
  if (overhead) addList(requests, overhead);
  return {
    requests,
    nonZeroCpu: nonZeroCpu + (over?.cpu ?? 0),
    nonZeroMemory: nonZeroMemory + (over?.memory ?? 0),
    scoreCpu: nonZero.cpu + (over?.cpu ?? 0),
    scoreMemory: nonZero.memory + (over?.memory ?? 0),
  };
}

/** What there is of a resource, by its name. */
export function amountNamed({ cpu, memory, storage, scalars }: Amounts, name: string): number | undefined {
  if (name === "cpu") return cpu;
  if (name === "memory") return memory;
  return name === "ephemeral-storage" ? storage : scalars?.get(name);
}

/** Adds to a sum what a pod takes, or takes off it what a pod gives back. */
export function count(sum: Amounts, { cpu, memory, storage, scalars }: Amounts, sign: 1 | -1): void {
  sum.cpu += sign * cpu;
  sum.memory += sign * memory;
  sum.storage += sign * storage;
  if (!scalars) return;
  sum.scalars ??= new Map();
  for (const [name, amount] of scalars) sum.scalars.set(name, (sum.scalars.get(name) ?? 0) + sign * amount);
}

/** Whether a pod asks for less of anything than it did. */
export function isLess(now: Amounts, before: Amounts): boolean {
  if (now.cpu < before.cpu || now.memory < before.memory || now.storage < before.storage) return true;
  for (const [name, amount] of before.scalars ?? []) if ((now.scalars?.get(name) ?? 0) < amount) return true;
  return false;
}

/** What containers have that were resized, or are about to be: the most of what is wanted, given and used. */
function effectiveLists({ spec, status }: Pod): Map<string, ResourceList> {
  const lists = new Map<string, ResourceList>();
  const infeasible = status?.conditions?.some(
    ({ type, reason }) => type === "PodResizePending" && reason === "Infeasible",
  );
  const wanted = new Map<string, ResourceList | undefined>();
  for (const { name, resources } of spec?.containers ?? []) wanted.set(name, resources?.requests);
  for (const { name, resources, restartPolicy } of spec?.initContainers ?? [])
    if (restartPolicy === "Always") wanted.set(name, resources?.requests);
  for (const container of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
    if (!container.resources || !wanted.has(container.name)) continue;
    const candidates = [container.resources.requests, container.allocatedResources];
    if (!infeasible) candidates.push(wanted.get(container.name));
    lists.set(container.name, largest(candidates));
  }
  return lists;
}

function largest(lists: readonly (ResourceList | undefined)[]): ResourceList {
  const result: Record<string, string> = {};
  for (const list of lists) {
    for (const name in list) {
      const [text, present] = [list[name] as string, result[name]];
      const isMore = present === undefined || (present !== text && Quantity.parse(text).compare(present) > 0);
      if (isMore) result[name] = text;
    }
  }
  return result;
}

/** What is asked for the pod as a whole, in place of what its containers ask for. */
function podLevel({ spec }: Pod): ResourceList | undefined {
  const requests = spec?.resources?.requests;
  if (!requests) return undefined;
  const supported = Object.entries(requests).filter(
    ([name]) => name === "cpu" || name === "memory" || name.startsWith("hugepages-"),
  );
  return supported.length > 0 ? Object.fromEntries(supported) : undefined;
}

function containersSay({ spec }: Pod, name: string): boolean {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return all.some(({ resources }) => resources?.requests?.[name] !== undefined);
}

function addList(amounts: Amounts, list: ResourceList | undefined): void {
  for (const name in list) addOne(amounts, name, list[name] as string);
}

function addOne(amounts: Amounts, name: string, text: string): void {
  if (name === "cpu") amounts.cpu += milliOf(text);
  else if (name === "memory") amounts.memory += unitsOf(text);
  else if (name === "ephemeral-storage") amounts.storage += unitsOf(text);
  else if (isScalar(name)) {
    amounts.scalars ??= new Map();
    amounts.scalars.set(name, (amounts.scalars.get(name) ?? 0) + unitsOf(text));
  }
}

function addNonZero(amounts: Amounts, list: ResourceList | undefined): void {
  const [cpu, memory] = [list?.cpu, list?.memory];
  amounts.cpu += cpu === undefined ? UNSAID_CPU : milliOf(cpu);
  amounts.memory += memory === undefined ? UNSAID_MEMORY : unitsOf(memory);
}

function sumOf(amounts: Amounts, list: ResourceList | undefined): Amounts {
  const sum = { ...amounts, scalars: amounts.scalars && new Map(amounts.scalars) };
  addList(sum, list);
  return sum;
}

function takeLarger(amounts: Amounts, others: Amounts): void {
  amounts.cpu = Math.max(amounts.cpu, others.cpu);
  amounts.memory = Math.max(amounts.memory, others.memory);
  amounts.storage = Math.max(amounts.storage, others.storage);
  for (const [name, amount] of others.scalars ?? []) {
    amounts.scalars ??= new Map();
    amounts.scalars.set(name, Math.max(amounts.scalars.get(name) ?? 0, amount));
  }
}

function overwrite(amounts: Amounts, list: ResourceList): void {
  for (const name in list) {
    const text = list[name] as string;
    if (name === "cpu") amounts.cpu = milliOf(text);
    else if (name === "memory") amounts.memory = unitsOf(text);
    else {
      amounts.scalars ??= new Map();
      amounts.scalars.set(name, unitsOf(text));
    }
  }
}

function remembering(read: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = read(text);
      if (known.size >= REMEMBERED) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
