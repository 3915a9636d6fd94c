/** What the ways to read a client's object have in common: where they are, what they met, and what counts as JSON. */
import { define, type JsonObject } from "../api/json.ts";
import { Unreadable } from "./scalars.ts";
import type { SchemaNode } from "./schema.ts";

/** How deep objects may be. The real server's limit is 10,000, which nobody needs and no stack of ours would bear. */
const MAX_DEPTH = 500;
/** The real server tells of no more. */
const MAX_UNKNOWN = 100;

/** A step into an object: a field or the key of a map, or the index of an item. */
export type Step = string | number;

/** Where a reading is, and what it met. */
export class Reading {
  /** The paths of fields that nobody knows. */
  readonly unknown: string[];
  readonly trail: Step[];
  /** What it began with. */
  readonly root: SchemaNode;

  constructor(root: SchemaNode, unknown: string[] = [], trail: Step[] = []) {
    this.root = root;
    this.unknown = unknown;
    this.trail = trail;
  }

  enter(step: Step): void {
    this.trail.push(step);
    if (this.trail.length > MAX_DEPTH) throw new Unreadable("exceeded max depth");
  }

  leave(): void {
    this.trail.pop();
  }

  noteUnknown(field: string): void {
    if (this.unknown.length < MAX_UNKNOWN) this.unknown.push(pathText([...this.trail, field]));
  }
}

/** "spec.containers[0].name" */
export function pathText(steps: readonly Step[]): string {
  let path = "";
  for (const step of steps) path += typeof step === "number" ? `[${step}]` : path === "" ? step : `.${step}`;
  return path;
}

/** What a value is as JSON, whatever it is. */
export function copyIn(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new Unreadable("exceeded max depth");
  if (hasOwnJson(value)) return copyIn(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map((item) => (isValue(item) ? copyIn(item, depth + 1) : null));
  const result: JsonObject = {};
  for (const key in value) {
    const field = (value as JsonObject)[key];
    if (isValue(field)) define(result, key, copyIn(field, depth + 1));
  }
  return result;
}

/** Whether it is something in JSON; what is not is left out of objects. */
export function isValue(value: unknown): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}

/** Dates and quantities say themselves how they look in JSON. */
export function hasOwnJson(value: unknown): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown })?.toJSON === "function";
}
