/** Where things are kept: binaries in the user's cache, running clusters in the user's state folder. */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** Built binaries and nothing that cannot be made again. `BERTH_CACHE`, else the XDG cache folder. */
export function cacheFolder(): string {
  return resolve(process.env.BERTH_CACHE ?? join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "berth"));
}

/** What is running. `BERTH_STATE`, else the XDG state folder. */
export function stateFolder(): string {
  return resolve(
    process.env.BERTH_STATE ?? join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "berth"),
  );
}

export function clustersFolder(): string {
  return join(stateFolder(), "clusters");
}

/** All files of one cluster live below one folder; removing it is the last step of taking the cluster down. */
export interface ClusterPlaces {
  readonly folder: string;
  readonly record: string;
  readonly kubeconfig: string;
  readonly pki: string;
  readonly components: string;
  readonly logs: string;
  readonly etcd: string;
  readonly audit: string;
  readonly nodes: string;
  /** The folder of the locks, which all clusters of a user share. */
  readonly locks: string;
  /** A short name for kernel objects (network devices, cgroups), which have no folders to live in. */
  readonly tag: string;
  log(component: string): string;
}

export function clusterPlaces(folder: string): ClusterPlaces {
  return {
    folder,
    record: join(folder, "cluster.json"),
    kubeconfig: join(folder, "kubeconfig"),
    pki: join(folder, "pki"),
    components: join(folder, "components"),
    logs: join(folder, "logs"),
    etcd: join(folder, "etcd"),
    audit: join(folder, "audit.log"),
    nodes: join(folder, "nodes"),
    // From the folder and not from the environment, which a process that cleans up elsewhere does not share.
    locks: join(dirname(dirname(folder)), "locks"),
    tag: `bth${createHash("sha256").update(folder).digest("hex").slice(0, 6)}`,
    log: (component) => join(folder, "logs", `${component}.log`),
  };
}
