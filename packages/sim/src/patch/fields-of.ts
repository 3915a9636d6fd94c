/** Which fields a configuration mentions: what somebody owns who applies it. */
import { isObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { byElement } from "./comparison.ts";
import { type FieldSet, FieldSetBuilder } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { ANYTHING, fieldNode, formOf, type ListShape, type MapShape, shapeOf } from "./shape.ts";

export function fieldsOf(value: unknown, node: SchemaNode): FieldSet {
  const builder = new FieldSetBuilder();
  collect(value, node, [], builder);
  return builder.set;
}

function collect(value: unknown, node: SchemaNode, path: PathElement[], set: FieldSetBuilder): void {
  const form = formOf(shapeOf(node), value);
  if (typeof form === "string") set.add(path);
  else if (form.kind === "map") {
    if (form.atomic) set.add(path);
    else if (isObject(value)) collectFields(form, value, path, set);
  } else if (form.type === "atomic") set.add(path);
  else if (Array.isArray(value)) collectItems(form, value, path, set);
}

function collectFields(form: MapShape, object: object, path: PathElement[], set: FieldSetBuilder): void {
  for (const [name, value] of Object.entries(object)) {
    path.push(fieldElement(name));
    collect(value, fieldNode(form, name) ?? ANYTHING, path, set);
    const bare = value === null || (isObject(value) && Object.keys(value).length === 0);
    // The entries of a map are owned themselves; the fields of a kind are just there.
    if (bare || !Object.hasOwn(form.fields, name)) set.add(path);
    path.pop();
  }
}

function collectItems(form: ListShape, list: readonly unknown[], path: PathElement[], set: FieldSetBuilder): void {
  for (const [element, items] of byElement(form, list)) {
    path.push(element);
    if (items.length === 1) collect(items[0], form.element, path, set);
    set.add(path);
    path.pop();
  }
}
