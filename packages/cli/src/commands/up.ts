/** `berth up`: a cluster with operator and gateway, in one process, until Ctrl-C. */
import { type Clock, jsonLogger, type Logger, silent, untilAborted, VirtualClock, WallClock } from "@berth/kube";
import { play } from "../demo/play.ts";
import { CliError } from "../errors.ts";
import { removeRecord, writeKubeconfig, writeRecord } from "../record.ts";
import { type Berth, startBerth } from "../up/berth.ts";
import { live } from "../view/live.ts";

export interface UpFlags {
  readonly cluster: "embedded" | "local";
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly nodes: number;
  readonly slots: number;
  readonly speed: number;
  readonly virtualTime?: boolean;
  readonly host: string;
  readonly port: number;
  readonly authentication?: "kubernetes" | "none";
  readonly demo?: boolean | string;
  readonly view?: boolean;
  readonly verbose?: boolean;
}

export async function up(flags: UpFlags, signal: AbortSignal): Promise<void> {
  const { cluster, kubeconfig, context, view = true } = flags;
  const isGiven = kubeconfig !== undefined || context !== undefined;
  const clock = clockFor(flags, cluster === "embedded" && !isGiven);
  const log: Logger = flags.verbose ? jsonLogger({ clock }) : silent;
  const wall = new WallClock();
  const begun = wall.steady();
  await using berth = await startBerth({
    cluster: isGiven ? { kubeconfig, ...(context !== undefined && { context }) } : cluster,
    ...{ clock, log, signal, nodes: flags.nodes, slotsPerNode: flags.slots, kubectl: true },
    ...(flags.namespace !== undefined && { namespace: flags.namespace }),
    gateway: {
      ...{ host: flags.host, port: flags.port },
      ...(flags.authentication && { authentication: flags.authentication }),
    },
    onProgress: (what) => console.error(`… ${what}`),
  });
  const path = "text" in berth.kubeconfig ? writeKubeconfig(berth.kubeconfig.text) : berth.kubeconfig.path;
  writeRecord({ pid: process.pid, url: berth.url, ...(path !== undefined && { kubeconfig: path }) });
  try {
    console.error(`… ready in ${((wall.steady() - begun) / 1000).toFixed(1)} s`);
    await stay(berth, path, flags, { clock, signal, view });
  } finally {
    removeRecord();
  }
}

/** @param isOurs - Whether the cluster's time is ours to choose. */
function clockFor({ speed, virtualTime = false }: UpFlags, isOurs: boolean): Clock {
  const flag = virtualTime ? "--virtual-time" : "--speed";
  if ((virtualTime || speed !== 1) && !isOurs) {
    throw new CliError("BERTH_CLI_USAGE", `${flag} is for the embedded cluster: a real one has the world's time`);
  }
  if (virtualTime && speed !== 1) throw new CliError("BERTH_CLI_USAGE", "--virtual-time has no --speed");
  // Certificates that were made now are not valid in other years.
  return virtualTime ? new VirtualClock({ start: new WallClock().now() }) : new WallClock({ speed });
}

async function stay(
  berth: Berth,
  kubeconfig: string | undefined,
  flags: UpFlags,
  { clock, signal, view }: { clock: Clock; signal: AbortSignal; view: boolean },
): Promise<void> {
  const { url, kinds } = berth;
  const scheduler = flags.demo === true ? "fifo" : flags.demo || undefined;
  const next = nextSteps(url, kubeconfig);
  console.log(next.join("\n"));
  const failures: string[] = [];
  const playing = scheduler
    ? play({
        ...{ url, clock, kinds, scheduler, testbed: "main", signal, forever: !flags.virtualTime },
        onError: (error) => failures.push(String(error)),
      })
    : Promise.resolve();
  const watching = view ? live({ url, signal, header: [...next, ""] }) : untilAborted(signal);
  await Promise.race([Promise.all([watching, playing]), berth.ended]);
  for (const failure of new Set(failures)) console.error(`berth: ${failure}`);
}

/** Where it is, and three things to try. */
function nextSteps(url: string, kubeconfig: string | undefined): string[] {
  return [
    `Berth is at ${url}, its interface explained at ${url}/docs. Ctrl-C ends it.`,
    "  npm run berth -- explain terasort        why a job waits",
    "  npm run berth -- get jobs -o wide        what runs where",
    `  PYTHONPATH=clients/python BERTH_URL=${url} python3 examples/schedulers/fifo.py`,
    ...(kubeconfig === undefined ? [] : [`  kubectl --kubeconfig ${kubeconfig} get berth`]),
  ];
}
