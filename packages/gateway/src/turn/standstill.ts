/**
 * A virtual clock that stands still while nobody waits for it.
 *
 * Time passes while a scheduler waits for its next turn, and while something that was decided is carried out. Otherwise days would go
 * by, and a processor be kept busy with them, before the first scheduler has come: now it finds everything as it was left, and
 * all that was submitted before it at the same moment. When the last job has ended, time ends as well, until there is another one.
 */
import { following } from "../following.ts";
import { wantsToRun } from "../views/job.ts";
import type { World } from "../world.ts";

/** Holds a clock for as long as time is good for nothing. */
export class Standstill {
  readonly #hold: () => () => void;
  /** What needs time: all that is under way, and schedulers that want to be called at a time. */
  readonly #needs = new Set<object | string>();
  /** Those who wait for something to happen. It can, as long as there is a job that wants to run. */
  readonly #waiting = new Set<object>();
  readonly #open = new Set<string>();
  #release: (() => void) | undefined;
  #isOver = false;

  /** @param hold - Stops the clock; returns how to let it go on. */
  constructor(world: World, hold: () => () => void) {
    this.#hold = hold;
    world.jobs.addEventHandler(
      following((job, name) => {
        const isUnderWay = job?.spec.activeScheduling !== undefined || job?.metadata.deletionTimestamp !== undefined;
        if (job && wantsToRun(job)) this.#open.add(name);
        else this.#open.delete(name);
        this.#set(`job ${name}`, isUnderWay);
      }),
    );
    world.schedulings.addEventHandler(
      following((scheduling, name) => {
        const isOver = scheduling?.status?.completionTime !== undefined;
        const isLeaving = scheduling?.metadata.deletionTimestamp !== undefined;
        this.#set(`scheduling ${name}`, scheduling !== undefined && (!isOver || isLeaving));
      }),
    );
    this.#look();
  }

  /** A scheduler waits, perhaps for a time. Returns how to end that. */
  wait({ forTime }: { readonly forTime: boolean }): () => void {
    const somebody = {};
    this.#waiting.add(somebody);
    this.#set(somebody, forTime);
    return () => {
      this.#waiting.delete(somebody);
      this.#set(somebody, false);
    };
  }

  /** Lets the clock go, whoever needs it. */
  stop(): void {
    this.#isOver = true;
    this.#look();
  }

  #set(what: object | string, needsTime: boolean): void {
    if (needsTime) this.#needs.add(what);
    else this.#needs.delete(what);
    this.#look();
  }

  #look(): void {
    const isHopeful = this.#waiting.size > 0 && this.#open.size > 0;
    if (this.#needs.size === 0 && !isHopeful && !this.#isOver) {
      this.#release ??= this.#hold();
    } else {
      this.#release?.();
      this.#release = undefined;
    }
  }
}
