/** The flags by which commands find whom to ask. Nothing else is loaded with them: each command loads what it needs. */
import { basename } from "node:path";
import type { Command } from "commander";

export interface TargetFlags {
  readonly url?: string;
  readonly token?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

export function withTarget(command: Command): Command {
  return command
    .option("--url <url>", "the gateway (default: BERTH_URL, else that of berth up)")
    .option("--token <token>", "a Kubernetes token for it (default: BERTH_TOKEN)")
    .option("--kubeconfig <file>", "ask a cluster instead, as kubectl would")
    .option("--context <name>", "of the kubeconfig")
    .option("-n, --namespace <name>", "on a cluster (default: that of the context)");
}

/** Whether kubectl has called us, whose habit it is to ask the cluster. */
export function isPlugin(): boolean {
  return /^kubectl[-_]berth/.test(basename(process.argv[1] ?? ""));
}
