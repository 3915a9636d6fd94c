/** What requests that change objects say beside the change itself: checked, and worded, as the real API server does. */
import type { ApiRequest } from "@berth/kube";
import { FieldErrors } from "../api/field-errors.ts";
import { type AnyObject, copyOf, define, isObject, type JsonObject } from "../api/json.ts";
import { type Query, text } from "../api/parameters.ts";
import { badRequest, conflict, Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import type { FieldValidation } from "../api/write.ts";
import { defaulted } from "../schema/defaults.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { goText } from "./go-text.ts";
import { givenOwners } from "./managers.ts";
import type { Manager } from "./ownership.ts";
import { unexpected } from "./refusals.ts";

const WHOLE_NUMBER = /^\d+$/;
const LONGEST_MANAGER = 128;
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** Refuses the name of a manager that nobody could read, and what fits another type of patch only. */
export function checkWriteOptions(query: Query, options: string, patchType?: ApiRequest["patchType"]): void {
  const manager = text(query, "fieldManager");
  const hasForce = text(query, "force") !== "";
  // Nearly all requests: what follows is for the others.
  if (patchType !== "apply" && !hasForce && manager.length <= LONGEST_MANAGER && !UNPRINTABLE.test(manager)) return;
  const errors = new FieldErrors();
  if (patchType === "apply") {
    if (manager === "") errors.required("fieldManager", "is required for apply patch");
  } else if (hasForce && patchType !== undefined) {
    errors.forbidden("force", "may not be specified for non-apply patch");
  }
  if (Buffer.byteLength(manager) > LONGEST_MANAGER) errors.tooLong("fieldManager", LONGEST_MANAGER);
  let position = 0;
  for (const character of manager) {
    if (UNPRINTABLE.test(character)) errors.invalid("fieldManager", manager, unprintable(character, position));
    position += Buffer.byteLength(character);
  }
  errors.throwIfAny({ group: "meta.k8s.io", kind: options }, "");
}

function unprintable(character: string, position: number): string {
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
  return `invalid character U+${code} (at position ${position})`;
}

/** A manager with what the client says of owners itself. A subresource has no say in that. */
export function withGiven(manager: Manager, object: unknown, { custom }: Resource): Manager {
  if (manager.subresource !== undefined || !isObject(object) || !isObject(object.metadata)) return manager;
  const { managedFields } = object.metadata;
  const given = managedFields === undefined ? undefined : givenOwners(managedFields, custom !== undefined);
  return given ? { ...manager, given } : manager;
}

/**
 * Understands what came out of a patch. What cannot be understood of it is not a bad request but an invalid patch: the
 * patch itself was good JSON.
 */
export function understoodPatch(
  outcome: unknown,
  request: ApiRequest,
  resource: Resource,
  understand: Understand,
): AnyObject {
  if (!isObject(outcome)) throw invalidPatch(outcome, request, NO_OBJECT);
  checkType(outcome, request, resource);
  try {
    return understand(outcome);
  } catch (error) {
    if (!(error instanceof Refusal) || error.body.code !== 400) throw error;
    throw invalidPatch(outcome, request, (error.body.message ?? "").replace(PLACE, ""));
  }
}

/** A patch cannot make an object of another kind. */
function checkType(outcome: JsonObject, request: ApiRequest, { group, ...resource }: Resource): void {
  const { apiVersion = resource.apiVersion, kind = resource.kind, metadata } = outcome;
  if (apiVersion === resource.apiVersion && kind === resource.kind) return;
  if (!resource.custom) {
    const where = `is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
    throw invalidPatch(outcome, request, `no kind ${JSON.stringify(kind)} ${where}`);
  }
  const errors = new FieldErrors();
  if (kind !== resource.kind) errors.invalid("kind", kind, `must be ${resource.kind}`);
  if (apiVersion !== resource.apiVersion) errors.invalid("apiVersion", apiVersion, `must be ${resource.apiVersion}`);
  const name = isObject(metadata) ? String(metadata.name ?? "") : "";
  errors.throwIfAny({ group: apiVersion === resource.apiVersion ? group : "", kind: String(kind) }, name);
}

const NO_OBJECT =
  "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type " +
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Where a bad request says what it was meant to be. */
const PLACE = /^\S+ in version "[^"]*" cannot be handled as a \S+: /;

function invalidPatch(outcome: unknown, { patchType, body }: ApiRequest, why: string): Refusal {
  const value = patchType === "strategic" ? goText(body) : JSON.stringify(outcome);
  const message = `Invalid value: ${JSON.stringify(value)}: ${why}`;
  const causes = [{ reason: "FieldValueInvalid", message, field: "patch" }];
  return new Refusal(422, "Invalid", ` "" is invalid: patch: ${message}`, { details: { causes } });
}

/** The configuration that is to be applied; nothing counts as an empty one. */
export function configurationIn(body: unknown): JsonObject {
  if (isObject(body)) return body;
  if (body === null || body === undefined) return {};
  const type = Array.isArray(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body;
  const problem = `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${problem}`);
}

/**
 * Understands what came out of an apply. Where a list or map of a custom resource has lost its last field, `null` is left:
 * whether that is allowed is up to the definition. Where the definition says nothing, it is as good as nothing.
 */
export function understoodApplied(object: JsonObject, resource: Resource, understand: Understand): AnyObject {
  if (!resource.custom) return understand(object);
  const { apiVersion, kind, metadata, ...rest } = object;
  const known = withoutFreeNulls(rest, resource.schema) as JsonObject;
  const result = Object.assign(understand({ apiVersion, kind, metadata }), copyOf(known));
  defaulted(result, resource);
  return result;
}

function withoutFreeNulls(value: unknown, node: SchemaNode | undefined): unknown {
  if (!node || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutFreeNulls(item, node.element));
  const result: JsonObject = {};
  for (const [name, each] of Object.entries(value)) {
    const field = node.fields?.[name] ?? node.element;
    const isFree = field?.type === "any" && !field.nullable;
    if (each !== null || !isFree) define(result, name, withoutFreeNulls(each, field));
  }
  return result;
}

type Understand = (object: JsonObject) => AnyObject;

const OPERATION_FIELDS = new Set(["op", "path", "from", "value"]);

/** Tells of, or refuses, what the operations of a JSON patch do not have. */
export function checkOperationFields(
  outcome: unknown,
  request: ApiRequest,
  validation: FieldValidation,
  warn: (message: string) => void,
): void {
  const { patchType, body } = request;
  if (patchType !== "json" || validation === "Ignore" || !Array.isArray(body)) return;
  const problems = body.flatMap((operation, index) =>
    Object.keys(operation ?? {})
      .filter((field) => !OPERATION_FIELDS.has(field))
      .map((field) => `json patch unknown field "[${index}].${field}"`),
  );
  if (problems.length === 0) return;
  if (validation === "Strict") throw invalidPatch(outcome, request, `strict decoding error: ${problems.join(", ")}`);
  for (const problem of problems) warn(problem);
}

/** Refuses an object that is meant for another place than the request. Without a namespace it gets that of the request. */
export function checkPlace(
  { metadata }: AnyObject,
  { namespaced }: Resource,
  { namespace, name = "" }: Pick<ApiRequest, "namespace" | "name">,
): void {
  const expected = namespaced ? namespace : undefined;
  if (metadata.namespace && metadata.namespace !== expected) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (expected !== undefined) metadata.namespace = expected;
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

/** Refuses a patch that makes another object of the one it is for, or that is for one that is not there. */
export function checkIdentity({ metadata }: AnyObject, resource: Resource, before: AnyObject | undefined): void {
  const { name = "", uid, resourceVersion } = metadata;
  if (uid && !before) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(resource, name, why);
  }
  if (before && resourceVersion && !WHOLE_NUMBER.test(resourceVersion)) {
    throw unexpected(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
  if (!uid || uid === before?.metadata.uid) return;
  const errors = new FieldErrors();
  // The real server checks it twice, and says so.
  for (let i = 0; i < 2; i++) errors.invalid("metadata.uid", uid, "field is immutable");
  errors.throwIfAny(resource, name);
}
