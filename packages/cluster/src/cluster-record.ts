/** What is written down about a cluster, for other processes and for those who clean up after a crash. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Binaries } from "./binaries/binaries.ts";
import { ClusterError } from "./errors.ts";
import { clusterPlaces, clustersFolder } from "./places.ts";
import { writeJsonFile } from "./process/json-file.ts";
import { isAlive, type ProcessIdentity } from "./process/processes.ts";

export interface ClusterRecord {
  /** Tells this cluster from others that had, or will have, the same name. */
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  /** The process whose end is the cluster's end; `null` for a cluster that stays until it is taken down. */
  readonly owner: ProcessIdentity | null;
  readonly started: string;
  /** Whether the start is complete; until then nobody but the starter can use the cluster. */
  readonly ready: boolean;
  readonly server: string;
  readonly binaries: Binaries;
  readonly audit: boolean;
  /** The first two numbers of the addresses of real nodes and their pods, if there are any: "10.201". */
  readonly network: string | null;
}

export function writeRecord(record: ClusterRecord): ClusterRecord {
  const { record: file, folder } = clusterPlaces(record.folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return writeJsonFile(file, record);
}

/** `undefined` if there is no such cluster. */
export function readRecord(folder: string): ClusterRecord | undefined {
  try {
    return JSON.parse(readFileSync(clusterPlaces(folder).record, "utf8")) as ClusterRecord;
  } catch {
    return undefined;
  }
}

/** All clusters of this user, by name. */
export function listRecords(): ClusterRecord[] {
  let names: string[];
  try {
    names = readdirSync(clustersFolder()).sort();
  } catch {
    return [];
  }
  return names.flatMap((name) => readRecord(join(clustersFolder(), name)) ?? []);
}

/** The folder of the cluster called `name`. A name also becomes part of file names: only what is safe there. */
export function folderOf(name: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) {
    throw new ClusterError(
      "BERTH_CLUSTER_OPTION_INVALID",
      `"${name}" is not a cluster name: at most 40 lower-case letters, digits and inner hyphens`,
    );
  }
  return join(clustersFolder(), name);
}

/** Whether somebody still wants this cluster: its owner lives, or it was meant to outlive its owner. */
export function isWanted(record: ClusterRecord): boolean {
  return record.owner === null || isAlive(record.owner);
}
