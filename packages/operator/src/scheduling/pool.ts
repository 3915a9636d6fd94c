/** The slots of a testbed, as those who wait for some see them. */
import { type Cache, keyText, type ObjectKey } from "@berth/kube";
import { type SlotState, Testbed } from "@berth/model";
import type { Ledger } from "../ledger/ledger.ts";
import { reportOn, slotAt, slotsOf } from "../slot/world.ts";
import type { Pool } from "./plan.ts";

/** Looks at a slot only when somebody wants it, and at each once: there may be thousands. */
export class LazyPool implements Pool {
  readonly #testbed: ObjectKey;
  readonly #cache: Cache;
  readonly #ledger: Ledger;
  readonly #seen = new Map<number, SlotState | undefined>();
  #usable: readonly number[] | undefined;

  constructor(testbed: ObjectKey, cache: Cache, ledger: Ledger) {
    this.#testbed = testbed;
    this.#cache = cache;
    this.#ledger = ledger;
  }

  get usable(): readonly number[] {
    this.#usable ??= slotsOf(this.#testbed, this.#cache)
      .map(({ spec }) => spec.position)
      .filter(this.isUsable)
      .sort((a, b) => a - b);
    return this.#usable;
  }

  readonly isUsable = (slot: number): boolean => {
    const state = this.#stateOf(slot);
    return state !== undefined && state !== "unavailable";
  };

  readonly isFree = (slot: number): boolean =>
    this.#stateOf(slot) === "free" && !this.#ledger.isTaken(keyText(this.#testbed), slot);

  /** `undefined` if there is no such slot. */
  #stateOf(position: number): SlotState | undefined {
    if (this.#seen.has(position)) return this.#seen.get(position);
    const slot = slotAt(keyText(this.#testbed), position, this.#cache);
    const testbed = this.#cache.informer(Testbed).get(this.#testbed);
    const state = slot && reportOn(slot, testbed, this.#cache, this.#ledger).state;
    this.#seen.set(position, state);
    return state;
  }
}
