/**
 * The one way a cluster ends: `stop()`, `down`, a start that failed, a parent that was killed and a start over the
 * remains of a crash all come here. It relies on nothing but the cluster's folder, and running it twice does no harm.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readRecord } from "./cluster-record.ts";
import { clusterPlaces } from "./places.ts";
import { withLock } from "./process/lock.ts";
import { killUntilGone, markedProcesses } from "./process/processes.ts";
import { cgroupProcesses, removeCgroups } from "./real-node/cgroups.ts";
import { removeNetwork } from "./real-node/network.ts";

/** Ends every process of the cluster and removes everything it left in the kernel and on disk. */
export async function tearDown(folder: string): Promise<void> {
  const places = clusterPlaces(folder);
  const { tag } = places;
  // Kubelets and control plane by their mark, the containers by their cgroup: together nothing is left that could
  // start another process. Mounts and network namespaces of real nodes end with the last process inside.
  await killUntilGone(() => [...markedProcesses(folder), ...cgroupProcesses(tag)]);
  await removeCgroups(tag);
  removeNetwork(places);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Tears down the cluster with this id, and no other that may have taken its name since. */
export async function tearDownOwn({ folder, id }: { folder: string; id: string }): Promise<void> {
  await withClusterLock(folder, async () => {
    const present = readRecord(folder);
    if (!present || present.id === id) await tearDown(folder);
  });
}

/** Keeps two processes from starting and ending a cluster of the same name at once. */
export function withClusterLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  // Sixteen locks for all names there will ever be: a lock's file can never be removed, as somebody may wait for it.
  const { locks, tag } = clusterPlaces(folder);
  return withLock(join(locks, `clusters-${tag.at(-1)}`), work);
}

/** Whether there is anything of a cluster, also if its folder was removed by hand. */
export function hasRemains(folder: string): boolean {
  return existsSync(folder) || markedProcesses(folder).length > 0;
}
