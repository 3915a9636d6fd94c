/**
 * Everything that ever happened to a cluster, one line of JSON for each write. It is complete: whoever reads it from the
 * beginning knows every object at every moment. Same seed and same requests: the same lines, byte for byte.
 */
import { type Clock, mergeFrom } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import type { Change } from "./collection.ts";
import type { Store } from "./store.ts";

/** One line. */
export interface LoggedEvent {
  /** Milliseconds since 1970, by the cluster's clock. */
  readonly time: number;
  readonly version: number;
  /** "/pods", "batch/jobs": the group and the plural. */
  readonly resource: string;
  /** Namespace and name. */
  readonly key: string;
  /** The whole object, if it is new. */
  readonly added?: AnyObject;
  /** What has changed, as a merge patch (RFC 7396). */
  readonly changed?: object;
  /** It is gone. */
  readonly deleted?: true;
}

/** Hands over a line for each write, without its line break, until the function that it returns is called. */
export function logEvents(store: Store, clock: Clock, write: (line: string) => void): () => void {
  return store.listen(undefined, (change, resource) => write(JSON.stringify(eventOf(change, resource, clock.now()))));
}

function eventOf({ version, key, before, after }: Change, resource: string, time: number): LoggedEvent {
  const event = { time, version, resource, key };
  if (!after) return { ...event, deleted: true };
  if (!before) return { ...event, added: after };
  return { ...event, changed: (mergeFrom(before, after) as { merge: object }).merge };
}
