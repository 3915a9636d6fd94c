/**
 * A custom resource's object with the fields that its definition knows: what the real server calls pruning. Types are not
 * looked at, since validation has better words for them; only metadata is read as strictly as that of any object.
 */
import { define, isObject, type JsonObject } from "../api/json.ts";
import { objectMeta } from "./builtin-schemas.ts";
import { decodePart } from "./decode.ts";
import { copyIn, hasOwnJson, isValue, pathText, Reading } from "./reading.ts";
import { Unreadable } from "./scalars.ts";
import type { SchemaNode } from "./schema.ts";

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);

/**
 * A copy; the paths of the fields that are not in it are added to `unknown`, in the order of the real server.
 *
 * @param stored - What the object is now: the very parts of it that come back were pruned before, and are not copied.
 */
export function pruned(given: JsonObject, schema: SchemaNode, unknown: string[], stored?: JsonObject): JsonObject {
  const reading = new Reading(schema);
  const keepsUnknown = schema.preserveUnknown === true;
  const result = objectIn(given, schema, reading, { isRoot: true, keepsUnknown, stored });
  // What is said of metadata comes first there.
  const ofMetadata = reading.unknown.filter((path) => path.startsWith("metadata."));
  const others = reading.unknown.filter((path) => !path.startsWith("metadata."));
  unknown.push(...ofMetadata, ...others.sort());
  return result;
}

interface How {
  readonly isRoot?: boolean;
  readonly keepsUnknown: boolean;
  readonly stored?: JsonObject | undefined;
}

function objectIn(given: JsonObject, node: SchemaNode | undefined, reading: Reading, how: How): JsonObject {
  const result: JsonObject = {};
  const isResource = how.isRoot || node?.embedded;
  for (const key in given) {
    const value = given[key];
    if (!isValue(value)) continue;
    if (how.stored && typeof value === "object" && value !== null && value === how.stored[key]) {
      result[key] = value;
      continue;
    }
    if (isResource && META_FIELDS.has(key)) {
      const read = metaFieldIn(key, value, reading);
      if (read !== undefined) result[key] = read;
      continue;
    }
    const field = node?.fields?.[key] ?? (node?.type === "map" ? node.element : undefined);
    if (field === undefined && node?.type !== "map") {
      if (how.keepsUnknown) define(result, key, copyIn(value));
      else reading.noteUnknown(key);
      continue;
    }
    // Nothing is nothing, unless it is allowed to be there, or makes room for a default.
    if (value === null && field && !field.nullable && field.default === undefined) continue;
    reading.enter(key);
    define(result, key, valueIn(value, field, reading, false));
    reading.leave();
  }
  return result;
}

/** @param keepsUnknown - As what surrounds it does; fields that are known are asked anew. */
function valueIn(value: unknown, node: SchemaNode | undefined, reading: Reading, keepsUnknown: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (hasOwnJson(value)) return copyIn(value);
  const keeps = keepsUnknown || node?.preserveUnknown === true;
  if (!Array.isArray(value)) return objectIn(value as JsonObject, node, reading, { keepsUnknown: keeps });
  const items = node?.type === "array" ? node.element : undefined;
  if (keeps && items === undefined) return copyIn(value);
  return value.map((item, index) => {
    reading.enter(index);
    const read = isValue(item) ? valueIn(item, items, reading, keeps) : null;
    reading.leave();
    return read;
  });
}

function metaFieldIn(key: string, value: unknown, reading: Reading): unknown {
  if (key !== "metadata") {
    if (typeof value === "string") return value;
    throw new Unreadable(
      `${pathText([...reading.trail, key])}: Invalid value: ${JSON.stringify(value)}: must be a string`,
    );
  }
  if (value === null) return {};
  if (!isObject(value)) {
    throw new Unreadable(`json: cannot unmarshal ${typeof value} into Go value of type v1.ObjectMeta`);
  }
  const unknown: string[] = [];
  const metadata = decodePart(value, objectMeta(), unknown);
  for (const path of unknown) reading.unknown.push(`${pathText([...reading.trail, "metadata"])}.${path}`);
  return metadata;
}
