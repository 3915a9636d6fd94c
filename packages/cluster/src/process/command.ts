/** Running other people's programs: where they are found, and how they are known to belong to a cluster. */
import { execFile, execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { MARKER } from "./processes.ts";

/** The user's PATH and, whether or not they are in it, the folders of programs that only root needs. */
export function searchPath(): string {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/local/sbin", "/usr/sbin", "/sbin"];
  return [...new Set(folders.filter(Boolean))].join(":");
}

/** What a process of the cluster in `folder` gets as its environment, and nothing else. */
export function clusterEnvironment(folder: string): NodeJS.ProcessEnv {
  return { PATH: searchPath(), HOME: process.env.HOME ?? "/", [MARKER]: folder };
}

/** Runs a program on behalf of a cluster; its death is the cluster's teardown's business too. */
export async function run(
  folder: string,
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const env = clusterEnvironment(folder);
  await promisify(execFile)(program, args, { env, ...(signal && { signal }) }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}

/** The same for programs that take no time; returns what it printed. */
export function runSync(folder: string, program: string, args: readonly string[]): string {
  return execFileSync(program, args, { env: clusterEnvironment(folder), encoding: "utf8", stdio: "pipe" });
}

export function findProgram(name: string): string | undefined {
  return searchPath()
    .split(":")
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
