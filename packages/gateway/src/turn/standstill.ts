/**
 * A virtual clock that stands still while nobody waits for it.
 *
 * Time passes while a scheduler waits for its next turn, and while something that was decided is carried out. Otherwise days would go
 * by, and a processor be kept busy with them, before the first scheduler has come: now it finds everything as it was left, and
 * all that was submitted before it at the same moment.
 */
import { following } from "../following.ts";
import type { World } from "../world.ts";

/** Holds a clock for as long as time is good for nothing. */
export class Standstill {
  readonly #hold: () => () => void;
  /** Those who need time: schedulers that wait, and what is under way. */
  readonly #needs = new Set<object | string>();
  #release: (() => void) | undefined;
  #isOver = false;

  /** @param hold - Stops the clock; returns how to let it go on. */
  constructor(world: World, hold: () => () => void) {
    this.#hold = hold;
    world.jobs.addEventHandler(
      following((job, name) => {
        const isUnderWay = job?.spec.activeScheduling !== undefined || job?.metadata.deletionTimestamp !== undefined;
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

  /** A scheduler waits for time to pass. Returns how to end that. */
  wait(): () => void {
    const somebody = {};
    this.#set(somebody, true);
    return () => this.#set(somebody, false);
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
    if (this.#needs.size === 0 && !this.#isOver) {
      this.#release ??= this.#hold();
    } else {
      this.#release?.();
      this.#release = undefined;
    }
  }
}
