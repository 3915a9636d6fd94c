/** What is filled in when it is left out. */
import { type AnyObject, copyOf, define, isObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import type { SchemaNode } from "./schema.ts";
import { partsOf, somewhere } from "./walk.ts";

/** Fills in, in place: by the schema if the resource is a custom one, else by the kind's own rules. */
export function defaulted(object: AnyObject, { rules, custom, schema }: Resource): void {
  if (custom) fillIn(object, schema);
  rules.default?.(object);
  if (object.status) rules.defaultStatus?.(object);
}

/** Fills in what a schema has defaults for, wherever there is a place for it: nothing is made only to hold a default. */
export function fillIn(value: unknown, node: SchemaNode): void {
  if (typeof value !== "object" || value === null || !hasDefaults(node)) return;
  if (Array.isArray(value)) {
    if (node.type === "array" && node.element) fillInAll(value, value.keys(), node.element);
    return;
  }
  if (!isObject(value)) return;
  for (const key in node.fields) {
    const field = node.fields[key] as SchemaNode;
    if (field.default !== undefined && (!Object.hasOwn(value, key) || isMissing(value[key], field))) {
      define(value, key, copyOf(field.default));
    }
    if (Object.hasOwn(value, key)) fillIn(value[key], field);
  }
  if (node.type === "map" && node.element) fillInAll(value, Object.keys(value), node.element);
}

function fillInAll(values: object, keys: Iterable<string | number>, element: SchemaNode): void {
  const entries = values as Record<string | number, unknown>;
  for (const key of keys) {
    if (isMissing(entries[key], element) && element.default !== undefined) entries[key] = copyOf(element.default);
    fillIn(entries[key], element);
  }
}

/** `null` says that something is to be as if it were not there, unless it is allowed to be `null`. */
function isMissing(value: unknown, { nullable }: SchemaNode): boolean {
  return value === null && !nullable;
}

const hasDefaults = somewhere((node) => partsOf(node).some((part) => part.default !== undefined));
