/** The command `npm run operator -- …`: installs the operator, runs it, and prints what others have to be told. */
import { readFileSync } from "node:fs";
import {
  Client,
  HttpTransport,
  jsonLogger,
  KubeError,
  loadConnection,
  setupSignalHandler,
  WallClock,
} from "@berth/kube";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { stringify } from "yaml";
import { OperatorError } from "../errors.ts";
import { install } from "../install/install.ts";
import { installation } from "../install/installation.ts";
import { type ExtenderServerOptions, guarded } from "../placement/extender-server.ts";
import { schedulerConfiguration } from "../placement/scheduler-configuration.ts";
import { runOperator } from "../run.ts";

const program = new Command("npm run operator --")
  .description("Makes Berth's resources true: testbeds, jobs, and executors in exactly the slots that were chosen.")
  .exitOverride()
  .addHelpText(
    "after",
    `
Examples:
  npm run operator -- install                       definitions, priorities, and the operator's own account
  npm run operator -- run                           on the cluster that kubectl would ask
  npm run operator -- manifests > berth.yaml        the same as install, to be looked at first
  npm run operator -- run --placement extender --extender-port 9443
  npm run operator -- scheduler-config --url http://127.0.0.1:9443 > scheduler.yaml`,
  );

const kubeconfig = () => new Option("--kubeconfig <file>", "where the cluster is (default: as kubectl)");
const namespace = () => new Option("--namespace <name>", "where the operator runs").default("berth-system");
const priority = () =>
  new Option("--ghost-priority <number>", "of ghosts; ordinary pods have to be below").default(1).argParser(whole);
const schedulerName = () => new Option("--scheduler-name <name>", "of the second kube-scheduler").default("berth");

program
  .command("install")
  .description("put everything into a cluster that the operator needs there; may be repeated")
  .addOption(kubeconfig())
  .addOption(namespace())
  .addOption(priority())
  .action(async (flags: { kubeconfig?: string; namespace: string; ghostPriority: number }) => {
    const transport = new HttpTransport(connectionFrom(flags));
    const client = new Client(transport, { fieldManager: "berth-install" });
    await install(client, new WallClock(), { namespace: flags.namespace, priorityBase: flags.ghostPriority });
    await transport.close();
    console.log("Berth's resources are there: kubectl get testbeds,slots,batchjobs,schedulings -A");
  });

program
  .command("manifests")
  .description("print, as YAML, what install would apply")
  .addOption(namespace())
  .addOption(priority())
  .action((flags: { namespace: string; ghostPriority: number }) => {
    const manifests = installation({ namespace: flags.namespace, priorityBase: flags.ghostPriority });
    process.stdout.write(manifests.map(({ object }) => stringify(object)).join("---\n"));
  });

interface RunFlags {
  readonly kubeconfig?: string;
  readonly namespace: string;
  readonly placement: "gate" | "extender";
  readonly schedulerName: string;
  readonly extenderHost: string;
  readonly extenderPort: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly ghostImage?: string;
  readonly leaderElection?: boolean;
  readonly leaseSeconds: number;
  readonly healthPort?: number;
  readonly metricsPort?: number;
}

program
  .command("run")
  .description("run the operator until Ctrl-C; it writes lines of JSON")
  .addOption(kubeconfig())
  .addOption(namespace())
  .addOption(
    new Option("--placement <how>", "who makes room for executors: the operator, or a second kube-scheduler")
      .choices(["gate", "extender"])
      .default("gate"),
  )
  .addOption(schedulerName())
  .option("--extender-host <address>", "where the second kube-scheduler asks", "127.0.0.1")
  .option("--extender-port <port>", "where the second kube-scheduler asks", whole, 9443)
  .option("--tls-cert <file>", "the extender's certificate")
  .option("--tls-key <file>", "its key")
  .option("--tls-ca <file>", "the authority of kube-scheduler's certificate")
  .option("--ghost-image <image>", "of ghosts: anything that does nothing (default: Kubernetes' pause image)")
  .option("--leader-election", "one of several replicas: only the leader works")
  .option("--lease-seconds <seconds>", "after how long a leader that has died is replaced", whole, 15)
  .option("--health-port <port>", "serve /healthz and /readyz", whole)
  .option("--metrics-port <port>", "serve /metrics", whole)
  .action(async (flags: RunFlags) => {
    const { placement, schedulerName, ghostImage, healthPort, metricsPort } = flags;
    const extender = placement === "extender" ? guarded(extenderFrom(flags)) : undefined;
    await runOperator({
      connection: connectionFrom(flags),
      log: jsonLogger({ clock: new WallClock() }),
      signal: setupSignalHandler(),
      placement: placement === "gate" ? { type: "gate" } : { type: "extender", schedulerName },
      ...(extender && { extender }),
      ...(ghostImage !== undefined && { ghostImage }),
      ...(flags.leaderElection && { leaseNamespace: flags.namespace, leaseSeconds: flags.leaseSeconds }),
      ...(healthPort !== undefined && { healthPort }),
      ...(metricsPort !== undefined && { metricsPort }),
    });
  });

program
  .command("scheduler-config")
  .description("print the configuration of the second kube-scheduler, which places executors by the extender")
  .requiredOption("--url <url>", "where the extender is: https://berth-extender.berth-system:9443")
  .addOption(schedulerName())
  .option("--tls-ca <file>", "kube-scheduler's copy of the extender's authority")
  .option("--tls-cert <file>", "kube-scheduler's certificate")
  .option("--tls-key <file>", "its key")
  .option("--scheduler-kubeconfig <file>", "how kube-scheduler reaches the cluster (default: as a pod of it)")
  .action((flags: Record<string, string | undefined> & { url: string; schedulerName: string }) => {
    const { url, schedulerName, tlsCa: caFile, tlsCert: certFile, tlsKey: keyFile, schedulerKubeconfig } = flags;
    const tls = url.startsWith("https:") ? { caFile, certFile, keyFile } : undefined;
    if (tls && !(tls.caFile && tls.certFile && tls.keyFile)) {
      throw new OperatorError("BERTH_OPERATOR_OPTION_INVALID", "https needs --tls-ca, --tls-cert and --tls-key");
    }
    const configuration = schedulerConfiguration({
      schedulerName,
      url,
      ...(tls && { tls: tls as { caFile: string; certFile: string; keyFile: string } }),
      ...(schedulerKubeconfig !== undefined && { kubeconfig: schedulerKubeconfig }),
    });
    process.stdout.write(stringify(configuration));
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof OperatorError) console.error(`operator: ${error.message}\n${error.remedy} (${error.code})`);
  else if (error instanceof KubeError) console.error(`operator: ${error.message} (${error.code})`);
  else if (!(error instanceof CommanderError)) console.error(`operator: ${(error as Error).message}`);
  process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : 1;
}

function connectionFrom({ kubeconfig }: { readonly kubeconfig?: string }) {
  return loadConnection(kubeconfig === undefined ? {} : { kubeconfig });
}

function extenderFrom({
  extenderHost: host,
  extenderPort: port,
  tlsCert,
  tlsKey,
  tlsCa,
}: RunFlags): ExtenderServerOptions {
  const files = [tlsCert, tlsKey, tlsCa];
  if (files.every((file) => file === undefined)) return { host, port };
  const [cert, key, ca] = files.map((file) => {
    if (file === undefined) {
      throw new OperatorError("BERTH_OPERATOR_OPTION_INVALID", "--tls-cert, --tls-key and --tls-ca go together");
    }
    return readFileSync(file, "utf8");
  }) as [string, string, string];
  return { host, port, tls: { cert, key, ca } };
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It has to be a whole number.");
  return Number(text);
}
