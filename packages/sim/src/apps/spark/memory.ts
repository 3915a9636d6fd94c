/** How much memory Spark's pods ask for: what the program was given, and what a JVM takes beside it. Pure. */
import { SubmissionError } from "./submission-error.ts";

const SUFFIXES = new Map([
  ["b", 1 / 2 ** 20],
  ["k", 1 / 1024],
  ["kb", 1 / 1024],
  ["m", 1],
  ["mb", 1],
  ["g", 1024],
  ["gb", 1024],
  ["t", 1024 ** 2],
  ["tb", 1024 ** 2],
  ["p", 1024 ** 3],
  ["pb", 1024 ** 3],
]);
const PATTERN = /^(\d{1,15})([a-z]+)?$/;

/** Whether `mebibytes` can read it. */
export function isAmount(amount: string): boolean {
  const [, digits, suffix = "m"] = PATTERN.exec(amount.trim().toLowerCase()) ?? [];
  return digits !== undefined && SUFFIXES.has(suffix);
}

/**
 * Reads an amount as Spark does: "4g", "512m". What is less than one is dropped.
 *
 * @param usual - The unit of an amount that names none; with most options mebibytes, with some bytes.
 */
export function mebibytes(amount: string, usual: "m" | "b" = "m"): number {
  const [, digits, suffix = usual] = PATTERN.exec(amount.trim().toLowerCase()) ?? [];
  const factor = SUFFIXES.get(suffix);
  if (digits === undefined || factor === undefined) {
    const units = "bytes (b), kibibytes (k), mebibytes (m), gibibytes (g), tebibytes (t), or pebibytes(p)";
    throw new SubmissionError(
      `Size must be specified as ${units}. E.g. 50b, 100k, or 250m. Failed to parse byte string: ${amount}`,
    );
  }
  return Math.floor(Number(digits) * factor);
}

const LEAST_OVERHEAD_MIB = 384;
const JVM_FACTOR = 0.1;
const NON_JVM_FACTOR = 0.4;

/** What a process takes beside its heap. */
export function overheadOf(
  memoryMiB: number,
  { overhead, factor, least }: { overhead?: string | undefined; factor: number; least?: string | undefined },
): number {
  if (overhead !== undefined) return mebibytes(overhead);
  return Math.max(Math.floor(factor * memoryMiB), least === undefined ? LEAST_OVERHEAD_MIB : mebibytes(least));
}

/** The share of the heap that is overhead; programs in Python and R have more of it outside. */
export function overheadFactor(given: string | undefined, isJvm: boolean): number {
  if (given === undefined) return isJvm ? JVM_FACTOR : NON_JVM_FACTOR;
  const factor = Number(given);
  if (given.trim() === "" || !(factor > 0)) {
    throw new SubmissionError(
      `'${given}' in spark.kubernetes.memoryOverheadFactor is invalid. Ensure that memory overhead is a double greater than 0`,
    );
  }
  return factor;
}
