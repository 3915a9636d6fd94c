/** Lists that are sets or maps must not have anything twice. */
import type { FieldErrors } from "../api/field-errors.ts";
import { isObject, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "./schema.ts";
import { somewhere } from "./walk.ts";

/** Adds what stands twice in sets and in maps by keys, wherever there are any. */
export function checkListTypes(value: unknown, node: SchemaNode | undefined, path: string, errors: FieldErrors): void {
  if (!node || !hasListTypes(node)) return;
  if (Array.isArray(value)) {
    if (node.listType === "set") checkSet(value, value, path, errors);
    if (node.listType === "map") checkMap(value, node, path, errors);
    if (node.type === "array") {
      for (const [index, item] of value.entries()) checkListTypes(item, node.element, `${path}[${index}]`, errors);
    }
  } else if (isObject(value)) {
    for (const key in value) {
      const field = node.fields?.[key];
      const within = path === "" ? key : `${path}.${key}`;
      if (field) checkListTypes(value[key], field, within, errors);
      else if (node.type === "map") checkListTypes(value[key], node.element, `${path}[${key}]`, errors);
    }
  }
}

/** Each thing that stands twice is told of once, where it stands for the second time. */
function checkSet(keys: readonly unknown[], shown: readonly unknown[], path: string, errors: FieldErrors): void {
  const times = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const text = JSON.stringify(key, sortedKeys);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    if (before === 1) errors.duplicate(`${path}[${index}]`, shown[index]);
  }
}

function checkMap(items: readonly unknown[], { mapKeys = [] }: SchemaNode, path: string, errors: FieldErrors): void {
  const stray = items.findIndex((item) => item !== null && !isObject(item));
  if (stray >= 0) {
    errors.invalid(`${path}[${stray}]`, items[stray], "must be an object for an array of list-type map");
    return;
  }
  const keys = items.map((item) => {
    const present = isObject(item) ? mapKeys.filter((key) => Object.hasOwn(item, key)) : [];
    return Object.fromEntries(present.map((key) => [key, (item as JsonObject)[key]]));
  });
  checkSet(keys, keys, path, errors);
}

/** The order of fields makes no difference. */
function sortedKeys(_: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

const hasListTypes = somewhere(({ listType }) => listType === "set" || listType === "map");
