/** Which item of a list is which item of the list as it was: only lists that are maps by some of their fields can say. */
import { isObject, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "./schema.ts";

/** Finds what an item was; `undefined` if that cannot be told. */
export function correlated(old: unknown, { listType, mapKeys = [], element }: SchemaNode): (item: unknown) => unknown {
  if (listType !== "map" || !Array.isArray(old)) return () => undefined;
  let byKey: Map<string, unknown> | undefined;
  return (item) => {
    if (!isObject(item)) return undefined;
    byKey ??= new Map(old.filter(isObject).map((each) => [keyOf(each, mapKeys, element), each]));
    return byKey.get(keyOf(item, mapKeys, element));
  };
}

/** What identifies an item among the others. */
export function keyOf(item: JsonObject, keys: readonly string[], element: SchemaNode | undefined): string {
  return JSON.stringify(
    keys.map((key) => (Object.hasOwn(item, key) ? item[key] : (element?.fields?.[key]?.default ?? null))),
  );
}
