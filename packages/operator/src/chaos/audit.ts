/**
 * What the API server's own record says of slots and executors: not what the operator believes. It is told of every change of
 * pods, slots and jobs in their order, and complains of whatever must never be.
 */

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
export type AnyObject = any;

/** Marks what was put together from what is known: there may be more to it. */
export const PROVISIONAL = Symbol("provisional");

/** A change of one object. */
export interface Happened {
  /** As people read it. */
  readonly time: string;
  /** "pods", "slots", "batchjobs"; others are only counted. */
  readonly resource: string;
  /** "namespace/name". */
  readonly key: string;
  /** `undefined`: it is gone. */
  readonly object: AnyObject | undefined;
}

export class Audit {
  readonly complaints: string[] = [];
  /** How many executors were bound. */
  bound = 0;
  readonly #objects = new Map<string, AnyObject>();
  /** By "testbed#slot": who is in it. */
  readonly #occupants = new Map<string, string>();

  /** What is known of an object. */
  get(resource: string, key: string): AnyObject | undefined {
    return this.#objects.get(`${resource} ${key}`);
  }

  heard({ time, resource, key, object }: Happened): void {
    const before = this.get(resource, key);
    if (object) this.#objects.set(`${resource} ${key}`, object);
    else this.#objects.delete(`${resource} ${key}`);
    if (resource === "pods") this.#onPod(time, key, before, object);
  }

  #onPod(time: string, key: string, before: AnyObject, after: AnyObject): void {
    const pod = after ?? before;
    if (pod?.metadata.labels?.["berth.dev/role"] !== "executor") return;
    const complain = (what: string) => this.complaints.push(`${time} ${key}: ${what}`);
    if (after && slotOf(after) !== undefined && slotOf(before) === undefined) this.#onAssigned(after, complain);
    const place = `${testbedOf(pod)}#${slotOf(pod)}`;
    const isLive = after?.spec.nodeName && after.status?.phase !== "Succeeded" && after.status?.phase !== "Failed";
    const present = this.#occupants.get(place);
    if (!isLive) {
      if (present === key) this.#occupants.delete(place);
      return;
    }
    if (present === key) return;
    if (slotOf(pod) === undefined && after[PROVISIONAL]) return; // it is judged when more is known
    this.bound++;
    if (slotOf(pod) === undefined) complain("was bound without a slot");
    if (present) complain(`is in ${place} beside ${present}`);
    this.#occupants.set(place, key);
    const node = this.get("slots", `${testbedOf(pod)}-${slotOf(pod)}`)?.spec.nodeName;
    if (node !== after.spec.nodeName) complain(`is on ${after.spec.nodeName}, and its slot on ${node}`);
  }

  /** It was told its slot: that has to be one that its job was given. The job may have been let go in this very moment. */
  #onAssigned(pod: AnyObject, complain: (what: string) => void): void {
    const job = this.get("batchjobs", pod.metadata.annotations["berth.dev/job"]);
    const given: number[] | undefined = job?.spec.creationRequest?.slots;
    if (given && !given.includes(Number(slotOf(pod)))) {
      complain(`was told slot ${slotOf(pod)}, and its job was given ${given}`);
    }
  }
}

function slotOf(pod: AnyObject): string | undefined {
  return pod?.metadata.annotations?.["berth.dev/slot"];
}

function testbedOf(pod: AnyObject): string | undefined {
  return pod?.metadata.annotations?.["berth.dev/testbed"];
}
