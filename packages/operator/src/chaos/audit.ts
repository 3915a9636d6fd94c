/**
 * What the API server's own record says of slots and executors: not what the operator believes. Reads the event log of a
 * simulated cluster from its beginning, and complains of whatever must never be.
 */
import type { LoggedEvent } from "@berth/sim";

interface Executor {
  readonly name: string;
  readonly job: string;
  readonly place: string;
}

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type AnyObject = any;

export class Audit {
  readonly complaints: string[] = [];
  /** How many executors were bound. */
  bound = 0;
  readonly #objects = new Map<string, AnyObject>();
  /** By "testbed#slot": who is in it. */
  readonly #occupants = new Map<string, Executor>();

  /** Takes note of a line of the log. */
  read(line: string): void {
    const event = JSON.parse(line) as LoggedEvent;
    const key = `${event.resource} ${event.key}`;
    const before = this.#objects.get(key);
    const after = event.deleted ? undefined : (event.added ?? merged(before, event.changed));
    if (after) this.#objects.set(key, after);
    else this.#objects.delete(key);
    if (event.resource === "/pods") this.#onPod(event, before, after);
  }

  /** What is left of a kind. */
  all(resource: string): AnyObject[] {
    return [...this.#objects].flatMap(([key, object]) => (key.startsWith(`${resource} `) ? [object] : []));
  }

  #onPod({ time, key }: LoggedEvent, before: AnyObject, after: AnyObject): void {
    const pod = after ?? before;
    if (pod?.metadata.labels?.["berth.dev/role"] !== "executor") return;
    const { annotations = {} } = pod.metadata;
    const place = `${annotations["berth.dev/testbed"]}#${annotations["berth.dev/slot"]}`;
    const isLive = after?.spec.nodeName && after.status?.phase !== "Succeeded" && after.status?.phase !== "Failed";
    const present = this.#occupants.get(place);
    if (!isLive) {
      if (present?.name === key) this.#occupants.delete(place);
      return;
    }
    if (present?.name === key) return;
    this.bound++;
    const complain = (what: string) => this.complaints.push(`${new Date(time).toISOString()} ${key}: ${what}`);
    if (annotations["berth.dev/slot"] === undefined) complain("was bound without a slot");
    if (present) complain(`is in ${place} beside ${present.name}`);
    this.#occupants.set(place, { name: key, job: annotations["berth.dev/job"], place });
    const [namespace, testbed] = (annotations["berth.dev/testbed"] ?? "/").split("/");
    const slot = this.#objects.get(`berth.dev/slots ${namespace}/${testbed}-${annotations["berth.dev/slot"]}`);
    if (slot?.spec.nodeName !== after.spec.nodeName)
      complain(`is on ${after.spec.nodeName}, and its slot on ${slot?.spec.nodeName}`);
    const job = this.#objects.get(`berth.dev/batchjobs ${annotations["berth.dev/job"]}`);
    const given = job?.spec.creationRequest?.slots ?? [];
    // A job may be let go while its executor is being bound; one that is there must have been given the slot.
    if (job?.spec.creationRequest && !given.includes(Number(annotations["berth.dev/slot"]))) {
      complain(`is in slot ${annotations["berth.dev/slot"]}, and its job was given ${given}`);
    }
  }
}

/** RFC 7396. */
function merged(before: AnyObject, patch: AnyObject): AnyObject {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isMap = typeof before === "object" && before !== null && !Array.isArray(before);
  const result: AnyObject = isMap ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
