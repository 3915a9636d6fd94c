/** The command `npm run sim -- …`: a simulated cluster in the foreground, for kubectl and other programs. */
import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { jsonLogger, WallClock } from "@berth/kube";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { WorkModelError } from "../work/errors.ts";

interface Flags {
  readonly nodes: number;
  readonly speed: number;
  readonly port?: number;
  readonly seed: string;
  readonly kubeconfig: string;
  readonly work?: string;
  readonly log?: string;
}

const program = new Command("npm run sim --")
  .description(
    "A simulated Kubernetes in this process: API server, scheduler, kubelets and controllers. Ctrl-C ends it.",
  )
  .option("--nodes <count>", "nodes with 8 CPUs, 32Gi of memory and 110 pods each", whole(10_000), 10)
  .option("--speed <factor>", "how many seconds pass there in one second here", factor, 1)
  .option("--port <port>", "where to listen on this machine (default: a free port)", whole(65_535))
  .option("--seed <text>", "the same seed gives the same chances", "berth")
  .option("--kubeconfig <file>", "where to write what kubectl needs to know", "sim.kubeconfig")
  .option("--work <file>", "a work model: how long which applications run (default: the one that comes along)")
  .option("--log <file>", "write every change of every object into a file, one line of JSON each")
  .allowExcessArguments(false)
  .exitOverride()
  .addHelpText(
    "after",
    `
Examples:
  npm run sim -- --nodes 100
  npm run sim -- --nodes 5000 --speed 60         an hour a minute
  KUBECONFIG=sim.kubeconfig kubectl create job pi --image=pi -- sleep 30
  KUBECONFIG=sim.kubeconfig kubectl get pods -o wide --watch`,
  )
  .action(run);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof WorkModelError) console.error(`sim: ${error.code}: ${error.message}\n${error.remedy}`);
  else if (!(error instanceof CommanderError)) console.error(`sim: ${(error as Error).message}`);
  process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : 1;
}

async function run({ nodes, speed, port, seed, kubeconfig, work, log: path }: Flags): Promise<void> {
  // Only now, so that whoever asks for help does not wait for all of Kubernetes.
  const [{ startSim }, { loadWorkModel }] = await Promise.all([import("../simulation.ts"), import("../work/model.ts")]);
  const clock = new WallClock({ speed });
  const failures = jsonLogger({ clock });
  const events = path === undefined ? undefined : createWriteStream(path);
  const sim = await startSim({
    clock,
    seed,
    nodes,
    http: port === undefined ? true : { port },
    ...(work !== undefined && { applications: { work: loadWorkModel(resolve(work)) } }),
    ...(events && { log: (line: string) => events.write(`${line}\n`) }),
    onFailure: (error) => failures.error("something went wrong in the simulated cluster", { error }),
  });
  sim.writeKubeconfig(kubeconfig);
  console.log(`A simulated cluster with ${nodes} nodes at ${sim.address}; Ctrl-C ends it.

  export KUBECONFIG=${resolve(kubeconfig)}
  kubectl get nodes`);
  await new Promise<void>((end) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end());
  });
  await sim.stop();
  events?.end();
}

function whole(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from 0 to ${most}.`);
  };
}

function factor(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Give a number above 0.");
}
