/** One process of a peer: how it is started, and how it is ended. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { poll } from "@berth/cluster";
import type { Command } from "./peer-build.ts";

export interface StartOptions {
  /** Of a cluster that `startCluster` has started. */
  readonly kubeconfig: string;
  /** Besides what every peer gets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface PeerProcess {
  readonly pid: number;
  /** Aborted, with the end of its log as the reason, when the process ends before it is told to. */
  readonly died: AbortSignal;
  /** The first line that it prints. */
  firstLine(): Promise<string>;
  /** Ends it, gently if it lets itself be ended, and waits until it is gone. */
  stop(): Promise<void>;
}

/** How long a process may take to print its first line, and to end after SIGTERM. */
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;

/**
 * Starts a process that belongs to the cluster: it carries the cluster's mark, so that it ends with the cluster even if
 * this process is killed, and its log is among the cluster's.
 */
export function startProcess(
  name: string,
  [program, ...args]: Command,
  { kubeconfig, env, signal }: StartOptions,
): PeerProcess {
  const { PATH = "", HOME = "/" } = process.env;
  const clusterFolder = dirname(kubeconfig);
  const logFile = join(clusterFolder, "logs", `bench-${name}.log`);
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, "a");
  const child = spawn(program, args, {
    cwd: clusterFolder,
    // Nothing else of ours: proxies, or flags for all of somebody's Java programs, would be measured as well.
    env: { PATH, HOME, ...env, KUBECONFIG: kubeconfig, BERTH_CLUSTER_FOLDER: clusterFolder },
    detached: true, // a Ctrl-C in the terminal is for us, who then end it
    stdio: ["ignore", "pipe", log],
  });
  closeSync(log);

  let line: string | undefined;
  createInterface(child.stdout as Readable).on("line", (text) => {
    line ??= text;
  });
  const died = new AbortController();
  let gone = false;
  let stopping = false;
  const end = (how: string) => {
    gone = true;
    if (!stopping) died.abort(new Error(`${name} ${how}; the end of its log:\n${tail(logFile)}`));
  };
  child.on("error", (error) => end(`could not be started: ${error.message}`));
  child.on("exit", (code, by) => end(`ended by itself (${by ?? code})`));

  return {
    pid: child.pid ?? 0,
    died: died.signal,
    firstLine: async () => {
      const either = AbortSignal.any([signal, died.signal]);
      const first = await poll(() => line, { timeoutMs: START_WITHIN_MS, intervalMs: 20, signal: either });
      if (first === undefined) throw new Error(`${name} said nothing within ${START_WITHIN_MS / 1000} s`);
      return first;
    },
    stop: async () => {
      stopping = true;
      child.kill("SIGTERM");
      const ended = await poll(() => gone || undefined, { timeoutMs: STOP_WITHIN_MS, intervalMs: 20 });
      if (!ended) child.kill("SIGKILL");
      await poll(() => gone || undefined, { timeoutMs: STOP_WITHIN_MS, intervalMs: 20 });
    },
  };
}

function tail(file: string): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-15).join("\n") || "(empty)";
  } catch {
    return "(gone with its cluster)";
  }
}
