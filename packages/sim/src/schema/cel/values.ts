/** Values as CEL has them: whole numbers are bigints, texts with some formats are times, maps are maps. */
import { isObject } from "../../api/json.ts";
import type { SchemaNode } from "../schema.ts";
import { escaped } from "./names.ts";

/** What the classes of objects are, which is how CEL tells their types. */
export interface CelTypes {
  /** `undefined` for what rules cannot see. */
  classOf(node: SchemaNode): (new () => Record<string, unknown>) | undefined;
  duration(text: string): unknown;
}

/** A value of a custom resource, for rules to look at. */
export function celValue(value: unknown, node: SchemaNode, types: CelTypes): unknown {
  if (value === null || value === undefined) return null;
  switch (node.type) {
    case "integer":
      return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
    case "intOrString":
      return typeof value === "number" ? BigInt(value) : value;
    case "string":
      return typeof value === "string" ? textValue(value, node.format, types) : value;
    case "array":
      return Array.isArray(value) && node.element ? listValue(value, node, node.element, types) : value;
    case "map": {
      if (!isObject(value) || !node.element) return value;
      const map = new Map<string, unknown>();
      for (const key in value) map.set(key, celValue(value[key], node.element, types));
      return map;
    }
    case "object":
      return isObject(value) ? objectValue(value, node, types) : value;
    default:
      return value;
  }
}

/** Sets of scalars are sets to CEL, too: their order makes no difference. */
function listValue(items: readonly unknown[], { listType }: SchemaNode, element: SchemaNode, types: CelTypes): unknown {
  const values = items.map((item) => celValue(item, element, types));
  const isScalar = !["object", "map", "array", "any"].includes(element.type);
  return listType === "set" && isScalar ? new Set(values) : values;
}

function objectValue(value: Record<string, unknown>, node: SchemaNode, types: CelTypes): unknown {
  const Class = types.classOf(node);
  if (!Class) return value;
  const object = new Class();
  for (const key in node.fields) {
    // What is null counts as not there.
    if (!Object.hasOwn(value, key) || value[key] === null) continue;
    const name = escaped(key);
    if (name !== undefined) object[name] = celValue(value[key], node.fields[key] as SchemaNode, types);
  }
  return object;
}

function textValue(text: string, format: string | undefined, types: CelTypes): unknown {
  switch (format) {
    case "date":
    case "date-time":
      return new Date(Date.parse(text));
    case "duration":
      return types.duration(text);
    case "byte":
      return new Uint8Array(Buffer.from(text, "base64"));
    default:
      return text;
  }
}

/** Whether two values are the same to CEL. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && sameValue(value, b.get(key)));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
  }
  return false;
}

const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** Negative, zero or positive, as for `sort`. */
export function compared(a: unknown, b: unknown): number {
  const [left, right] = [comparable(a), comparable(b)];
  if (typeof left === "string" && typeof right === "string")
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

function comparable(value: unknown): string | number | bigint {
  if (typeof value === "string" || isNumber(value)) return value;
  if (value instanceof Date) return value.getTime();
  return value === true ? 1 : value === false ? 0 : Number(value);
}
