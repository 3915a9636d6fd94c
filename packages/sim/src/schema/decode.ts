/**
 * From what a client sends to what the server understands: a copy with known fields only, in the form in which the real
 * server would write it again. That one is written in Go, so `null` counts as nothing, what is empty is left out or is
 * always there as the kind's structs have it, and quantities and times come out in their canonical form.
 *
 * Every write passes here, so it is one pass over what was given, and says where it is only when somebody has to know.
 */
import { type AnyObject, define, isObject, type JsonObject } from "../api/json.ts";
import { badRequest, type Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import { pruned } from "./prune.ts";
import { copyIn, hasOwnJson, isValue, Reading, type Step } from "./reading.ts";
import { scalarIn, Unreadable, WRONG_TYPE } from "./scalars.ts";
import type { SchemaNode } from "./schema.ts";

/**
 * A copy of a client's object with known fields only; the paths of the others are added to `unknown`.
 *
 * @param stored - What the object is now: the very parts of it that come back are understood already, and are not copied.
 */
export function decode(given: JsonObject, resource: Resource, unknown: string[], stored?: JsonObject): AnyObject {
  try {
    const object = resource.custom
      ? pruned(given, resource.schema, unknown, stored)
      : objectIn(given, resource.schema, new Reading(resource.schema, unknown), stored);
    object.metadata ??= {};
    return object as AnyObject;
  } catch (error) {
    if (error instanceof Unreadable) throw unreadable(error, resource);
    throw error;
  }
}

/** The same for what is not a resource's object: the body of a subresource, options, metadata. */
export function decodePart(given: JsonObject, schema: SchemaNode, unknown: string[]): JsonObject {
  return objectIn(given, schema, new Reading(schema, unknown));
}

/** How the server says that it cannot read what it was given. */
export function unreadable({ message }: Unreadable, { kind, version }: Pick<Resource, "kind" | "version">): Refusal {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${message}`);
}

const NO_FIELDS: Readonly<Record<string, SchemaNode>> = Object.create(null);
const NONE: readonly string[] = [];

function objectIn(given: JsonObject, node: SchemaNode, reading: Reading, stored?: JsonObject): JsonObject {
  const { fields = NO_FIELDS, always = NONE } = node;
  const result: JsonObject = {};
  for (const key in given) {
    const value = given[key];
    const field = fields[key];
    if (field === undefined) {
      if (isValue(value)) reading.noteUnknown(key);
      continue;
    }
    const before = stored?.[key];
    const read = value === before && before !== undefined ? value : valueIn(value, field, key, reading, before);
    if (read !== undefined) result[key] = read;
  }
  for (let index = 0; index < always.length; index++) {
    const key = always[index] as string;
    if (result[key] === undefined) result[key] = nothing(fields[key] as SchemaNode);
  }
  return result;
}

/** `undefined` for nothing. */
function valueIn(value: unknown, node: SchemaNode, step: Step, reading: Reading, stored?: unknown): unknown {
  switch (node.type) {
    case "string":
      if (typeof value === "string" && node.format === undefined) {
        return value === "" && node.empty === "dropped" ? undefined : value;
      }
      break;
    case "boolean":
      if (typeof value === "boolean") return value || node.empty !== "dropped" ? value : undefined;
      break;
    case "object":
      if (isObject(value)) {
        reading.enter(step);
        const object = objectIn(value, node, reading, isObject(stored) ? stored : undefined);
        reading.leave();
        return object;
      }
      break;
    case "map":
      if (isObject(value)) return mapIn(value, node, step, reading);
      break;
    case "array":
      if (Array.isArray(value)) return arrayIn(value, node, step, reading, Array.isArray(stored) ? stored : NONE);
      break;
    case "any":
      if (isValue(value) && value !== null) return anyIn(value, node, step, reading);
      break;
  }
  if (value === null || !isValue(value)) return undefined;
  if (hasOwnJson(value)) return valueIn(value.toJSON(), node, step, reading);
  const scalar = scalarIn(value, node);
  if (scalar === WRONG_TYPE) throw wrongType(value, node, step, reading);
  return scalar;
}

function mapIn(given: JsonObject, node: SchemaNode, step: Step, reading: Reading): JsonObject | undefined {
  const element = node.element as SchemaNode;
  const result: JsonObject = {};
  let isEmpty = true;
  reading.enter(step);
  for (const key in given) {
    const value = given[key];
    if (!isValue(value)) continue;
    isEmpty = false;
    define(result, key, valueIn(value, element, key, reading) ?? nothing(element));
  }
  reading.leave();
  return isEmpty && node.empty ? undefined : result;
}

function arrayIn(
  given: readonly unknown[],
  node: SchemaNode,
  step: Step,
  reading: Reading,
  stored: readonly unknown[],
): unknown[] | undefined {
  if (given.length === 0 && node.empty) return undefined;
  const element = node.element as SchemaNode;
  const result: unknown[] = [];
  reading.enter(step);
  for (let index = 0; index < given.length; index++) {
    const [value, before] = [given[index], stored[index]];
    const isKnown = value === before && before !== undefined;
    result.push(isKnown ? value : (valueIn(value, element, index, reading, before) ?? nothing(element)));
  }
  reading.leave();
  return result;
}

function anyIn(value: unknown, node: SchemaNode, step: Step, { root, trail }: Reading): unknown {
  const { alternatives } = node;
  const alternative = Array.isArray(value) ? alternatives?.array : isObject(value) ? alternatives?.object : undefined;
  // The real server reads these apart from the rest, and does not tell of what it does not know in there.
  if (alternative) return valueIn(value, alternative, step, new Reading(root, [], trail));
  return copyIn(value, trail.length);
}

/** What Go has where nothing was given. */
function nothing(node: SchemaNode): unknown {
  if (node.empty === "null") return null;
  switch (node.type) {
    case "object":
      return objectIn({}, node, UNUSED);
    case "string":
      if (node.format === "quantity") return "0";
      if (node.format === "byte") return node.empty ? null : "";
      return node.format === "date-time" || node.format === "micro-time" ? null : "";
    case "integer":
    case "number":
    case "intOrString":
      return 0;
    case "boolean":
      return false;
    default:
      return null;
  }
}

const UNUSED = new Reading({ type: "any" });

/** In the words of Go: the struct, the path of the field without indexes and keys, and the type that it has there. */
function wrongType(value: unknown, node: SchemaNode, step: Step, { root, trail }: Reading): Unreadable {
  const path: string[] = [];
  let [struct, place]: (SchemaNode | undefined)[] = [root, root];
  for (const each of [...trail, step]) {
    if (place?.type === "any")
      place = typeof each === "number" ? place.alternatives?.array : place.alternatives?.object;
    if (place?.type === "object") {
      struct = place;
      path.push(String(each));
      place = place.fields?.[each];
    } else place = place?.element;
  }
  const field = `Go struct field ${struct?.name?.split(".").at(-1)}.${path.join(".")}`;
  return new Unreadable(`json: cannot unmarshal ${jsonType(value)} into ${field} of type ${goType(node)}`);
}

/** What JSON calls it, as Go says it. */
function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number")
    return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? "number" : `number ${value}`;
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** What Go calls it. */
function goType({ type, name, format, element }: SchemaNode): string {
  switch (type) {
    case "object":
      return name?.split(".").slice(-2).join(".") ?? "struct {}";
    case "array":
      return `[]${goType(element as SchemaNode)}`;
    case "map":
      return `map[string]${goType(element as SchemaNode)}`;
    case "integer":
      return format === "int32" ? "int32" : "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    case "intOrString":
      return "int32";
    default:
      return "string";
  }
}
