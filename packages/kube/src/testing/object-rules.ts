/** By which rules objects come to be and change. Pure: an object in, the next version of it out. */
import { isDeepStrictEqual } from "node:util";
import type { ObjectMeta } from "../objects/meta.ts";
import type { StoredObject } from "./history.ts";
import { ApiFailure, badRequest, conflict, invalid, type ResourceName } from "./status.ts";

/** What the server alone decides; whatever a client says about it is ignored. */
const SERVER_FIELDS: ReadonlySet<string> = new Set<keyof ObjectMeta>([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
]);

/** Which part of an object a write is about: its status, or all the rest. */
export type Part = "status" | "main";

/** What must be true of an object for it to be deleted. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** "v1", "batch/v1" */
export function apiVersionOf({ group, version }: ResourceName): string {
  return group ? `${group}/${version}` : version;
}

/** A copy such as a journey over the network makes. */
export function plain(object: unknown): StoredObject {
  return JSON.parse(JSON.stringify(object));
}

/** An object as it begins: without a status, which has to be written by itself. */
export function newObject(
  given: StoredObject,
  type: { readonly apiVersion: string; readonly kind: string },
  server: Pick<ObjectMeta, "uid" | "creationTimestamp">,
): StoredObject {
  const { status: _, ...rest } = given;
  const { name = "", namespace } = given.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }), ...server, generation: 1 };
  return { ...rest, ...type, metadata: mergeMeta(given.metadata, metadata) };
}

/** The object after a write to one of its parts; the same object if that changes nothing. */
export function updatedObject(before: StoredObject, given: StoredObject, part: Part): StoredObject {
  const [main, status] = part === "status" ? [before, given.status] : [given, before.status];
  const { status: _, ...rest } = main;
  const { apiVersion, kind } = before;
  const next = {
    ...rest,
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: mergeMeta(main.metadata, before.metadata),
    ...(status !== undefined && { status }),
  };
  if (isDeepStrictEqual(next, before)) return before;
  if (isDeepStrictEqual(wanted(next), wanted(before))) return next;
  return { ...next, metadata: { ...next.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}

/** The object while it waits for its finalizers. */
export function markedObject(before: StoredObject, time: string): StoredObject {
  const generation = (before.metadata.generation ?? 0) + 1;
  const marks = { deletionTimestamp: time, deletionGracePeriodSeconds: 0, generation };
  return { ...before, metadata: { ...before.metadata, ...marks } };
}

/** Refuses an object that cannot begin to be. */
export function checkCreate(resource: ResourceName, kind: string, { apiVersion, metadata }: StoredObject): void {
  const expected = apiVersionOf(resource);
  if (apiVersion && apiVersion !== expected) {
    const versions = `in the data (${apiVersion}) does not match the expected API version (${expected})`;
    throw badRequest(`the API version ${versions}`);
  }
  if (!metadata.name) {
    const message = "Required value: name or generateName is required";
    throw invalid(resource.group, kind, "", { field: "metadata.name", reason: "FieldValueRequired", message });
  }
  if (metadata.resourceVersion) {
    throw new ApiFailure(500, "resourceVersion should not be set on objects to be created");
  }
}

/** Refuses a write that is meant for another object, or for another version of this one. */
export function checkUpdate(resource: ResourceName, before: StoredObject, given: StoredObject): void {
  const { name = "", uid, resourceVersion, deletionTimestamp, finalizers = [] } = before.metadata;
  const { metadata } = given;
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (metadata.uid && metadata.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`;
    throw conflict(resource, name, why);
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) {
    const why = "the object has been modified; please apply your changes to the latest version and try again";
    throw conflict(resource, name, why);
  }
  const added = metadata.finalizers?.filter((finalizer) => !finalizers.includes(finalizer)) ?? [];
  if (deletionTimestamp && added.length > 0) {
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${added}`;
    const problem = { field: "metadata.finalizers", reason: "FieldValueForbidden", message: `Forbidden: ${why}` };
    throw invalid(resource.group, before.kind ?? "", name, problem);
  }
}

/** Refuses to delete another object, or another version of it, than is meant. */
export function checkDelete(resource: ResourceName, { metadata }: StoredObject, must: Preconditions): void {
  const { name = "", uid, resourceVersion } = metadata;
  for (const [field, wanted, present] of [
    ["UID", must.uid, uid],
    ["ResourceVersion", must.resourceVersion, resourceVersion],
  ]) {
    if (wanted === undefined || wanted === present) continue;
    const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${present})`;
    // The one refusal of this reason that names the kind and not the resource.
    throw conflict({ ...resource, plural: resource.kind ?? resource.plural }, name, why);
  }
}

/** RFC 7396: objects are merged, null removes, everything else takes the place of what was there. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** The client's part of the one and the server's part of the other. Empty lists and maps are left out. */
function mergeMeta(client: ObjectMeta, server: ObjectMeta): ObjectMeta {
  const theirs = Object.entries(client).filter(([field, value]) => !SERVER_FIELDS.has(field) && !isEmpty(value));
  const ours = Object.entries(server).filter(([field]) => SERVER_FIELDS.has(field));
  return Object.fromEntries([...theirs, ...ours]);
}

/** What somebody wants of the object, as against what it is called and how it is. */
function wanted({ metadata: _, status: __, ...rest }: StoredObject): unknown {
  return rest;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
