/** Sets of a job's indexes, as they are written: "1,3-5,7". Pure. */

export interface Indexes {
  /** How many there are; 0 if they cannot be read. */
  readonly count: number;
  readonly intervals: readonly (readonly [first: number, last: number])[];
  /** Why they cannot be read. */
  readonly problem?: string;
}

const NUMBER = /^[+-]?\d+$/;

export function readIndexes(text: string, completions: number): Indexes {
  if (text === "") return { count: 0, intervals: [] };
  const intervals: [number, number][] = [];
  let count = 0;
  let last: number | undefined;
  for (const part of text.split(",")) {
    const [first, end] = readInterval(part, completions);
    if (typeof first === "string") return { count: 0, intervals, problem: first };
    if (last !== undefined && last >= first) {
      return { count: 0, intervals, problem: `non-increasing order, previous: ${last}, current: ${first}` };
    }
    count += end - first + 1;
    last = end;
    intervals.push([first, end]);
  }
  return { count, intervals };
}

function readInterval(text: string, completions: number): [first: number, last: number] | [problem: string, 0] {
  const parts = text.split("-");
  if (parts.length > 2) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    return [`the fragment ${JSON.stringify(text)} ${rule}`, 0];
  }
  for (const part of parts) {
    if (!NUMBER.test(part)) return [`cannot convert string to integer for index: ${JSON.stringify(part)}`, 0];
    if (Number(part) >= completions) return [`too large index: ${JSON.stringify(part)}`, 0];
  }
  const [first = 0, last = first] = parts.map(Number);
  if (parts.length > 1 && first >= last) return [`non-increasing order, previous: ${first}, current: ${last}`, 0];
  return [first, last];
}

/** The first index that is in both, if any. */
export function overlap(a: Indexes, b: Indexes): number | undefined {
  for (const [first, last] of a.intervals) {
    for (const [start, end] of b.intervals) if (first <= end && start <= last) return Math.max(first, start);
  }
  return undefined;
}
