/** What an object is after a patch; of whatever type but server-side apply. */
import type { ApiRequest } from "@berth/kube";
import { type AnyObject, isObject, type JsonObject } from "../api/json.ts";
import { badRequest, unsupportedMediaType } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import type { FieldValidation } from "../api/write.ts";
import { DoesNotApply, jsonPatched } from "./json-patch.ts";
import { mergePatched } from "./merge-patch.ts";
import { doesNotApply, tooManyOperations } from "./refusals.ts";
import { rootOf } from "./shape.ts";
import { strategicPatched } from "./strategic-patch.ts";

const MOST_OPERATIONS = 10_000;
/** As of all objects. */
const MAX_DEPTH = 500;

/**
 * `before` with the patch applied; a new object, which may share parts with `before` and with the patch.
 *
 * @param validation - The stricter it is, the more exactly the patch itself is read.
 */
export function patched(
  before: AnyObject,
  { patchType, body }: Pick<ApiRequest, "patchType" | "body">,
  resource: Resource,
  validation: FieldValidation,
): unknown {
  if (body === undefined) throw badRequest("error decoding patch: unexpected end of JSON input");
  if (isTooDeep(body)) throw badRequest("exceeded max depth");
  switch (patchType) {
    case "json":
      return byOperations(before, body, validation);
    case "merge":
      return byMerging(before, body, validation);
    case "strategic":
      return byStrategy(before, body, resource);
    default:
      throw unsupportedMediaType(acceptedTypes(resource));
  }
}

/** Whether a patch says, or asks, anything of `metadata.managedFields`. */
export function concernsManagedFields({ patchType, body }: Pick<ApiRequest, "patchType" | "body">): boolean {
  if (patchType !== "json") return isObject(body) && isObject(body.metadata) && "managedFields" in body.metadata;
  if (!Array.isArray(body)) return false;
  return body.some((operation) => isObject(operation) && [operation.path, operation.from].some(isAboutManagedFields));
}

/** Also what is about all of the metadata, or of the object. */
function isAboutManagedFields(path: unknown): boolean {
  if (typeof path !== "string") return false;
  return path === "" || path === "/metadata" || path.startsWith("/metadata/managedFields");
}

function byOperations(before: AnyObject, body: unknown, validation: FieldValidation): unknown {
  if (body === null) return before;
  const strict = validation !== "Ignore";
  if (!Array.isArray(body)) throw undecodable(body, strict ? "[]handlers.jsonPatchOp" : "jsonpatch.Patch", strict);
  const wrong = body.find((operation) => operation !== null && !isObject(operation));
  if (wrong !== undefined) throw undecodable(wrong, strict ? "handlers.jsonPatchOp" : "jsonpatch.Operation", strict);
  if (strict) for (const operation of body) checkOperation(operation);
  if (body.length > MOST_OPERATIONS) throw tooManyOperations(MOST_OPERATIONS, body.length);
  try {
    return jsonPatched(before, body);
  } catch (error) {
    if (error instanceof DoesNotApply) throw doesNotApply(error.message);
    throw error;
  }
}

function checkOperation(operation: JsonObject | null): void {
  for (const field of ["op", "path", "from"]) {
    const value = operation?.[field];
    if (value === undefined || value === null || typeof value === "string") continue;
    const place = `Go struct field jsonPatchOp.${field} of type string`;
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(value)} into ${place}`);
  }
}

function byMerging(before: AnyObject, body: unknown, validation: FieldValidation): unknown {
  if (!isObject(body)) {
    if (body !== null && validation !== "Ignore") throw undecodable(body, "map[string]interface {}", true);
    if (!Array.isArray(body)) throw badRequest("Invalid JSON Patch");
  }
  return mergePatched(before, body);
}

function byStrategy(before: AnyObject, body: unknown, resource: Resource): unknown {
  // Nobody has said how the lists of custom resources are merged.
  if (resource.custom) throw unsupportedMediaType(acceptedTypes(resource));
  if (body === null) return before;
  if (!isObject(body)) throw undecodable(body, "map[string]interface {}", false);
  return strategicPatched(before, body, rootOf(resource));
}

function undecodable(value: unknown, type: string, told: boolean) {
  const problem = `json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`;
  return badRequest(told ? `error decoding patch: ${problem}` : problem);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function acceptedTypes({ custom }: Resource): string {
  const types = [
    "json-patch+json",
    "merge-patch+json",
    ...(custom ? [] : ["strategic-merge-patch+json"]),
    "apply-patch+yaml",
  ];
  const list = types.map((type) => `application/${type}`).join(", ");
  return `the body of the request was in an unknown format - accepted media types include: ${list}`;
}

/** Without recursion: it is asked so that others can recur. */
function isTooDeep(value: unknown): boolean {
  const waiting: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [each, depth] = next;
    if (typeof each !== "object" || each === null) continue;
    if (depth > MAX_DEPTH) return true;
    for (const inner of Object.values(each)) {
      if (typeof inner === "object" && inner !== null) waiting.push([inner, depth + 1]);
    }
  }
  return false;
}
