/** Takes fields out of an object that nobody wants any more. */
import { define, isObject, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { below, difference, type FieldSet, intersection, isEmpty, union } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { fieldElement, fieldName, type PathElement } from "./path-element.ts";
import { ANYTHING, fieldNode, formOf, itemElement, type ListShape, type MapShape, shapeOf } from "./shape.ts";

/**
 * What is left of an object after somebody no longer applies some fields: those that he applied last time are gone, unless
 * somebody owns them now.
 *
 * @param last - What he owned after he applied the last time.
 * @param owned - What anybody owns now, he included.
 */
export function pruned(object: unknown, node: SchemaNode, last: FieldSet, owned: FieldSet): unknown {
  if (isEmpty(last)) return object;
  const named = (set: FieldSet) => withNamedFields(set, node);
  const all = named(fieldsOf(object, node));
  const without = removed(object, named(last), node);
  const kept = union(named(fieldsOf(without, node)), named(owned));
  // First whatever somebody owns comes back, then whatever was not his to remove.
  const restored = removed(object, difference(all, kept), node);
  const gone = difference(all, named(fieldsOf(restored, node)));
  return removed(object, intersection(gone, named(last)), node);
}

/** The fields of a kind count as being in the set if something below them is; the entries of maps and lists do not. */
function withNamedFields(set: FieldSet, node: SchemaNode): FieldSet {
  if (set.children.size === 0) return set;
  const { map, list } = shapeOf(node);
  const members = new Set(set.members);
  const children = new Map<PathElement, FieldSet>();
  for (const [element, inner] of set.children) {
    const name = fieldName(element);
    if (name !== undefined && map && Object.hasOwn(map.fields, name)) members.add(element);
    const innerNode = name !== undefined ? map && fieldNode(map, name) : list?.element;
    children.set(element, withNamedFields(inner, innerNode ?? NOTHING));
  }
  return { members, children };
}

/** A place without fields of its own. */
const NOTHING: SchemaNode = { type: "string" };

/** A value without some of its fields; `undefined` if nothing is left of it. */
export function removed(value: unknown, fields: FieldSet, node: SchemaNode): unknown {
  const form = formOf(shapeOf(node), value);
  if (typeof form === "string") return value;
  if (form.kind === "map") return isObject(value) ? withoutFields(form, value, fields) : null;
  return Array.isArray(value) ? withoutItems(form, value, fields) : null;
}

function withoutFields(form: MapShape, object: JsonObject, fields: FieldSet): unknown {
  if (form.atomic) return null;
  const result: JsonObject = {};
  let [count, same] = [0, true];
  for (const [name, value] of Object.entries(object)) {
    const element = fieldElement(name);
    if (fields.members.has(element)) {
      same = false;
      continue;
    }
    const inner = below(fields, element);
    const rest = isEmpty(inner) ? value : removed(value, inner, fieldNode(form, name) ?? ANYTHING);
    same &&= rest === value;
    define(result, name, rest);
    count++;
  }
  return same && count > 0 ? object : count > 0 ? result : null;
}

function withoutItems(form: ListShape, list: readonly unknown[], fields: FieldSet): unknown {
  if (form.type === "atomic") return null;
  const result: unknown[] = [];
  for (const item of list) {
    const element = itemElement(form, item);
    if (fields.members.has(element)) continue;
    const inner = below(fields, element);
    result.push(isEmpty(inner) ? item : removed(item, inner, form.element));
  }
  if (result.length === 0) return null;
  return result.length === list.length && result.every((item, index) => item === list[index]) ? list : result;
}
