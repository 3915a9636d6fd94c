/** Sets of fields as `managedFields` shows them: `{"f:spec":{"f:replicas":{}}}`. */
import { define, frozen, isObject, type JsonObject } from "../api/json.ts";
import { EMPTY, type FieldSet, isEmpty } from "./field-set.ts";
import { compareElements, type PathElement, parsedElement } from "./path-element.ts";

const known = new WeakMap<FieldSet, JsonObject>();

/** A set as it is shown, frozen. Many objects have owners of the same sets, so each is made once. */
export function fieldsV1(set: FieldSet): JsonObject {
  let fields = known.get(set);
  if (!fields) {
    fields = frozen(shown(set, false));
    known.set(set, fields);
  }
  return fields;
}

/** "." stands for the field itself where something below it is in the set, too. */
function shown(set: FieldSet, includesItself: boolean): JsonObject {
  const result: JsonObject = includesItself && !isEmpty(set) ? { ".": {} } : {};
  const elements = new Set([...set.members, ...set.children.keys()]);
  for (const element of [...elements].sort(compareElements)) {
    const children = set.children.get(element);
    define(result, element, children ? shown(children, set.members.has(element)) : {});
  }
  return result;
}

/**
 * A set from what is shown of it.
 *
 * @throws A `SyntaxError` if it is none.
 */
export function fromFieldsV1(fields: unknown): FieldSet {
  return read(fields).set;
}

function read(fields: unknown): { readonly set: FieldSet; readonly isMember: boolean } {
  // The real server reads `null` as nothing, and so does whoever reads with it.
  if (fields === null || fields === undefined) return { set: EMPTY, isMember: true };
  if (!isObject(fields)) throw new SyntaxError("ReadMapCB: expect { or n");
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  let isMember = false;
  for (const [key, value] of Object.entries(fields)) {
    if (key === ".") {
      isMember = true;
      continue;
    }
    const element = parsedElement(key);
    if (element === undefined) continue;
    const inner = read(value);
    if (inner.isMember) members.add(element);
    if (!isEmpty(inner.set)) children.set(element, inner.set);
  }
  const set = { members, children };
  return { set, isMember: isMember || isEmpty(set) };
}
