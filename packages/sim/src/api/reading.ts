/** Reads fields of objects whose shape nobody vouches for: what is not there, or is something else, counts as empty. Pure. */
import { isObject, type JsonObject } from "./json.ts";

export function at(value: unknown, ...path: readonly string[]): unknown {
  let present = value;
  for (const field of path) {
    if (!isObject(present) || !Object.hasOwn(present, field)) return undefined;
    present = present[field];
  }
  return present ?? undefined;
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
}

/** A quantity, or what may be a number or a text. */
export function anyTextAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}

/** The objects of a list. */
export function itemsAt(value: unknown, ...path: readonly string[]): JsonObject[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The texts of a list. */
export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
}

export function mapAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

export function lengthAt(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.length : isObject(found) ? Object.keys(found).length : 0;
}

/** The status of the condition of a type; "" if there is none. */
export function conditionAt(object: unknown, type: string): string {
  const found = itemsAt(object, "status", "conditions").find((condition) => condition.type === type);
  return textAt(found, "status");
}
