/**
 * Whom a command asks: a gateway, or, as a plugin of kubectl, a cluster. For a cluster a gateway is started in this process, for
 * as long as the command takes, with the rights of whoever calls: so there is one way to ask, and RBAC decides as ever.
 */

import { basename } from "node:path";
import { Gateway } from "@berth/gateway";
import { Client, type Connection, HttpTransport } from "@berth/kube";
import { BatchJob, Scheduling, Slot, Testbed } from "@berth/model";
import { BerthClient } from "@berth/sdk";
import type { Command } from "commander";
import { type ConnectionFlags, connectionOf } from "./connection.ts";
import { CliError } from "./errors.ts";
import { readRecord } from "./record.ts";

export interface TargetFlags {
  readonly url?: string;
  readonly token?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

/** The flags by which a command finds whom to ask. */
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

/** One namespace, and how to ask about it. */
export interface Place {
  readonly client: BerthClient;
  /** None: that of the gateway, which says nothing of it. */
  readonly namespace: string | undefined;
}

/** Asks about one namespace, or about all that have anything of Berth in them. */
export async function asking<T>(flags: TargetFlags, work: (place: Place) => Promise<T>): Promise<T[]> {
  const { url = process.env.BERTH_URL, token, kubeconfig, context, namespace, allNamespaces } = flags;
  const isNamed = kubeconfig !== undefined || context !== undefined || namespace !== undefined || allNamespaces;
  const isCluster = isNamed || (isPlugin() && flags.url === undefined);
  if (url !== undefined && !isCluster) return [await work(atGateway(url, token))];
  if (!isCluster) {
    const record = readRecord();
    if (record) return [await work(atGateway(record.url, token))];
    throw new CliError("BERTH_CLI_NO_GATEWAY", "there is no gateway that this command knows of");
  }
  const connection = clusterOf({ kubeconfig, context });
  const transport = new HttpTransport(connection, { userAgent: "berth-cli" });
  try {
    const names = allNamespaces ? await namespacesOf(new Client(transport)) : [namespace ?? connection.namespace];
    const results: T[] = [];
    for (const name of names) {
      await using gateway = await Gateway.start({ transport, namespace: name });
      results.push(await work({ client: new BerthClient({ url: gateway.url }), namespace: name }));
    }
    return results;
  } finally {
    await transport.close();
  }
}

/** The cluster itself, for what a gateway does not offer. */
export async function onCluster<T>(
  { kubeconfig, context, namespace }: TargetFlags,
  work: (client: Client, namespace: string) => Promise<T>,
): Promise<T> {
  const connection = clusterOf({ kubeconfig, context });
  const transport = new HttpTransport(connection, { userAgent: "berth-cli" });
  try {
    return await work(new Client(transport), namespace ?? connection.namespace);
  } finally {
    await transport.close();
  }
}

/** Unless another one is named, that of `berth up` on this machine. */
function clusterOf({ kubeconfig, context }: ConnectionFlags): Connection {
  const known = process.env.KUBECONFIG ? undefined : readRecord()?.kubeconfig;
  return connectionOf({ kubeconfig: kubeconfig ?? known, context });
}

function atGateway(url: string, token: string | undefined): Place {
  return { client: new BerthClient({ url, ...(token !== undefined && { token }) }), namespace: undefined };
}

async function namespacesOf(client: Client): Promise<string[]> {
  const lists = await Promise.all(
    [BatchJob, Scheduling, Slot, Testbed].map((kind) => client.list(kind as typeof Slot)),
  );
  const names = lists.flatMap(({ items }) => items.flatMap(({ metadata }) => metadata.namespace ?? []));
  return [...new Set(names)].sort();
}
