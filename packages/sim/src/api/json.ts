/** Objects as JSON has them: how they are copied, compared, shared and frozen. Pure, and quick: every write passes here. */
import type { KubernetesObject } from "@berth/kube";

/** An object of any kind, with whatever fields. */
export interface AnyObject extends KubernetesObject {
  [field: string]: unknown;
}

/** What stands between braces. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a value is as JSON, and nothing of it shared with the caller: fields that are `undefined` are left out. */
export function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : copyOf(item))) as T;
  if (value instanceof Date) return value.toISOString() as T;
  const copy: JsonObject = {};
  for (const key in value) {
    const field = (value as JsonObject)[key];
    if (field !== undefined && typeof field !== "function") define(copy, key, copyOf(field));
  }
  return copy as T;
}

/** Sets a field, also one by the name "__proto__", which must stay a name like any other. */
export function define(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Nobody can change it any more. What is frozen already is taken to be frozen all through. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) frozen(value[key]);
  return value;
}

/** `after`, with whatever in it is equal to `before` replaced by that of `before`: if all is, it is `before` itself. */
export function shared<T>(before: unknown, after: T): T {
  if (before === after || typeof before !== "object" || typeof after !== "object" || !before || !after) return after;
  if (Array.isArray(after)) return Array.isArray(before) ? (sharedList(before, after) as T) : after;
  if (Array.isArray(before)) return after;
  const [old, fresh] = [before as JsonObject, after as JsonObject];
  // Lists of keys and indices, and not for-in: every write passes here, and this is five times as quick.
  const keys = Object.keys(fresh);
  let same = true;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const known = Object.hasOwn(old, key) ? old[key] : undefined;
    const given = fresh[key];
    const value = shared(known, given);
    if (value !== known) same = false;
    if (value !== given) fresh[key] = value;
  }
  return same && Object.keys(old).length === keys.length ? (before as T) : after;
}

function sharedList(old: unknown[], fresh: unknown[]): unknown[] {
  let same = old.length === fresh.length;
  for (let index = 0; index < fresh.length; index++) {
    const [known, given] = [old[index], fresh[index]];
    const value = shared(known, given);
    if (value !== known) same = false;
    if (value !== given) fresh[index] = value;
  }
  return same ? old : fresh;
}

/** Whether two values are the same as JSON. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as JsonObject, b as JsonObject];
  let fields = 0;
  for (const key in left) {
    fields++;
    if (!Object.hasOwn(right, key) || !equal(left[key], right[key])) return false;
  }
  for (const _ in right) fields--;
  return fields === 0;
}
