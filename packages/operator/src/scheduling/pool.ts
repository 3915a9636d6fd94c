/** The slots of a testbed, as those who wait for some see them. */
import { type Cache, keyText, type ObjectKey } from "@berth/kube";
import { Testbed } from "@berth/model";
import type { Ledger } from "../ledger/ledger.ts";
import { reportOn, slotsOf } from "../slot/world.ts";
import type { Pool } from "./plan.ts";

interface SeenSlots {
  readonly usable: readonly number[];
  readonly free: ReadonlySet<number>;
}

/** Looks at the slots only when somebody waits for some. */
export class LazyPool implements Pool {
  readonly #look: () => SeenSlots;
  readonly #isTaken: (slot: number) => boolean;
  #seen: SeenSlots | undefined;

  constructor(testbed: ObjectKey, cache: Cache, ledger: Ledger) {
    this.#isTaken = (slot) => ledger.isTaken(keyText(testbed), slot);
    this.#look = () => {
      const object = cache.informer(Testbed).get(testbed);
      const [usable, free]: [number[], Set<number>] = [[], new Set()];
      for (const slot of slotsOf(testbed, cache)) {
        const { state } = reportOn(slot, object, cache, ledger);
        if (state !== "unavailable") usable.push(slot.spec.position);
        if (state === "free") free.add(slot.spec.position);
      }
      return { usable: usable.sort((a, b) => a - b), free };
    };
  }

  get #slots(): SeenSlots {
    this.#seen ??= this.#look();
    return this.#seen;
  }

  get usable() {
    return this.#slots.usable;
  }

  isFree(slot: number): boolean {
    return this.#slots.free.has(slot) && !this.#isTaken(slot);
  }
}
