/** Starts the operator on a cluster. */
import { type Clock, Manager, type ManagerOptions, silent, type Transport } from "@berth/kube";
import { installedAdapters } from "../../apps/adapters.ts";
import { OPERATOR } from "../../install/installation.ts";
import { addOperator, type Operator, type OperatorOptions } from "../../operator.ts";

export interface Running extends Operator {
  /** Rejects if it has ended by itself. */
  readonly ended: Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
}

type OnOptions = Omit<OperatorOptions, "adapters"> & Pick<ManagerOptions, "leaderElection" | "random">;

/** Everything that it needs has to be installed. */
export async function operatorOn(
  transport: Transport,
  clock: Clock,
  { leaderElection, random, ...options }: OnOptions = {},
): Promise<Running> {
  const manager = new Manager({
    ...{ transport, clock, log: silent, name: OPERATOR },
    ...(leaderElection && { leaderElection }),
    ...(random && { random }),
  });
  const adapters = await installedAdapters(manager.apiReader);
  const operator = addOperator(manager, { adapters, ...options });
  const over = new AbortController();
  const running = manager.start({ signal: over.signal });
  return {
    ...operator,
    ended: running,
    stop: async () => {
      over.abort();
      await running;
    },
  };
}
