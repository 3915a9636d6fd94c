/** Whether a custom resource's object is as its definition says. */
import type { FieldErrors } from "../api/field-errors.ts";
import type { AnyObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";

export function validateBySchema(
  _object: AnyObject,
  _before: AnyObject | undefined,
  _resource: Resource,
  _errors: FieldErrors,
): void {}
