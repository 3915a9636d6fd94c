/** Makes the place that preemption has decided on: victims are marked, deleted with their grace, and told why. */
import { type Clock, coreV1, isNotFound } from "@berth/kube";
import type { LocalApi } from "../../api/local-api.ts";
import type { Nominator } from "../nominator.ts";
import { changedStatus } from "../pod-conditions.ts";
import type { Pod, PodInfo } from "../pod-info.ts";
import type { SchedulerEvents } from "../scheduler-events.ts";
import type { Candidate } from "./candidate.ts";

export class Eviction {
  readonly #api: LocalApi;
  readonly #clock: Clock;
  readonly #nominator: Nominator;
  readonly #events: SchedulerEvents;
  /** Pods for which place is being made; with the last of the victims, once it is its turn. */
  readonly #underWay = new Map<string, PodInfo | undefined>();

  constructor(api: LocalApi, clock: Clock, nominator: Nominator, events: SchedulerEvents) {
    this.#api = api;
    this.#clock = clock;
    this.#nominator = nominator;
    this.#events = events;
  }

  /** Whether place is still being made for a pod. */
  isUnderWay(uid: string): boolean {
    if (!this.#underWay.has(uid)) return false;
    const last = this.#underWay.get(uid);
    if (!last) return true;
    const pod = this.#api.get(coreV1.Pod, last);
    return pod !== undefined && pod.metadata.deletionTimestamp === undefined;
  }

  /** From now on the pod is kept out of the queue, until all have been told to go. */
  begin(pod: Pod, { victims }: Candidate): void {
    const staying = victims.filter(isStaying);
    if (staying.length > 0) this.#underWay.set(pod.metadata.uid ?? "", staying.length === 1 ? staying[0] : undefined);
  }

  /** Tells the victims to go. Throws if one of them cannot be told. */
  carryOut(pod: Pod, { node, victims }: Candidate): void {
    const uid = pod.metadata.uid ?? "";
    if (!this.#underWay.has(uid)) return;
    try {
      // Those who wait there and are less important had better look elsewhere.
      for (const other of [...this.#nominator.on(node)])
        if (other.priority < (pod.spec?.priority ?? 0)) this.#clearNomination(other);
      const staying = victims.filter(isStaying);
      const last = staying.at(-1);
      for (const victim of staying) {
        if (victim === last) this.#underWay.set(uid, last);
        this.#evict(victim, pod, node);
      }
    } finally {
      this.#underWay.delete(uid);
    }
  }

  #clearNomination(other: PodInfo): void {
    const pod = this.#api.get(coreV1.Pod, other);
    const status = pod && changedStatus(pod, undefined, "", this.#clock.now());
    if (status) this.#api.updateStatus(coreV1.Pod, { ...pod, status });
  }

  #evict(victim: PodInfo, preemptor: Pod, node: string): void {
    const { schedulerName = "" } = preemptor.spec ?? {};
    try {
      const pod = this.#api.get(coreV1.Pod, victim);
      if (!pod || pod.metadata.uid !== victim.uid) return;
      const message = `${schedulerName}: preempting to accommodate a higher priority pod`;
      const finding = { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message };
      const status = changedStatus(pod, finding, undefined, this.#clock.now());
      if (status) this.#api.updateStatus(coreV1.Pod, { ...pod, status });
      if (!this.#api.delete(coreV1.Pod, victim)) return;
    } catch (error) {
      if (isNotFound(error)) return; // it is gone already
      throw error;
    }
    this.#events.tell(schedulerName, victim.pod, {
      type: "Normal",
      reason: "Preempted",
      action: "Preempting",
      note: `Preempted by pod ${preemptor.metadata.uid} on node ${node}`,
    });
  }
}

function isStaying({ pod }: PodInfo): boolean {
  return pod.metadata.deletionTimestamp === undefined;
}
