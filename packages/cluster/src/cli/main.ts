/** The command `npm run cluster -- …`: clusters by name, started and ended from a terminal. */
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { parse } from "yaml";
import { sleep, stopwatch, today } from "../clock.ts";
import { type Cluster, openCluster, removeCluster } from "../cluster.ts";
import { isWanted, listRecords } from "../cluster-record.ts";
import type { SchedulerConfiguration } from "../control-plane/components.ts";
import { ClusterError } from "../errors.ts";
import { takesPods } from "../nodes/kwok-nodes.ts";
import type { ImageSource } from "../real-node/image.ts";
import { startCluster } from "../start.ts";
import { showProgress } from "./progress.ts";
import { parseShape, wholeNumber } from "./shape-option.ts";
import { statusText } from "./status.ts";

interface UpFlags {
  name: string;
  nodes: string;
  shape: string[];
  realNodes: string;
  image: string[];
  scheduler: string[];
  audit?: boolean;
  assets?: string;
  port?: string;
  attach?: boolean;
}

const program = new Command("npm run cluster --")
  .description("A real Kubernetes on this machine: etcd, kube-apiserver and the rest as plain processes.")
  .enablePositionalOptions()
  .exitOverride()
  .addHelpText(
    "after",
    `
Examples:
  npm run cluster -- up --nodes 20               a control plane and 20 KWOK nodes
  npm run cluster -- up --name lab --shape count=5,name=big,cpu=64,label:zone=a --shape count=50
  npm run cluster -- up --real-nodes 2           kubelets that run containers (Linux, root)
  npm run cluster -- kubectl get nodes
  npm run cluster -- kubectl --name lab get pods -A
  npm run cluster -- logs kube-scheduler --follow
  npm run cluster -- down`,
  );

const named = (command: Command) =>
  command.option("--name <name>", "the cluster's name: lower-case letters, digits and hyphens", "default");
const repeatable = (flags: string, description: string) =>
  new Option(flags, `${description} (repeatable)`)
    .default([], "none")
    .argParser((value: string, before: string[]) => [...before, value]);

named(program.command("up"))
  .description("start a cluster and leave it running")
  .option("--nodes <count>", "KWOK nodes (simulated) with 8 CPUs, 32Gi of memory and 110 pods each", "0")
  .addOption(
    repeatable(
      "--shape <shape>",
      "KWOK nodes of another shape: count=5,name=big,cpu=64,label:zone=a; any other key is a resource",
    ),
  )
  .option("--real-nodes <count>", "kubelets that run containers (Linux, root)", "0")
  .addOption(repeatable("--image <name=path>", "an image for the real nodes, made from a folder or a static program"))
  .addOption(
    repeatable(
      "--scheduler <name=file>",
      "another kube-scheduler; the file has any part of a KubeSchedulerConfiguration",
    ),
  )
  .option("--audit", "keep an audit log: audit.log in the cluster's folder")
  .option("--assets <folder>", "a folder with all seven binaries (default: KUBEBUILDER_ASSETS, the cache, a build)")
  .option("--port <port>", "the API server's port (default: a free one)")
  .option("--attach", "stay in the foreground; Ctrl-C takes the cluster down")
  .action(up);

named(program.command("down"))
  .description("take a cluster down, whoever started it")
  .action(async ({ name }: { name: string }) => {
    await removeCluster(name);
    console.log(`cluster "${name}" is gone`);
  });

program
  .command("status")
  .description("show all clusters, or one")
  .option("--name <name>", "only this one")
  .action(status);

named(program.command("logs"))
  .description("print a component's log; without a component, list components and their files")
  .argument("[component]")
  .option("-f, --follow", "go on as the log grows")
  .option("--lines <count>", "how many of the last lines", "100")
  .action(logs);

named(program.command("kubectl"))
  .description("run kubectl as administrator; --name comes first, everything after it is kubectl's")
  .argument("[arguments...]")
  .passThroughOptions()
  .allowUnknownOption()
  .helpOption(false)
  .action(async (args: string[], { name }: { name: string }) => {
    const cluster = openCluster(name);
    process.exitCode = await run(cluster.kubectlBinary, args, { KUBECONFIG: cluster.kubeconfig });
  });

named(program.command("kill"))
  .description("end a component with SIGKILL, as a crash would")
  .argument("<component>")
  .action((component: string, { name }: { name: string }) => openCluster(name).kill(component));

named(program.command("restart"))
  .description("start a component again, ending it first if it runs")
  .argument("<component>")
  .action((component: string, { name }: { name: string }) => openCluster(name).restart(component));

async function up(flags: UpFlags): Promise<void> {
  const elapsed = stopwatch();
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Interruption());
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);

  const cluster = await startCluster({
    name: flags.name,
    nodes: [{ count: wholeNumber("--nodes", flags.nodes) }, ...flags.shape.map(parseShape)],
    realNodes: wholeNumber("--real-nodes", flags.realNodes),
    images: flags.image.map(parseImage),
    schedulers: Object.fromEntries(flags.scheduler.map(parseScheduler)),
    audit: flags.audit ?? false,
    assets: flags.assets && fromInvocation(flags.assets),
    port: flags.port === undefined ? undefined : wholeNumber("--port", flags.port),
    detached: !flags.attach,
    onProgress: showProgress(),
    signal: interrupted.signal,
  });
  console.log(`cluster "${cluster.name}" is ready at ${cluster.server} after ${(elapsed() / 1000).toFixed(1)} s`);
  console.log(`\n  export KUBECONFIG=${cluster.kubeconfig}`);
  console.log(`  ${cluster.kubectlBinary} get nodes\n`);
  if (!flags.attach) return;
  console.log("Ctrl-C takes it down.");
  await watchOver(cluster, interrupted.signal);
  await cluster.stop();
  console.log(`cluster "${cluster.name}" is gone`);
}

/** Reports components that die, until interrupted. */
async function watchOver(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const reported = new Set<string>();
  while (!signal.aborted && cluster.exists) {
    const dead = cluster.components.filter(({ alive }) => !alive).map(({ name }) => name);
    for (const name of dead.filter((name) => !reported.has(name))) {
      console.error(`${name} has died; see: npm run cluster -- logs ${name} --name ${cluster.name}`);
    }
    reported.clear(); // one that was restarted and dies again is reported again
    for (const name of dead) reported.add(name);
    await sleep(500, signal).catch(() => {});
  }
}

async function status({ name }: { name?: string }): Promise<void> {
  const records = listRecords().filter((record) => name === undefined || record.name === name);
  if (records.length === 0 && name !== undefined) openCluster(name); // says that there is none
  if (records.length === 0) console.log("you have no cluster; start one with: npm run cluster -- up --nodes 20");
  for (const record of records) {
    if (!record.ready) {
      const what = isWanted(record) ? "is being started" : "was left by a starter that was killed; take it down";
      console.log(`${record.name}: ${what}`);
      continue;
    }
    const cluster = openCluster(record.name);
    console.log(statusText({ ...describe(cluster), nodes: await countNodes(cluster) }));
    cluster.api.close();
  }
}

function describe(cluster: Cluster) {
  const { name, server, kubeconfig, detached, components } = cluster;
  return { name, server, kubeconfig, detached, components, ageMs: today().getTime() - cluster.started.getTime() };
}

async function countNodes({ api }: Cluster): Promise<{ ready: number; total: number } | undefined> {
  try {
    const nodes = await api.list("/api/v1/nodes?resourceVersion=0");
    return { ready: nodes.filter(takesPods).length, total: nodes.length };
  } catch {
    return undefined;
  }
}

async function logs(
  component: string | undefined,
  flags: { name: string; follow?: boolean; lines: string },
): Promise<void> {
  const cluster = openCluster(flags.name);
  if (component === undefined) {
    for (const [name, log] of Object.entries(cluster.logs)) console.log(`${name.padEnd(26)} ${log}`);
    return;
  }
  const file = cluster.logOf(component);
  const lines = String(wholeNumber("--lines", flags.lines));
  process.exitCode = await run("tail", ["-n", lines, ...(flags.follow ? ["-f"] : []), file]);
}

function parseImage(text: string): ImageSource {
  const [name, path] = splitOption("--image", text);
  const file = fromInvocation(path);
  return isFolder(file) ? { name, folder: file } : { name, binary: file };
}

function parseScheduler(text: string): [string, SchedulerConfiguration] {
  const [name, path] = splitOption("--scheduler", text);
  try {
    return [name, parse(readFileSync(fromInvocation(path), "utf8")) as SchedulerConfiguration];
  } catch (cause) {
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `--scheduler ${text}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function splitOption(option: string, text: string): [name: string, path: string] {
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1) {
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `${option} ${text}: expected NAME=PATH`);
  }
  return [text.slice(0, at), text.slice(at + 1)];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** npm starts us in the repository's root; a path is meant from where the person is. */
const invocation = process.env.BERTH_INVOCATION_DIR ?? process.cwd();

function fromInvocation(path: string): string {
  return resolve(invocation, path);
}

/** Runs a program in our place; returns its exit code. */
function run(command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", cwd: invocation, env: { ...process.env, ...env } });
  process.on("SIGINT", () => {}); // the terminal sends it to the child too, which decides what it means
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}

class Interruption extends Error {}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2; // commander has printed help or what is wrong with the call
  } else if (error instanceof Interruption) {
    console.error("\ninterrupted; what had been started is gone");
    process.exitCode = 130;
  } else if (error instanceof ClusterError) {
    console.error(error.report);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
