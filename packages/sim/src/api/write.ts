/**
 * How an object comes to be, and how it changes: what a client sends goes in, what is to be stored comes out, or a refusal.
 * The order of the steps is that of the real API server. Nothing is stored here.
 */
import { decode } from "../schema/decode.ts";
import { defaulted } from "../schema/defaults.ts";
import { validateBySchema } from "../schema/validate.ts";
import { FieldErrors, invalidObject } from "./field-errors.ts";
import { type AnyObject, isObject, shared } from "./json.ts";
import {
  beginMetadata,
  dropRepeatedOwners,
  hasGeneration,
  keepMetadata,
  validateMetadata,
  validateMetadataUpdate,
  wantsChange,
} from "./metadata.ts";
import { badRequest, modified, otherMeant } from "./refusal.ts";
import type { Resource, WriteContext } from "./resource.ts";

/** What becomes of fields that the kind does not have: refused, dropped with a warning, or dropped. */
export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** Which part of an object a write is about. */
export type Part = "main" | "status";

export type Operation = "create" | "update" | "delete";

/** Stands between a client's wish and its object, before the kind's own rules do and after. Writes to the status pass by. */
export interface Admission {
  /** Completes or refuses what is wanted. @param before - What there is, in an update. */
  admit?(object: AnyObject, resource: Resource, context: WriteContext, operation: Operation, before?: AnyObject): void;
  /** Refuses what is complete, and valid in itself. */
  validate?(
    object: AnyObject,
    resource: Resource,
    context: WriteContext,
    operation: Operation,
    before?: AnyObject,
  ): void;
}

/**
 * A client's object as the server understands it: known fields only, nothing shared with the client, defaults filled in.
 *
 * @param stored - What the object is now, if it is.
 */
export function understood(
  given: unknown,
  resource: Resource,
  fieldValidation: FieldValidation,
  context: WriteContext,
  stored?: AnyObject,
): AnyObject {
  const { apiVersion, kind } = resource;
  if (!isObject(given)) throw badRequest(`the body of the request must be a ${kind}`);
  if (given.apiVersion !== undefined && given.apiVersion !== apiVersion) {
    const versions = `in the data (${given.apiVersion}) does not match the expected API version (${apiVersion})`;
    throw badRequest(`the API version ${versions}`);
  }
  if (given.kind !== undefined && given.kind !== kind) {
    throw badRequest(
      `${given.kind} in version "${resource.version}" cannot be handled as a ${kind}: the kind does not match`,
    );
  }
  const unknown: string[] = [];
  const object = decode(given, resource, unknown, resource.rules.leavesFrozen && stored);
  checkKnown(unknown, resource, fieldValidation, context);
  object.apiVersion = apiVersion;
  object.kind = kind;
  if (Object.isFrozen(object.metadata)) object.metadata = { ...object.metadata };
  defaulted(object, resource);
  return object;
}

/**
 * The same for a status whose writer sends everything else back as it was read, which is how the parts of a cluster do it: then
 * there is no more to understand than the status. `undefined` if there is.
 */
export function understoodStatus(
  given: unknown,
  before: AnyObject,
  resource: Resource,
  fieldValidation: FieldValidation,
  context: WriteContext,
): AnyObject | undefined {
  if (resource.custom || !isOnlyStatus(given, before)) return undefined;
  const unknown: string[] = [];
  const { status } = decode({ status: given.status }, resource, unknown, resource.rules.leavesFrozen && before);
  checkKnown(unknown, resource, fieldValidation, context);
  const object = { ...before, metadata: { ...before.metadata }, status };
  resource.rules.defaultStatus?.(object);
  return object;
}

/** Whether an object is what it was, but for a status: the very same parts, and so the very same version. */
export function isOnlyStatus(given: unknown, before: AnyObject): given is AnyObject {
  if (!isObject(given) || given.status === undefined) return false;
  for (const key in given) if (key !== "status" && given[key] !== before[key]) return false;
  for (const key in before) if (key !== "status" && given[key] === undefined) return false;
  return true;
}

/** An object with another status; itself if that is no other. */
export function withStatus(before: AnyObject, given: unknown): AnyObject {
  const status = shared(before.status, given);
  return status === before.status ? before : { ...before, metadata: { ...before.metadata }, status };
}

/** Refuses fields that the kind does not have, or warns of them, as the client wants it. */
function checkKnown(
  unknown: readonly string[],
  { kind, version }: Resource,
  fieldValidation: FieldValidation,
  context: WriteContext,
): void {
  if (unknown.length === 0 || fieldValidation === "Ignore") return;
  const problems = unknown.map((field) => `unknown field "${field}"`);
  if (fieldValidation === "Strict") {
    const why = `strict decoding error: ${problems.join(", ")}`;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
  }
  for (const problem of problems) context.warn(problem);
}

/** What is to be stored for a client's wish that there be an object. */
export function newObject(
  object: AnyObject,
  resource: Resource,
  context: WriteContext,
  admissions: readonly Admission[],
): AnyObject {
  const { rules, hasStatus } = resource;
  if (object.metadata.resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");
  beginMetadata(object, resource, context.time, context.random);
  dropRepeatedOwners(object, context.warn);
  for (const admission of admissions) admission.admit?.(object, resource, context, "create");
  if (hasStatus && !rules.keepsStatus) delete object.status;
  rules.prepareForCreate?.(object, context);
  const errors = new FieldErrors();
  validateMetadata(object, resource, errors);
  if (resource.custom) validateBySchema(object, undefined, resource, errors);
  rules.validate?.(object, errors, context);
  errors.throwIfAny(resource, object.metadata.name ?? "");
  for (const admission of admissions) admission.validate?.(object, resource, context, "create");
  return object;
}

/** What is to be stored for a client's wish that an object be different; `before` itself if it is not. */
export function changedObject(
  object: AnyObject,
  before: AnyObject,
  resource: Resource,
  part: Part,
  context: WriteContext,
  admissions: readonly Admission[] = [],
): AnyObject {
  const { rules, hasStatus } = resource;
  const name = before.metadata.name as string;
  checkMeant(object, before, resource);
  keepMetadata(object, before);
  dropRepeatedOwners(object, context.warn);
  const errors = new FieldErrors();
  let next = object;
  if (part === "status") {
    // Everything else is what it was; of metadata a status write may change labels, annotations and the like, but not of
    // a custom resource.
    next = { ...before, metadata: resource.custom ? { ...before.metadata } : object.metadata };
    if (object.status === undefined) delete next.status;
    else next.status = object.status;
    rules.prepareForStatusUpdate?.(next, before, context);
    validateMetadataUpdate(next, before, resource, errors);
    if (resource.custom) validateBySchema(next, before, resource, errors);
    rules.validateStatusUpdate?.(next, before, errors, context);
  } else {
    for (const admission of admissions) admission.admit?.(next, resource, context, "update", before);
    if (hasStatus) {
      if (before.status === undefined) delete next.status;
      else next.status = before.status;
    }
    rules.prepareForUpdate?.(next, before, context);
    validateMetadataUpdate(next, before, resource, errors);
    if (resource.custom) validateBySchema(next, before, resource, errors);
    rules.validateUpdate?.(next, before, errors, context);
  }
  errors.throwIfAny(resource, name);
  if (part === "main") {
    for (const admission of admissions) admission.validate?.(next, resource, context, "update", before);
  }
  next.metadata.resourceVersion = before.metadata.resourceVersion as string;
  const result = shared(before, next);
  if (result === before) return before;
  if (part === "main" && hasGeneration(resource) && wantsChange(result, before, hasStatus)) {
    result.metadata = { ...result.metadata, generation: (before.metadata.generation ?? 0) + 1 };
  } else if (Object.isFrozen(result.metadata)) {
    result.metadata = { ...result.metadata };
  }
  return result;
}

/** Refuses a write that is meant for another object, or for another version of this one. */
function checkMeant({ metadata }: AnyObject, before: AnyObject, resource: Resource): void {
  const { name = "", namespace, uid, resourceVersion } = before.metadata;
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest(
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${namespace ?? ""})`,
    );
  }
  if (namespace !== undefined) metadata.namespace = namespace;
  if (metadata.uid && metadata.uid !== uid) throw otherMeant(resource, before.metadata, "UID", metadata.uid);
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) throw modified(resource, name);
  if (!metadata.resourceVersion && (resource.rules.needsVersion ?? resource.custom !== undefined)) {
    const field = "metadata.resourceVersion";
    const message = "Invalid value: 0: must be specified for an update";
    // The one refusal of this reason that names the resource and not the kind.
    const named = { group: resource.group, kind: resource.plural };
    throw invalidObject(named, name, [{ reason: "FieldValueInvalid", message, field }]);
  }
}
