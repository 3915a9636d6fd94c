/**
 * The operator as it would be in a cluster: bundled, told that this is production, in a process of its own, and with its own
 * account's rights and no others.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cluster } from "@berth/cluster";
import { OPERATOR } from "@berth/operator";
import { rolldown } from "rolldown";
import { production } from "../runtime/ours.ts";
import { benchCache } from "../runtime/peer-build.ts";
import { type PeerProcess, startProcess } from "../runtime/peer-process.ts";

/** Where `install` puts the operator. */
const NAMESPACE = "berth-system";

/** Whom the API server takes it for. */
export const OPERATOR_ACCOUNT = `system:serviceaccount:${NAMESPACE}:${OPERATOR}`;

const source = fileURLToPath(new URL("../../packages/operator/src/cli/main.ts", import.meta.url));
const program = () => join(benchCache(), "ours-operator", "operator.mjs");

/** Takes less than a second, so it is done every time. */
export async function buildOperator(): Promise<void> {
  await using bundle = await rolldown({ input: source, platform: "node", logLevel: "warn" });
  await bundle.write({ dir: dirname(program()), entryFileNames: "operator.mjs", format: "esm" });
}

/** A kubeconfig with the operator's own rights, which `install` must have given it. */
export async function operatorKubeconfig(cluster: Cluster): Promise<string> {
  const token = await cluster.kubectl("create", "token", OPERATOR, `--namespace=${NAMESPACE}`, "--duration=4h");
  const folder = dirname(cluster.kubeconfig);
  const authority = readFileSync(join(folder, "pki", "ca.crt")).toString("base64");
  const file = join(folder, "operator.kubeconfig");
  const name = "operator";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server: cluster.server, "certificate-authority-data": authority } }],
    users: [{ name, user: { token: token.trim() } }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 }); // which is YAML, too
  return file;
}

export interface OperatorOptions {
  /** Of `operatorKubeconfig`. */
  readonly kubeconfig: string;
  /** Further flags of `npm run operator -- run`. */
  readonly flags?: readonly string[];
  readonly signal: AbortSignal;
}

/** Starts what `buildOperator` has made. */
export function startOperator({ kubeconfig, flags = [], signal }: OperatorOptions): PeerProcess {
  const command = [process.execPath, program(), "run", ...flags] as const;
  return startProcess("operator", command, { kubeconfig, env: production, signal });
}

/** The most memory that a process has ever had, in bytes. */
export function peakBytes(pid: number): number {
  const kilobytes = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s+(\d+) kB$/m)?.[1];
  return Number(kilobytes ?? 0) * 1024;
}
