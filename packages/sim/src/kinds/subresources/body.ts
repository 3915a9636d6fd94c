/** What requests to subresources bring, and what they get when there is nothing to show. */
import type { SubresourceCall } from "../../api/api-server.ts";
import { type AnyObject, frozen, isObject } from "../../api/json.ts";
import { fieldValidation } from "../../api/parameters.ts";
import { badRequest, modified, otherMeant } from "../../api/refusal.ts";
import type { Resource } from "../../api/resource.ts";
import { understood } from "../../api/write.ts";
import { patched } from "../../patch/patch.ts";
import { decodePart, unreadable } from "../../schema/decode.ts";
import { Unreadable } from "../../schema/scalars.ts";
import type { SchemaNode } from "../../schema/schema.ts";

/** A request's body as an object of a kind that no resource has: a Binding, an Eviction. */
export function bodyOf({ request }: Pick<SubresourceCall, "request">, kind: string, schema: SchemaNode): AnyObject {
  const { body } = request;
  if (!isObject(body) || (body.kind !== undefined && body.kind !== kind)) {
    throw badRequest(`the body of the request must be a ${kind}`);
  }
  try {
    return { metadata: {}, ...decodePart(body, schema, []) };
  } catch (error) {
    if (error instanceof Unreadable) throw unreadable(error, { kind, version: "v1" });
    throw error;
  }
}

/** What an object is to be, by an update or a patch of it or of a view of it. */
export function wantedOf(
  { request, caller, context }: SubresourceCall,
  before: AnyObject,
  resource: Resource,
): AnyObject {
  const validation = fieldValidation(request.parameters ?? {}, caller.fieldValidation ?? "Ignore");
  const given = request.verb === "patch" ? patched(before, request, resource, validation) : request.body;
  return understood(given, resource, validation, context);
}

/** Refuses a write that is meant for another object, or for another version of it. */
export function checkMeant({ metadata }: AnyObject, { metadata: present }: AnyObject, resource: Resource): void {
  const { name = "", uid, resourceVersion } = present;
  if (metadata.uid && metadata.uid !== uid) throw otherMeant(resource, present, "UID", metadata.uid);
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) throw modified(resource, name);
}

/** It has been done. */
export const SUCCESS: AnyObject = frozen({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  code: 201,
});
