/** JSON merge patches (RFC 7396): fields as they shall be, `null` takes one away, lists are replaced. */
import { define, isObject, type JsonObject } from "../api/json.ts";

/** A document after a patch. Neither is changed; the result shares with both whatever it has of them as it was. */
export function mergePatched(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  if (!isObject(document)) return withoutNulls(patch);
  let result = document;
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const before = Object.hasOwn(document, key) ? document[key] : undefined;
    if (value === null) {
      if (before === undefined) continue;
      if (result === document) result = { ...document };
      delete result[key];
      continue;
    }
    const after = merged(before, value);
    if (after === before) continue;
    if (result === document) result = { ...document };
    define(result, key, after);
  }
  return result;
}

/** Lists are taken without the nulls in them, unless they take the place of an object: so does the real server. */
function merged(before: unknown, patch: unknown): unknown {
  return isObject(before) ? mergePatched(before, patch) : withoutNulls(patch);
}

/** What a patch says of something that was not there. Items of lists stay, also those that are `null`. */
function withoutNulls(patch: unknown): unknown {
  if (Array.isArray(patch)) {
    const items = patch.map(withoutNulls);
    return items.every((item, index) => item === patch[index]) ? patch : items;
  }
  if (!isObject(patch)) return patch;
  let result: JsonObject = patch;
  for (const [key, value] of Object.entries(patch)) {
    const kept = value === null ? null : withoutNulls(value);
    if (kept !== null && kept === value) continue;
    if (result === patch) result = { ...patch };
    if (kept === null) delete result[key];
    else define(result, key, kept);
  }
  return result;
}
