/**
 * Finding and ending processes, including those whose parent is long gone. Every process of a cluster carries the
 * cluster's folder in its environment, and its children inherit it: that is how all of them are found again without
 * any list that a crash could leave incomplete.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { poll } from "../clock.ts";
import { ClusterError } from "../errors.ts";

/** The variable that marks a process as belonging to a cluster. */
export const MARKER = "BERTH_CLUSTER_FOLDER";

/** A process id alone may be reused; together with its start time it is unique as long as the machine runs. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

/** Who has this process id now. `undefined` if nobody has, or only a zombie that its parent has yet to notice. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readProc(pid, "stat");
  // The second field is the program's name in brackets and may contain anything: count from the last bracket.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields?.[0];
  const started = fields?.[19];
  if (!started || state === "Z" || state === "X") return undefined;
  return { pid, started };
}

export function isAlive(identity: ProcessIdentity | null | undefined): boolean {
  return identity != null && identify(identity.pid)?.started === identity.started;
}

/** Resident memory in bytes; 0 if the process is gone. */
export function residentBytes(pid: number): number {
  const kilobytes = readProc(pid, "status")?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** The living processes that carry `folder` as their mark. */
export function markedProcesses(folder: string): number[] {
  const mark = `${MARKER}=${folder}`;
  return allProcesses().filter(
    (pid) => readProc(pid, "environ")?.split("\0").includes(mark) && identify(pid) !== undefined,
  );
}

/** The marked processes in the same mount namespace as `pid`: those of one real node. */
export function markedBeside(folder: string, pid: number): number[] {
  const namespace = mountNamespace(pid);
  return namespace === undefined ? [] : markedProcesses(folder).filter((other) => mountNamespace(other) === namespace);
}

function mountNamespace(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

/** SIGKILLs whatever `find` finds until it finds nothing: a dying process may still have started another one. */
export async function killUntilGone(find: () => number[]): Promise<void> {
  const gone = await poll(
    () => {
      const found = find().filter((pid) => pid > 1 && pid !== process.pid); // 0 and 1 would be everybody
      if (found.length === 0) return true;
      for (const pid of found) kill(pid);
      return undefined;
    },
    { timeoutMs: 30_000, intervalMs: 20 },
  );
  if (!gone) {
    throw new ClusterError("BERTH_CLUSTER_REMNANTS", `these processes do not end: ${find().join(", ")}`);
  }
}

/** A process that is already gone is fine. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function allProcesses(): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined; // gone since, or somebody else's: either way not ours
  }
}
