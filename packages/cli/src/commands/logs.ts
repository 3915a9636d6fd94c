/** `berth logs`: what the executors of a job say. */
import { coreV1 } from "@berth/kube";
import { onCluster } from "../cluster.ts";
import { CliError } from "../errors.ts";
import type { TargetFlags } from "../flags.ts";

export interface LogsFlags extends TargetFlags {
  readonly executor?: string;
  readonly follow?: boolean;
  readonly tail?: string;
}

/** What the executors of a job say, each line with its slot. */
export async function logs(name: string, flags: LogsFlags): Promise<void> {
  await onCluster(flags, async (client, namespace) => {
    const { items } = await client.list(coreV1.Pod, { namespace, labelSelector: "berth.dev/role=executor" });
    const own = items.filter(({ metadata }) => metadata.annotations?.["berth.dev/job"] === `${namespace}/${name}`);
    const slotOf = (pod: coreV1.Pod) => pod.metadata.annotations?.["berth.dev/slot"];
    const meant = flags.executor === undefined ? own : own.filter((pod) => slotOf(pod) === flags.executor);
    if (meant.length === 0) throw new CliError("BERTH_CLI_USAGE", `job ${name} has no executors whose logs are kept`);
    await Promise.all(
      meant.map(async (pod) => {
        const key = { namespace, name: pod.metadata.name ?? "" };
        const options = {
          ...(flags.follow && { follow: true }),
          ...(flags.tail !== undefined && { tailLines: Number(flags.tail) }),
        };
        for await (const line of client.logs(key, options)) console.log(`[slot ${slotOf(pod) ?? "?"}] ${line}`);
      }),
    );
  });
}
