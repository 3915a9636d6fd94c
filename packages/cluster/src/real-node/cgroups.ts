/** The control groups of real nodes' pods: one per cluster in each hierarchy, `<tag>/<node>`. */
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { poll } from "../clock.ts";
import { ClusterError } from "../errors.ts";

const ROOT = "/sys/fs/cgroup";

/** Version 2 has one hierarchy, version 1 one for each controller. */
function hierarchies(): string[] {
  if (existsSync(join(ROOT, "cgroup.controllers"))) return [ROOT];
  try {
    return readdirSync(ROOT)
      .map((name) => join(ROOT, name))
      .filter((folder) => lstatSync(folder).isDirectory());
  } catch {
    return []; // not Linux, or a container without cgroups: then there are none of ours either
  }
}

/** Makes the cgroup below which a node's kubelet puts its pods; returns its name as the kubelet wants it. */
export function createCgroup(tag: string, node: string): string {
  for (const hierarchy of hierarchies()) {
    for (const folder of [join(hierarchy, tag), join(hierarchy, tag, node)]) {
      mkdirSync(folder, { recursive: true });
      // A new cpuset of version 1 is empty, and no process can be put into an empty one.
      for (const file of ["cpuset.cpus", "cpuset.mems"]) {
        if (hierarchy.endsWith("/cpuset")) copyFileSync(join(folder, "..", file), join(folder, file));
      }
    }
  }
  return `/${tag}/${node}`;
}

/** Every process in the cluster's cgroups, or in those of one node. */
export function cgroupProcesses(tag: string, node = ""): number[] {
  const pids = hierarchies().flatMap((hierarchy) =>
    foldersBelow(join(hierarchy, tag, node)).flatMap((folder) => readLines(join(folder, "cgroup.procs")).map(Number)),
  );
  return [...new Set(pids)];
}

/** Removes the cgroups; their processes must have ended. */
export async function removeCgroups(tag: string, node = ""): Promise<void> {
  const removed = await poll(
    () => {
      for (const hierarchy of hierarchies()) {
        for (const folder of foldersBelow(join(hierarchy, tag, node)).reverse()) {
          try {
            rmdirSync(folder);
          } catch {
            return undefined; // the kernel may take a moment to let go of a process that has just ended
          }
        }
      }
      return true;
    },
    { timeoutMs: 5000, intervalMs: 20 },
  );
  if (!removed) throw new ClusterError("BERTH_CLUSTER_REMNANTS", `the cgroups ${join(tag, node)} cannot be removed`);
}

/** The folder and all folders inside, parents first. Empty if it does not exist. */
function foldersBelow(folder: string): string[] {
  try {
    const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [folder, ...inside.flatMap((entry) => foldersBelow(join(folder, entry.name)))];
  } catch {
    return [];
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
