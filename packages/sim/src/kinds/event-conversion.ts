/** Events have two names, v1 and events.k8s.io/v1, under which their fields are called differently. */
import { type AnyObject, frozen } from "../api/json.ts";
import type { Conversion } from "../api/resource.ts";

/** Fields of v1, which is how they are stored, and what events.k8s.io/v1 calls them. */
const NAMES = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
] as const;

const toNew = new Map<string, string>(NAMES);
const toOld = new Map<string, string>(NAMES.map(([old, fresh]) => [fresh, old]));

/** What was converted once is the same object ever after, as it would be if it were stored. */
const converted = new WeakMap<AnyObject, AnyObject>();

/** Between events.k8s.io/v1 and what is stored. */
export const eventConversion: Conversion = {
  toStored: (object) => {
    const event = renamed(object, toOld, "v1");
    // The older form always has them.
    event.reportingComponent ??= "";
    event.reportingInstance ??= "";
    return event;
  },
  fromStored: (object) => {
    const known = converted.get(object);
    if (known) return known;
    const event = renamed(object, toNew, "events.k8s.io/v1");
    for (const field of ["reportingController", "reportingInstance"]) if (event[field] === "") delete event[field];
    converted.set(object, frozen(event));
    return event;
  },
};

function renamed(object: AnyObject, names: ReadonlyMap<string, string>, apiVersion: string): AnyObject {
  const result: AnyObject = { metadata: object.metadata };
  for (const field in object) result[names.get(field) ?? field] = object[field];
  result.apiVersion = apiVersion;
  return result;
}
