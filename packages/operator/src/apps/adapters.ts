/** All kinds of applications that there are, and which of them a cluster can run. */
import type { Reader } from "@berth/kube";
import { isServed } from "../install/served.ts";
import type { ApplicationAdapter } from "./application.ts";
import { flink } from "./flink.ts";
import { job } from "./job.ts";
import { spark } from "./spark.ts";

/** Of all kinds, whether their operators are installed or not. */
export const adapters: readonly ApplicationAdapter[] = [
  spark,
  flink,
  job,
] as readonly unknown[] as readonly ApplicationAdapter[];

/** Those whose operator is installed: an informer of a kind that is not there would wait for it for ever. */
export async function installedAdapters(client: Reader): Promise<ApplicationAdapter[]> {
  const found = await Promise.all(
    adapters.map(async (adapter) => ((await isServed(client, adapter.resource)) ? [adapter] : [])),
  );
  return found.flat();
}
