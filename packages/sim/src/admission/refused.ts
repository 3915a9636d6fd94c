/** How admission says no. */
import type { StatusCause } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import { forbidden, type Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";

/** Whoever lets the server find a name is called by the beginning of it: at this point it has not found one yet. */
export function refused(
  { metadata }: AnyObject,
  resource: Resource,
  why: string,
  causes?: readonly StatusCause[],
): Refusal {
  return forbidden(resource, metadata.generateName || metadata.name || "Unknown", why, causes);
}

export function isPods({ plural, group }: Resource): boolean {
  return plural === "pods" && group === "";
}
