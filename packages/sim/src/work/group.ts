/** One run of an application: its processes, and how it stands with them. */
import { type Random, SeededRandom, type Timer } from "@berth/kube";
import type { Run } from "../kubelet/runtime.ts";
import type { Application } from "./floor.ts";
import type { Membership } from "./membership.ts";

export class Group {
  readonly key: string;
  readonly membership: Membership;
  /** The how manieth run of the application this is. */
  readonly count: number;
  work: Application;
  leader: Run | undefined;
  /** All workers that run, whether they work yet or not, in the order in which they came. */
  readonly workers = new Map<Run, Worker>();
  /** Whether there is work to do. */
  ready = false;
  /** When there was for the first time. */
  since: number | undefined;
  outcome: "failed" | "done" | undefined;
  /** Rings when there is work to do. */
  starting: Timer | undefined;
  /** Rings when something happens next: a milestone of the work, or its end. */
  next: Timer | undefined;
  #arrived = 0;

  constructor(membership: Membership, count: number, work: Application) {
    this.key = membership.application;
    this.membership = membership;
    this.count = count;
    this.work = work;
  }

  newWorker(seed: number): Worker {
    const number = this.#arrived++;
    let random: Random | undefined;
    return {
      name: `${this.key}#${number}`,
      // Most workers need no luck at all.
      luck: () => (random ??= new SeededRandom(`${seed}/${this.membership.name}/${this.count}/${number}`)),
      ready: false,
      starting: undefined,
      failing: undefined,
    };
  }
}

/** A worker's process. */
export interface Worker {
  readonly name: string;
  /** Its own sequence of chance. */
  luck(): Random;
  ready: boolean;
  /** Rings when it is ready to work. */
  starting: Timer | undefined;
  /** Rings when it fails. */
  failing: Timer | undefined;
}
