/**
 * Cleans up after a parent that ended without saying so: killed, crashed, or simply finished.
 *
 * The parent holds one end of a pipe. The other end is read by a shell that waits for next to nothing; when the pipe
 * closes without the word "keep", the parent is gone, and the shell becomes this program.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readRecord } from "./cluster-record.ts";
import { ClusterError } from "./errors.ts";
import { searchPath } from "./process/command.ts";
import { isAlive } from "./process/processes.ts";
import { tearDown, withClusterLock } from "./teardown.ts";

/** Calls the reaper off: the cluster is gone already, or shall outlive this process. */
export type CallOff = () => void;

/** From now on the end of this process is the end of the cluster that it owns in this folder. */
export function startReaper(folder: string): CallOff {
  const script = 'read -r word; [ "$word" = keep ] || exec "$0" "$@"';
  const self = fileURLToPath(import.meta.url);
  const shell = spawn("sh", ["-c", script, process.execPath, self, folder], {
    detached: true, // not in the terminal's foreground group: a Ctrl-C must not reach it
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
    env: { PATH: searchPath(), HOME: process.env.HOME ?? "/" }, // NODE_OPTIONS and the like are not for it
  });
  if (shell.pid === undefined) {
    throw new ClusterError(
      "BERTH_CLUSTER_TOOLS_MISSING",
      "a cluster needs sh, which cleans up if this process is killed",
    );
  }
  shell.stdin.on("error", () => {}); // it was killed: nothing to be done, and `down` cleans up as well
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return () => shell.stdin.end("keep\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] as string;
  await withClusterLock(folder, async () => {
    // Somebody else's cluster of the same name, or one that shall stay, is left alone.
    const owner = readRecord(folder)?.owner;
    if (owner !== null && !isAlive(owner)) await tearDown(folder);
  });
}
