/** `berth operator`: only the operator, on a cluster that is there already. */
import { jsonLogger, WallClock } from "@berth/kube";
import { runOperator } from "@berth/operator";
import { type ConnectionFlags, connectionOf } from "../connection.ts";

export interface OperatorFlags extends ConnectionFlags {
  readonly namespace?: string;
  readonly leaderElection?: boolean;
}

/** Until the signal is aborted. */
export async function operator(flags: OperatorFlags, signal: AbortSignal): Promise<void> {
  await runOperator({
    connection: connectionOf(flags),
    log: jsonLogger({ clock: new WallClock() }),
    signal,
    ...(flags.leaderElection && { leaseNamespace: flags.namespace ?? "berth-system" }),
  });
}
