/** What processes have used: their time on the processors and their memory, with everything that they started. */
import { readdirSync, readFileSync } from "node:fs";
import { residentBytes } from "@berth/cluster";

export interface Usage {
  /** Since the processes began; take the difference of two readings. */
  readonly cpuSeconds: number;
  /** Now. */
  readonly residentBytes: number;
}

/** One line of /proc, read. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time, its own and that of its children that have ended. */
  readonly cpuSeconds: number;
}

/** The kernel counts in hundredths of a second, whatever its own clock does. */
const TICKS_PER_SECOND = 100;

/** Sums over the given processes and all their descendants. Processes that are gone count nothing. */
export function usage(pids: readonly number[]): Usage {
  const counted = withDescendants(pids, allProcesses());
  return {
    cpuSeconds: counted.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    residentBytes: counted.reduce((sum, { pid }) => sum + residentBytes(pid), 0),
  };
}

/** What one process has used since it began, without those that it started and that still run; 0 if it is gone. */
export function ownCpuSeconds(pid: number): number {
  return statOf(pid)?.cpuSeconds ?? 0;
}

/** Pure: those of `all` that are among `pids` or descend from them, each once. */
export function withDescendants(pids: readonly number[], all: readonly ProcessStat[]): ProcessStat[] {
  const found = new Set(pids);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** Pure: reads the text of /proc/PID/stat. */
export function parseStat(text: string): ProcessStat {
  // The second field is the program's name in brackets and may contain anything: count from the last bracket.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(text, 10), parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
}

function allProcesses(): ProcessStat[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => statOf(Number(pid)) ?? []);
}

function statOf(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined; // it has ended since
  }
}
