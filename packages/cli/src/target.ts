/** Whom a command asks: a gateway, or, as a plugin of kubectl, a cluster. */
import { BerthClient } from "@berth/sdk";
import { CliError } from "./errors.ts";
import { isPlugin, type TargetFlags } from "./flags.ts";
import { readRecord } from "./record.ts";

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
  if (isCluster) return (await import("./cluster.ts")).askingCluster(flags, work);
  const known = url ?? readRecord()?.url;
  if (known === undefined) {
    throw new CliError("BERTH_CLI_NO_GATEWAY", "there is no gateway that this command knows of");
  }
  const client = new BerthClient({ url: known, ...(token !== undefined && { token }) });
  return [await work({ client, namespace: undefined })];
}
