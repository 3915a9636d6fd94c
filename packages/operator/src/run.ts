/** The operator as a program: finds out what the cluster can run, works until it is told to end, and notices what is installed later. */
import { type Clock, type Connection, KubeError, type Logger, Manager, sleep, WallClock } from "@berth/kube";
import { adapters, installedAdapters } from "./apps/adapters.ts";
import type { ApplicationAdapter } from "./apps/application.ts";
import { OPERATOR } from "./install/installation.ts";
import { addOperator, type OperatorOptions } from "./operator.ts";

/** How the operator is to run as a program. */
export interface RunOptions extends Omit<OperatorOptions, "adapters"> {
  readonly connection: Connection;
  /** The namespace of the lease, for several replicas. Default: this is the only one. */
  readonly leaseNamespace?: string;
  /** After how long another replica takes over from one that has died. Default: 15 s. */
  readonly leaseSeconds?: number;
  readonly healthPort?: number;
  readonly metricsPort?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 60_000;

/** Runs until the signal is aborted. Rejects if another replica has taken over: then the process should end, and be started anew. */
export async function runOperator(options: RunOptions): Promise<void> {
  const clock = new WallClock();
  while (!options.signal.aborted) await runOnce(options, clock);
}

/** Ends, in order, when the cluster can run other kinds of applications than before. */
async function runOnce(options: RunOptions, clock: Clock): Promise<void> {
  const { connection, leaseNamespace, leaseSeconds = 15, healthPort, metricsPort, log, signal } = options;
  const manager = new Manager({
    connection,
    clock,
    log,
    name: OPERATOR,
    ...(leaseNamespace !== undefined && {
      leaderElection: {
        id: OPERATOR,
        namespace: leaseNamespace,
        leaseDurationMs: leaseSeconds * 1000,
        renewDeadlineMs: leaseSeconds * 667,
        retryPeriodMs: leaseSeconds * 133,
      },
    }),
    ...(healthPort !== undefined && { health: { port: healthPort } }),
    ...(metricsPort !== undefined && { metrics: { port: metricsPort } }),
  });
  const { apiReader } = manager;
  const present = await installedAdapters(apiReader);
  log.info("applications that this cluster can run", { kinds: namesOf(present), of: namesOf(adapters) });
  addOperator(manager, { ...options, adapters: present });
  const changed = new AbortController();
  manager.add({
    needsLeaderElection: false,
    start: async (stop) => {
      for (;;) {
        await sleep(clock, LOOK_EVERY_MS, stop);
        const now = await installedAdapters(apiReader).catch(() => present);
        if (namesOf(now) === namesOf(present)) continue;
        log.info("other applications are installed now", { kinds: namesOf(now) });
        changed.abort();
        return;
      }
    },
  });
  try {
    await manager.start({ signal: AbortSignal.any([signal, changed.signal]) });
  } catch (error) {
    if (!(error instanceof KubeError) || !signal.aborted) throw error;
  }
}

function namesOf(some: readonly ApplicationAdapter[]): string {
  return some.map(({ kind }) => kind).join(", ");
}
