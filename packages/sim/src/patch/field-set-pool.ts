/** Keeps sets of fields that are the same only once. */
import type { FieldSet } from "./field-set.ts";
import { fieldsV1 } from "./fields-v1.ts";

/** Enough for all templates of a cluster; if there are more, some sets are kept twice. */
const MOST_SETS = 5000;

export class FieldSetPool {
  readonly #byText = new Map<string, FieldSet>();
  readonly #known = new WeakSet<FieldSet>();

  /** The set, or one that is the same. */
  shared(set: FieldSet): FieldSet {
    if (this.#known.has(set)) return set;
    const text = JSON.stringify(fieldsV1(set));
    const known = this.#byText.get(text);
    if (known) return known;
    if (this.#byText.size >= MOST_SETS) this.#byText.clear();
    this.#byText.set(text, set);
    this.#known.add(set);
    return set;
  }
}
