/** Sets of completion indexes, as a Job's status writes them: "0,2,4-7". Pure. */

/** Intervals in ascending order, with a gap between any two. */
export class IndexSet {
  readonly #intervals: readonly (readonly [first: number, last: number])[];

  private constructor(intervals: readonly (readonly [number, number])[]) {
    this.#intervals = intervals;
  }

  static readonly empty = new IndexSet([]);

  /** Reads a text; what is not below `completions`, or not to be understood, is left out. */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (!text) return IndexSet.empty;
    const intervals: [number, number][] = [];
    for (const part of text.split(",")) {
      const [first = Number.NaN, last = first] = part
        .split("-")
        .map((each) => (/^\d+$/.test(each) ? Number(each) : Number.NaN));
      if (Number.isNaN(first) || Number.isNaN(last)) continue;
      if (first >= completions) break;
      intervals.push([first, Math.min(last, completions - 1)]);
    }
    return new IndexSet(joined(intervals));
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(joined([...indexes].map((index) => [index, index])));
  }

  get size(): number {
    return this.#intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.#intervals.some(([first, last]) => first <= index && index <= last);
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(joined([...this.#intervals, ...other.#intervals]));
  }

  /** How many of the indexes are in both. */
  overlap(other: IndexSet): number {
    let sum = 0;
    for (const [first, last] of this.#intervals) {
      for (const [start, end] of other.#intervals) sum += Math.max(0, Math.min(last, end) - Math.max(first, start) + 1);
    }
    return sum;
  }

  /** The first so many indexes below `completions` that are not in the set. */
  missing(count: number, completions: number): number[] {
    const result: number[] = [];
    let candidate = 0;
    for (const [first, last] of this.#intervals) {
      while (candidate < first && candidate < completions && result.length < count) result.push(candidate++);
      candidate = Math.max(candidate, last + 1);
    }
    while (candidate < completions && result.length < count) result.push(candidate++);
    return result;
  }

  toString(): string {
    return this.#intervals
      .map(([first, last]) => (last === first ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`))
      .join(",");
  }
}

function joined(intervals: readonly (readonly [number, number])[]): [number, number][] {
  const result: [number, number][] = [];
  for (const [first, last] of intervals.toSorted(([a], [b]) => a - b)) {
    const previous = result.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else if (last >= first) result.push([first, last]);
  }
  return result;
}
