/** What a pod needs as a whole: its containers together, or what it asks for itself. Pure. */
import { Quantity } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { own } from "../common/maps.ts";
import { quantityOf, type ResourceList } from "../common/quantities.ts";
import { isHugePages } from "../common/resource-names.ts";
import type { PodSpec } from "./types.ts";

export type Amounts = Map<string, Quantity>;

/** Which of the two lists of a container's resources. */
export type Side = "requests" | "limits";

/** Resources that a pod may ask for as a whole. */
export function isPodResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** What the containers need together: at once, or while one of those that run first runs, whichever is more. */
export function containerTotals({ containers = [], initContainers = [] }: PodSpec, side: Side): Amounts {
  const total: Amounts = new Map();
  for (const { resources } of containers) addList(total, resources?.[side]);
  if (initContainers.length === 0) return total;
  const sidecars: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const { resources, restartPolicy } of initContainers) {
    if (restartPolicy === "Always") {
      addList(total, resources?.[side]);
      addList(sidecars, resources?.[side]);
      raise(starting, sidecars);
    } else {
      const use: Amounts = new Map(sidecars);
      addList(use, resources?.[side]);
      raise(starting, use);
    }
  }
  raise(total, starting);
  return total;
}

/** What a pod asks for, with what it costs to run it at all. */
export function podRequests(spec: PodSpec): Amounts {
  const total = containerTotals(spec, "requests");
  overrule(total, spec.resources?.requests);
  addList(total, spec.overhead);
  return total;
}

export function podLimits(spec: PodSpec): Amounts {
  const total = containerTotals(spec, "limits");
  overrule(total, spec.resources?.limits);
  for (const name in spec.overhead) {
    const limit = total.get(name);
    if (limit && !limit.isZero) total.set(name, limit.plus(quantityOf(spec.overhead[name])));
  }
  return total;
}

/** A pod with limits of its own asks for what its containers ask for, and for its limits where they ask for nothing. */
export function defaultPodResources(spec: PodSpec): void {
  const { resources } = spec;
  if (!resources) return;
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length + Object.keys(requests).length > 0) {
    for (const [name, amount] of containerTotals(spec, "limits")) {
      if (isHugePages(name) && own(requests, name) === undefined) fill(limits, name, amount.toString());
    }
    if (Object.keys(limits).length > 0) resources.limits = limits;
  }
  if (Object.keys(limits).length === 0) return;
  for (const [name, amount] of containerTotals(spec, "requests")) {
    if (name === "cpu" || name === "memory") fill(requests, name, amount.toString());
  }
  for (const name in limits) if (isPodResource(name)) fill(requests, name, limits[name] as string);
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/** Whether what a pod asks for as a whole is enough for its containers. */
export function checkPodTotals(spec: PodSpec, field: string, errors: FieldErrors): void {
  const { requests, limits } = spec.resources ?? {};
  for (const [name, amount] of containerTotals(spec, "requests")) {
    const given = own(requests, name);
    if (given === undefined || amount.compare(quantityOf(given)) <= 0) continue;
    const why = `must be greater than or equal to aggregate container requests of ${amount}`;
    errors.invalid(`${field}.requests[${name}]`, given, why);
  }
  for (const [name, amount] of containerTotals(spec, "limits")) {
    const given = isHugePages(name) ? own(limits, name) : undefined;
    if (given === undefined || amount.compare(quantityOf(given)) <= 0) continue;
    const why = `must be greater than or equal to aggregate container limits of ${amount}`;
    errors.invalid(`${field}.limits[${name}]`, given, why);
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const name in container.resources?.limits) {
      const limit = container.resources.limits[name] as string;
      const given = own(limits, name);
      if (given === undefined || quantityOf(limit).compare(quantityOf(given)) <= 0) continue;
      const place = `${field}.containers[${index}][${name}].limits`;
      errors.invalid(place, limit, `must be less than or equal to pod limits of ${given}`);
    }
  }
}

function fill(list: ResourceList, name: string, amount: string): void {
  if (own(list, name) === undefined) list[name] = amount;
}

function overrule(amounts: Amounts, list: ResourceList | undefined): void {
  for (const name in list) if (isPodResource(name)) amounts.set(name, quantityOf(list[name]));
}

function addList(amounts: Amounts, list: ResourceList | undefined): void {
  for (const name in list) {
    const amount = quantityOf(list[name]);
    const before = amounts.get(name);
    amounts.set(name, before ? before.plus(amount) : amount);
  }
}

function raise(amounts: Amounts, least: Amounts): void {
  for (const [name, amount] of least) {
    if (amount.compare(amounts.get(name) ?? Quantity.ofNano(-1n)) > 0) amounts.set(name, amount);
  }
}
