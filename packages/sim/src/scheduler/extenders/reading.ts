/** What an extender answers, as Go would understand it: upper and lower case are the same, and what is missing is empty. */
import { isObject } from "../../api/json.ts";
import type { Node } from "../node-info.ts";
import type {
  ExtenderBindingResult,
  ExtenderFilterResult,
  ExtenderPreemptionResult,
  HostPriority,
  MetaVictims,
} from "./messages.ts";

export function readFilterResult(answer: unknown): ExtenderFilterResult {
  const nodes = field(answer, "Nodes", "ExtenderFilterResult");
  return {
    Nodes: nodes === undefined ? null : { items: list(field(nodes, "items", "NodeList"), readNode) },
    NodeNames: list(field(answer, "NodeNames", "ExtenderFilterResult"), text),
    FailedNodes: record(field(answer, "FailedNodes", "ExtenderFilterResult"), text),
    FailedAndUnresolvableNodes: record(field(answer, "FailedAndUnresolvableNodes", "ExtenderFilterResult"), text),
    Error: text(field(answer, "Error", "ExtenderFilterResult") ?? ""),
  };
}

export function readPriorities(answer: unknown): readonly HostPriority[] {
  const read = (each: unknown) => ({
    Host: text(field(each, "Host", "HostPriority") ?? ""),
    Score: whole(field(each, "Score", "HostPriority") ?? 0),
  });
  return list(answer ?? undefined, read) ?? [];
}

export function readPreemptionResult(answer: unknown): ExtenderPreemptionResult {
  const victims = (each: unknown): MetaVictims => ({
    Pods: list(field(each, "Pods", "MetaVictims"), (pod) => ({ UID: text(field(pod, "UID", "MetaPod") ?? "") })),
    NumPDBViolations: whole(field(each, "NumPDBViolations", "MetaVictims") ?? 0),
  });
  const map = field(answer, "NodeNameToMetaVictims", "ExtenderPreemptionResult");
  return { NodeNameToMetaVictims: record(map, victims) };
}

export function readBindingResult(answer: unknown): ExtenderBindingResult {
  return { Error: text(field(answer, "Error", "ExtenderBindingResult") ?? "") };
}

/** A field, whatever its case; `undefined` if it is not there or null. */
function field(value: unknown, name: string, of: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (!isObject(value)) throw wrong(value, of);
  const lower = name.toLowerCase();
  const key = Object.hasOwn(value, name) ? name : Object.keys(value).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : (value[key] ?? undefined);
}

function list<T>(value: unknown, read: (item: unknown) => T): T[] | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) throw wrong(value, "list");
  return value.map(read);
}

function record<T>(value: unknown, read: (item: unknown) => T): Record<string, T> | null {
  if (value === undefined) return null;
  if (!isObject(value)) throw wrong(value, "map");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item)]));
}

function text(value: unknown): string {
  if (typeof value !== "string") throw wrong(value, "string");
  return value;
}

function whole(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrong(value, "int64");
  return value;
}

function readNode(value: unknown): Node {
  if (!isObject(value) || !isObject(value.metadata)) throw wrong(value, "Node");
  return value as unknown as Node;
}

function wrong(value: unknown, wanted: string): Error {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return new Error(`json: cannot unmarshal ${kind} into Go value of type ${wanted}`);
}
