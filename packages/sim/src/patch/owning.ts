/** The rules of ownership: what everybody owns after a write, from what everybody owned before it. Pure. */
import type { JsonObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import { type Comparison, compare, without } from "./comparison.ts";
import { difference, differenceBelow, EMPTY, type FieldSet, isEmpty, setOf, union } from "./field-set.ts";
import { capped, identityOf, type Owners, type Ownership, type Writer } from "./managers.ts";
import { fieldElement } from "./path-element.ts";
import { resetFields } from "./reset-fields.ts";
import { rootOf } from "./shape.ts";

const METADATA = fieldElement("metadata");
const OF_THE_SERVER = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
];

/** Nobody owns these: they are what an object is, or the server's affair. */
const NEVER_OWNED = setOf(
  [fieldElement("apiVersion")],
  [fieldElement("kind")],
  [METADATA],
  ...OF_THE_SERVER.map((field) => [METADATA, fieldElement(field)]),
);

/** Fields without what this way of writing cannot change. */
export function changeable(fields: FieldSet, resource: Resource, { subresource }: Writer): FieldSet {
  return differenceBelow(fields, resetFields(resource, subresource));
}

/** Fields without what nobody owns. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, NEVER_OWNED);
}

/** What differs by a write, as far as this way of writing can change it. */
export function changesOf(before: unknown, after: unknown, resource: Resource, { subresource }: Writer): Comparison {
  return without(compare(before, after, rootOf(resource)), resetFields(resource, subresource));
}

/** After a write that was not an apply: whoever writes a field owns it, alone. */
export function afterUpdate(
  owners: Owners,
  before: JsonObject,
  after: JsonObject,
  resource: Resource,
  writer: Writer,
  time: string,
): Owners {
  const { added, modified, removed } = changesOf(before, after, resource, writer);
  const changed = union(modified, added);
  if (isEmpty(changed) && isEmpty(removed)) return owners;
  const taken = ownable(changed);
  const identity = identityOf(writer);
  const result = withoutOthers(owners, changed, removed, identity);
  const own = union(difference(owners.get(identity)?.fields ?? EMPTY, removed), taken);
  if (isEmpty(own)) result.delete(identity);
  // His time is that of his last change, not of a removal; and there is none if he only scales, as in the real server.
  else if (!isEmpty(taken)) {
    const since = writer.subresource === "scale" ? owners.get(identity)?.time : time;
    result.set(identity, { ...writer, fields: own, ...(since !== undefined && { time: since }) });
  } else result.set(identity, { ...(owners.get(identity) as Ownership), fields: own });
  return capped(result);
}

/** What everybody but one owns when that one has changed and removed fields; whoever owns nothing then is gone. */
export function withoutOthers(
  owners: Owners,
  changed: FieldSet,
  removed: FieldSet,
  except: string,
): Map<string, Ownership> {
  const result = new Map<string, Ownership>();
  for (const [identity, ownership] of owners) {
    const { fields } = ownership;
    const rest = identity === except ? fields : difference(difference(fields, changed), removed);
    if (!isEmpty(rest)) result.set(identity, rest === fields ? ownership : { ...ownership, fields: rest });
  }
  return result;
}
