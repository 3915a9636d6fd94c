/**
 * How Spark divides the memory of an executor. Pure.
 *
 * The pod asks for the sum of heap, overhead, off-heap memory and, in Python, the workers' memory. Left to itself Spark
 * computes the overhead from the heap and the sum from that, so that a sum cannot be ordered. Hence the other way round: from
 * the sum, which is the slot's, to a heap and an overhead that are both said.
 */
import type { Quantity } from "@berth/kube";
import { refuse } from "./refusal.ts";

const MEBIBYTE = 2n ** 20n;
const NANO = 1_000_000_000n;

/** Spark keeps 300 MiB for itself, and refuses to start with a heap of less than one and a half times that. */
export const LEAST_HEAP_MIB = 450;
/** Beside small heaps: threads and native libraries do not shrink with them. */
export const LEAST_OVERHEAD_MIB = 384;

/** The share of the heap that is needed beside it; programs in Python and R have more there. */
export function usualFactor(type: string): number {
  return type === "Python" || type === "R" ? 0.4 : 0.1;
}

/** What people said of an executor's memory, all in MiB. */
export interface MemoryWishes {
  readonly heap?: number | undefined;
  readonly overhead?: number | undefined;
  readonly offHeap: number;
  /** Of Python's workers. */
  readonly python: number;
  /** The overhead, if it is not said: this share of the heap, but not less than `leastOverhead`. */
  readonly factor: number;
  readonly leastOverhead: number;
}

/** In MiB; with `offHeap` and `python` it adds up to the whole. */
export interface MemoryParts {
  readonly heap: number;
  readonly overhead: number;
}

/**
 * Divides a slot's memory. A heap that was said stays as it is, and the overhead gets the rest; an overhead that was said stays
 * unless both were.
 * @param whole - In MiB.
 */
export function dividedMemory(whole: number, wishes: MemoryWishes): MemoryParts {
  const { offHeap, python } = wishes;
  const available = whole - offHeap - python;
  const heap =
    wishes.heap ?? (wishes.overhead === undefined ? largestHeap(available, wishes) : available - wishes.overhead);
  const least = wishes.overhead ?? overheadBeside(heap, wishes);
  if (heap < LEAST_HEAP_MIB || heap + least > available) tooLarge(whole, wishes, heap, least);
  return { heap, overhead: available - heap };
}

/** What Spark would add to a heap by itself. */
function overheadBeside(heap: number, { factor, leastOverhead }: MemoryWishes): number {
  return Math.max(Math.floor(factor * heap), leastOverhead);
}

/** The largest heap that leaves room for the overhead that goes with it. */
function largestHeap(available: number, wishes: MemoryWishes): number {
  // h + ⌊f·h⌋ ≤ available holds only below (available + 1) / (1 + f), and for all but the last few below that.
  let heap = Math.min(available - wishes.leastOverhead, Math.ceil((available + 1) / (1 + wishes.factor)));
  while (heap > 0 && heap + overheadBeside(heap, wishes) > available) heap--;
  return heap;
}

function tooLarge(whole: number, wishes: MemoryWishes, heap: number, least: number): never {
  const { offHeap, python, factor, leastOverhead } = wishes;
  const isSmall = heap < LEAST_HEAP_MIB;
  const needed = isSmall && wishes.heap === undefined ? LEAST_HEAP_MIB : heap;
  const overhead = wishes.overhead ?? (needed === heap ? least : overheadBeside(needed, wishes));
  const parts = [`${needed} heap`, `${overhead} overhead`];
  if (offHeap > 0) parts.push(`${offHeap} off-heap`);
  if (python > 0) parts.push(`${python} Python`);
  if (isSmall && wishes.heap !== undefined) {
    const advice = "say more, or nothing: then it gets what the slot has";
    refuse(
      "BERTH_APPLICATION_INVALID",
      `Spark does not start with a heap of ${heap} MiB, which must be at least ${LEAST_HEAP_MIB}: ${advice}`,
    );
  }
  const why = [
    ...(needed === LEAST_HEAP_MIB && wishes.heap === undefined
      ? [`Spark does not start with a heap below ${LEAST_HEAP_MIB}`]
      : []),
    ...(wishes.overhead === undefined ? [`the overhead is ${factor} × heap, and at least ${leastOverhead}`] : []),
  ];
  refuse(
    "BERTH_APPLICATION_TOO_LARGE",
    `a slot leaves ${whole} MiB of memory to an executor of Spark, which needs ${parts.join(" + ")} = ${needed + overhead + offHeap + python} MiB${why.length > 0 ? ` (${why.join("; ")})` : ""}`,
  );
}

/** Whole mebibytes: Spark and Flink write what pods ask for in these. @param left - What a slot leaves to the executor. */
export function wholeMebibytes(left: Quantity, framework: string): number {
  const bytes = left.nano / NANO;
  if (left.nano % NANO === 0n && bytes % MEBIBYTE === 0n) return Number(bytes / MEBIBYTE);
  return refuse(
    "BERTH_APPLICATION_INVALID",
    `a slot leaves ${left} of memory to an executor, but ${framework} asks for whole mebibytes: make it a multiple of 1Mi, like ${bytes / MEBIBYTE}Mi`,
  );
}

const UNITS: Readonly<Record<string, bigint>> = { b: 0n, k: 10n, m: 20n, g: 30n, t: 40n, p: 50n };

/**
 * Reads an amount as Spark does: "4g", "512m". What is less than a mebibyte is dropped.
 * @param unit - What a number without one means.
 */
export function sparkMebibytes(text: string, path: string, unit: "b" | "m" = "m"): number {
  const [, digits, suffix = unit] = /^(\d{1,18})([bkmgtp]|[kmgtp]b)?$/.exec(text.trim().toLowerCase()) ?? [];
  if (digits === undefined) {
    refuse(
      "BERTH_APPLICATION_INVALID",
      `${path} must be an amount as Spark writes them, like "512m" or "4g", not "${text}"`,
    );
  }
  return Number((BigInt(digits) << (UNITS[suffix.charAt(0)] ?? 0n)) / MEBIBYTE);
}
