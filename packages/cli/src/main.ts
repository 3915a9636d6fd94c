/** The command `berth`, also `kubectl berth`. What a command needs is loaded when it is called. */
import { Command, InvalidArgumentError, Option } from "commander";
import type { GatewayFlags } from "./commands/gateway.ts";
import type { GetFlags } from "./commands/get.ts";
import type { WriteFlags } from "./commands/jobs.ts";
import type { LogsFlags } from "./commands/logs.ts";
import type { ManifestFlags } from "./commands/manifests.ts";
import type { OperatorFlags } from "./commands/operator.ts";
import type { UpFlags } from "./commands/up.ts";
import { isPlugin, type TargetFlags, withTarget } from "./flags.ts";
import { FORMATS } from "./table.ts";

const called = isPlugin() ? "kubectl berth" : (process.env.BERTH_CALLED ?? "berth");

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());

const program = new Command(called)
  .description("Bring your own scheduler to Kubernetes.")
  .exitOverride()
  .showHelpAfterError(`(${called} --help says what there is)`)
  .addHelpText(
    "after",
    `
Examples:
  ${called} up --demo                        a cluster in this process, with something to look at
  ${called} up --cluster local               the same on a real control plane
  ${called} submit -f job.yaml
  ${called} get jobs -o wide                 what runs where, and why
  ${called} explain pi                       why it waits
  ${called} watch                            slots and queue, live
  ${called} get jobs -A --kubeconfig ~/.kube/config`,
  );

program
  .command("up")
  .description("start a cluster with operator and gateway, until Ctrl-C")
  .addOption(
    new Option("--cluster <which>", "embedded: in this process; local: a real control plane on this machine")
      .choices(["embedded", "local"])
      .default("embedded"),
  )
  .option("--kubeconfig <file>", "or a cluster that is there already")
  .option("--context <name>", "of the kubeconfig")
  .option("-n, --namespace <name>", "the one that the gateway serves (default: default)")
  .option("--nodes <count>", "of an embedded or local cluster", whole, 8)
  .option("--slots <count>", "on each of its nodes", whole, 2)
  .option("--speed <factor>", "how many seconds pass in an embedded cluster in one second here", factor, 1)
  .option("--virtual-time", "time passes as fast as an embedded cluster can, and stands still while a scheduler thinks")
  .option("--host <address>", "where the gateway listens", "127.0.0.1")
  .option("--port <port>", "where the gateway listens; 0 is any", port, 8080)
  .addOption(
    new Option("--authentication <how>", "by Kubernetes tokens, or none, which is for this machine only").choices([
      "kubernetes",
      "none",
    ]),
  )
  .option("--demo [scheduler]", "with jobs that come and go, and a scheduler that comes along: fifo, backfill, spread")
  .option("--no-view", "without the live view")
  .option("-v, --verbose", "lines of JSON on standard error")
  .action(async (flags: UpFlags) => (await import("./commands/up.ts")).up(flags, interrupted.signal));

program
  .command("operator")
  .description("run only the operator, on a cluster that is there already")
  .option("--kubeconfig <file>", "the cluster (default: as kubectl)")
  .option("--context <name>", "of the kubeconfig")
  .option("-n, --namespace <name>", "where its lease is", "berth-system")
  .option("--leader-election", "one of several replicas: only the leader works")
  .action(async (flags: OperatorFlags) => (await import("./commands/operator.ts")).operator(flags, interrupted.signal));

program
  .command("gateway")
  .description("run only the gateway, on a cluster that is there already")
  .option("--kubeconfig <file>", "the cluster (default: as kubectl)")
  .option("--context <name>", "of the kubeconfig")
  .option("-n, --namespace <name>", "the one that it serves (default: that of the context)")
  .option("--host <address>", "where it listens", "127.0.0.1")
  .option("--port <port>", "where it listens; 0 is any", port, 8080)
  .addOption(
    new Option("--authentication <how>", "by Kubernetes tokens, or none, which is for this machine only").choices([
      "kubernetes",
      "none",
    ]),
  )
  .option("--tls-cert <file>", "its certificate")
  .option("--tls-key <file>", "its key")
  .option("--allow-origin <origin...>", "web pages that may use it, besides its own")
  .action(async (flags: GatewayFlags) => (await import("./commands/gateway.ts")).gateway(flags, interrupted.signal));

withTarget(program.command("submit"))
  .description("submit jobs, or decisions made by hand, from manifests as kubectl takes them")
  .requiredOption("-f, --filename <file...>", "YAML or JSON; - is standard input")
  .option("--dry-run", "only say what would be")
  .action(async ({ filename, ...flags }: WriteFlags & { filename: string[] }) =>
    (await import("./commands/jobs.ts")).submit(filename, flags),
  );

withTarget(program.command("get"))
  .description("show jobs, slots, testbeds, schedulings or nodes")
  .argument("<what>", "jobs, slots, testbeds, schedulings, nodes; or job/NAME")
  .argument("[name]", "of one of them")
  .addOption(new Option("-o, --output <format>", "another form").choices([...FORMATS]))
  .option("-l, --selector <labels>", "only those with these labels")
  .option("-A, --all-namespaces", "of a cluster")
  .option("-w, --watch", "and a line for each change, until Ctrl-C")
  .option("--no-headers", "without the names of the columns")
  .action(async (what: string, name: string | undefined, flags: GetFlags) =>
    (await import("./commands/get.ts")).get(what, name, flags),
  );

withTarget(program.command("explain"))
  .description("say why a job waits, where it is, or how it ended")
  .argument("<job>")
  .action(async (name: string, flags: TargetFlags) => (await import("./commands/jobs.ts")).explain(name, flags));

withTarget(program.command("release"))
  .description("take jobs down; they are in the queue again then")
  .argument("<job...>")
  .action(async (names: string[], flags: TargetFlags) =>
    (await import("./commands/jobs.ts")).withJobs(names, flags, "released", (client, name) => client.release(name)),
  );

withTarget(program.command("retry"))
  .description("put jobs that have ended back into the queue")
  .argument("<job...>")
  .option("--dry-run", "only say what would be")
  .action(async (names: string[], flags: WriteFlags) =>
    (await import("./commands/jobs.ts")).withJobs(names, flags, "queued", (client, name) =>
      client.retry(name, { ...(flags.dryRun && { dryRun: true }) }),
    ),
  );

withTarget(program.command("delete"))
  .description("delete jobs, with all that runs of them")
  .argument("<job...>")
  .option("--dry-run", "only say what would be")
  .action(async (names: string[], flags: WriteFlags) =>
    (await import("./commands/jobs.ts")).withJobs(names, flags, "deleted", (client, name) =>
      client.deleteJob(name, { ...(flags.dryRun && { dryRun: true }) }),
    ),
  );

withTarget(program.command("logs"))
  .description("what the executors of a job say")
  .argument("<job>")
  .option("--executor <slot>", "only of the one in this slot")
  .option("-f, --follow", "and go on")
  .option("--tail <lines>", "only the last ones of each")
  .action(async (name: string, flags: LogsFlags) => (await import("./commands/logs.ts")).logs(name, flags));

withTarget(program.command("watch"))
  .description("a live view of slots and queue, until Ctrl-C")
  .action(async (flags: TargetFlags) => (await import("./commands/watch.ts")).watch(flags, interrupted.signal));

program
  .command("manifests")
  .description("print, as YAML, what a cluster needs: definitions, priorities, accounts and their rights")
  .option("-n, --namespace <name>", "where operator and gateway run", "berth-system")
  .option("--serves <name>", "the namespace that the gateway serves", "default")
  .option("--scheduler-config", "print the configuration of a second kube-scheduler instead")
  .option("--extender-url <url>", "for it: where the extender is", "https://berth-extender.berth-system:9443")
  .action(async (flags: ManifestFlags) => (await import("./commands/manifests.ts")).manifests(flags));

program
  .command("cluster")
  .description("real clusters on this machine: up, down, list …")
  .argument("[arguments...]", "cluster --help says which")
  .allowUnknownOption()
  .helpOption(false)
  .action(async (given: string[]) => (await import("./commands/cluster.ts")).cluster(given));

program
  .command("completion")
  .description("print a script that completes this command in a shell")
  .argument("<shell>", "bash, zsh or fish")
  .action(async (shell: string) => (await import("./commands/completion.ts")).completion(shell, program));

program
  .command("version")
  .description("print versions")
  .action(async () => (await import("./commands/version.ts")).version());

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = interrupted.signal.aborted ? 130 : (await import("./failure.ts")).report(error, called);
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 10_000) throw new InvalidArgumentError("a whole number from 1.");
  return value;
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError("a port.");
  return value;
}

function factor(text: string): number {
  const value = Number(text);
  if (!(value > 0) || value > 10_000) throw new InvalidArgumentError("a number above 0.");
  return value;
}
