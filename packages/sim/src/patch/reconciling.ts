/** What becomes of owners when the definition of a custom resource changes: a list or map may have become one thing. */
import type { Resource } from "../api/resource.ts";
import type { SchemaNode } from "../schema/schema.ts";
import type { FieldSet } from "./field-set.ts";
import type { Owners, Ownership } from "./managers.ts";
import { fieldName, type PathElement } from "./path-element.ts";
import { fieldNode, rootOf, shapeOf } from "./shape.ts";

/** Whoever owned something of what is now one thing owns all of it. What was one thing, and is no more, stays as it is. */
export function reconciled(owners: Owners, resource: Resource): Owners {
  const root = rootOf(resource);
  const entries = [...owners].map(([identity, ownership]): [string, Ownership] => {
    const fields = asWholes(ownership.fields, root);
    return [identity, fields === ownership.fields ? ownership : { ...ownership, fields }];
  });
  return entries.every(([identity, ownership]) => owners.get(identity) === ownership) ? owners : new Map(entries);
}

function asWholes(set: FieldSet, node: SchemaNode): FieldSet {
  let { members, children } = set;
  for (const [element, inner] of set.children) {
    const next = nodeAt(node, element);
    if (!next) continue;
    const isWhole = isOneThing(next);
    const rest = isWhole ? undefined : asWholes(inner, next);
    if (rest === inner) continue;
    const others = new Map(children);
    if (rest) others.set(element, rest);
    else others.delete(element);
    children = others;
    if (isWhole) members = new Set([...members, element]);
  }
  return members === set.members && children === set.children ? set : { members, children };
}

function isOneThing(node: SchemaNode): boolean {
  const { scalar, map, list } = shapeOf(node);
  // Where anything may be, nothing is known of what there was.
  if (scalar) return false;
  return map?.atomic ?? list?.type === "atomic";
}

function nodeAt(node: SchemaNode, element: PathElement): SchemaNode | undefined {
  const { map, list } = shapeOf(node);
  const name = fieldName(element);
  return name === undefined ? list?.element : map && fieldNode(map, name);
}
