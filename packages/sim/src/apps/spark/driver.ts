/**
 * What the driver does in a cluster: it asks for executors a few at a time, replaces those that fail, gives up if too many
 * do, and removes them in the end. Decided here, carried out by the operator, which plays the driver. Pure but for what a
 * driver remembers.
 */
import type { coreV1 } from "@berth/kube";
import { label } from "./application.ts";
import type { AllocationPlan } from "./conf.ts";
import { exitCodeOf } from "./lifecycle.ts";

/** What a driver wants to have done. */
export interface DriverDecision {
  /** The numbers of executors to be created. */
  readonly create: readonly number[];
  readonly remove: readonly coreV1.Pod[];
  /** Executors that have ended, and are to stay. */
  readonly retire: readonly coreV1.Pod[];
  /** With what the driver ends, if it gives up. */
  readonly giveUp?: number;
  /** It has to look again after so much time. */
  readonly afterMs?: number;
}

/** What a driver ends with when too many of its executors have failed. */
const TOO_MANY_FAILURES = 11;
/** After these nothing runs any more, no shutdown hook either: it was killed, or its node was lost. */
const SUDDEN = new Set([137, 255]);

export class SparkDriver {
  readonly #plan: AllocationPlan;
  #lastId = 0;
  #nextRoundAt = 0;
  readonly #failed = new Set<string>();
  #stopping = false;

  constructor(plan: AllocationPlan) {
    this.#plan = plan;
  }

  /** While the driver runs. @param executors - All of its executors, in the order in which they were created. */
  decide(executors: Iterable<coreV1.Pod>, now: number): DriverDecision {
    const { executors: wanted, batchSize, batchDelayMs, maxFailures, deleteOnTermination } = this.#plan;
    const [remove, retire]: [coreV1.Pod[], coreV1.Pod[]] = [[], []];
    let alive = 0;
    for (const pod of executors) {
      const phase = pod.status?.phase;
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      if (phase !== "Failed" && phase !== "Succeeded") {
        alive++;
        continue;
      }
      if (phase === "Failed") this.#failed.add(pod.metadata.uid ?? "");
      // Executors end with success when they are told to, because there is nothing left to do.
      else this.#stopping = true;
      if (deleteOnTermination) remove.push(pod);
      else if (pod.metadata.labels?.[label.executorInactive] !== "true") retire.push(pod);
    }
    if (this.#failed.size > maxFailures) return { create: [], remove, retire, giveUp: TOO_MANY_FAILURES };
    const missing = this.#stopping ? 0 : wanted - alive;
    if (missing <= 0) return { create: [], remove, retire };
    if (now < this.#nextRoundAt) return { create: [], remove, retire, afterMs: this.#nextRoundAt - now };
    this.#nextRoundAt = now + batchDelayMs;
    const create = Array.from({ length: Math.min(missing, batchSize) }, () => ++this.#lastId);
    return { create, remove, retire, ...(missing > create.length && { afterMs: batchDelayMs }) };
  }

  /** When the driver ends, or is told to: Spark's shutdown hook, unless it was killed. */
  ending(driver: coreV1.Pod, container: string, executors: Iterable<coreV1.Pod>): readonly coreV1.Pod[] {
    if (!this.#plan.deleteOnTermination || SUDDEN.has(exitCodeOf(driver, container) ?? 0)) return [];
    return [...executors].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }
}
