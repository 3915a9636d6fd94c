/**
 * What a JobManager does in a cluster: it asks for the TaskManagers that its job needs, asks again for those that it loses,
 * and lets them go when there has been nothing to do for a while. Decided here, carried out by the operator, which plays the
 * JobManager. Pure but for what a JobManager remembers.
 */
import type { coreV1 } from "@berth/kube";

/** What a JobManager wants to have done. */
export interface JobManagerDecision {
  /** The names of TaskManagers to be created. */
  readonly create: readonly string[];
  readonly remove: readonly coreV1.Pod[];
  /** It has to look again after so much time. */
  readonly afterMs?: number;
}

export class JobManager {
  readonly #cluster: string;
  readonly #idleMs: number;
  #attempt: number | undefined;
  #lastIndex = 0;
  #idleSince: number | undefined;

  /** @param idleMs - How long a TaskManager may have nothing to do. */
  constructor(cluster: string, idleMs: number) {
    this.#cluster = cluster;
    this.#idleMs = idleMs;
  }

  /**
   * @param pods - All TaskManagers of the cluster.
   * @param wanted - How many the job needs; none if it has ended.
   */
  decide(pods: Iterable<coreV1.Pod>, wanted: number, now: number): JobManagerDecision {
    const present = [...pods].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const isFirstLook = this.#attempt === undefined;
    // A JobManager that comes after another takes over what is there, and counts on from it.
    this.#attempt ??= 1 + Math.max(0, ...present.map(({ metadata: { name = "" } }) => attemptIn(name, this.#cluster)));
    const remove = present.filter(
      ({ status, spec }) =>
        status?.phase === "Failed" || status?.phase === "Succeeded" || (isFirstLook && spec?.nodeName === undefined),
    );
    const alive = present.length - remove.length;
    if (wanted === 0) return this.#release(present, remove, now);
    this.#idleSince = undefined;
    const create: string[] = [];
    for (let count = alive; count < wanted; count++) {
      create.push(`${this.#cluster}-taskmanager-${this.#attempt}-${++this.#lastIndex}`);
    }
    return { create, remove };
  }

  #release(present: readonly coreV1.Pod[], ended: readonly coreV1.Pod[], now: number): JobManagerDecision {
    this.#idleSince ??= now;
    const left = this.#idleSince + this.#idleMs - now;
    if (left <= 0) return { create: [], remove: present };
    return { create: [], remove: ended, ...(present.length > ended.length && { afterMs: left }) };
  }
}

/** The attempt in "cluster-taskmanager-ATTEMPT-INDEX". */
function attemptIn(name: string, cluster: string): number {
  const prefix = `${cluster}-taskmanager-`;
  const attempt = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : 0;
  return Number.isNaN(attempt) ? 0 : attempt;
}
