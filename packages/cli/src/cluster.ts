/**
 * Asks a cluster. A gateway is started for it in this process, for as long as the command takes, with the rights of whoever calls: so
 * there is one way to ask, and RBAC decides as ever.
 */
import { Gateway } from "@berth/gateway";
import { Client, type Connection, HttpTransport } from "@berth/kube";
import { BatchJob, Scheduling, Slot, Testbed } from "@berth/model";
import { BerthClient } from "@berth/sdk";
import { type ConnectionFlags, connectionOf } from "./connection.ts";
import type { TargetFlags } from "./flags.ts";
import { readRecord } from "./record.ts";
import type { Place } from "./target.ts";

/** Asks about one namespace, or about all that have anything of Berth in them. */
export async function askingCluster<T>(flags: TargetFlags, work: (place: Place) => Promise<T>): Promise<T[]> {
  return withTransport(flags, async (transport, { namespace }) => {
    const names = flags.allNamespaces ? await namespacesOf(new Client(transport)) : [flags.namespace ?? namespace];
    const results: T[] = [];
    for (const name of names) {
      await using gateway = await Gateway.start({ transport, namespace: name });
      results.push(await work({ client: new BerthClient({ url: gateway.url }), namespace: name }));
    }
    return results;
  });
}

/** The cluster itself, for what a gateway does not offer. */
export async function onCluster<T>(
  flags: TargetFlags,
  work: (client: Client, namespace: string) => Promise<T>,
): Promise<T> {
  return withTransport(flags, (transport, { namespace }) => work(new Client(transport), flags.namespace ?? namespace));
}

async function withTransport<T>(
  flags: TargetFlags,
  work: (transport: HttpTransport, connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = clusterOf(flags);
  const transport = new HttpTransport(connection, { userAgent: "berth-cli" });
  try {
    return await work(transport, connection);
  } finally {
    await transport.close();
  }
}

/** Unless another one is named, that of `berth up` on this machine. */
function clusterOf({ kubeconfig, context }: ConnectionFlags): Connection {
  const known = process.env.KUBECONFIG ? undefined : readRecord()?.kubeconfig;
  return connectionOf({ kubeconfig: kubeconfig ?? known, context });
}

async function namespacesOf(client: Client): Promise<string[]> {
  const lists = await Promise.all(
    [BatchJob, Scheduling, Slot, Testbed].map((kind) => client.list(kind as typeof Slot)),
  );
  const names = lists.flatMap(({ items }) => items.flatMap(({ metadata }) => metadata.namespace ?? []));
  return [...new Set(names)].sort();
}
