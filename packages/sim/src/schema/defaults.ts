/** What is filled in when it is left out. */
import type { AnyObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";

/** Fills in, in place: by the schema if the resource is a custom one, else by the kind's own rules. */
export function defaulted(object: AnyObject, { rules }: Resource): void {
  rules.default?.(object);
}
