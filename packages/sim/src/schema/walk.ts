/** Schemas as trees. */
import type { SchemaNode } from "./schema.ts";

/** What stands directly inside of a place. */
export function partsOf({ fields, element }: SchemaNode): readonly SchemaNode[] {
  return [...Object.values(fields ?? {}), ...(element ? [element] : [])];
}

/**
 * Tells of a place whether it or anything inside of it is of some sort, and remembers it: most parts of most schemas are
 * of no interest, and are not even looked at. Only for schemas that do not contain themselves.
 */
export function somewhere(is: (node: SchemaNode) => boolean): (node: SchemaNode) => boolean {
  const known = new WeakMap<SchemaNode, boolean>();
  const answer = (node: SchemaNode): boolean => {
    let found = known.get(node);
    if (found === undefined) {
      found = is(node) || partsOf(node).some(answer);
      known.set(node, found);
    }
    return found;
  };
  return answer;
}
