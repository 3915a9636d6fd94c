/** `berth operator`, `gateway`, `manifests`, `cluster`, `version`: the parts by themselves. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Gateway, gatewayInstallation } from "@berth/gateway";
import { HttpTransport, jsonLogger, untilAborted, WallClock } from "@berth/kube";
import { installation, runOperator, schedulerConfiguration } from "@berth/operator";
import { stringify } from "yaml";
import { type ConnectionFlags, connectionOf } from "../connection.ts";
import { CliError } from "../errors.ts";

interface PartFlags extends ConnectionFlags {
  readonly namespace?: string;
}

/** Until the signal is aborted. */
export async function operator(flags: PartFlags & { leaderElection?: boolean }, signal: AbortSignal): Promise<void> {
  await runOperator({
    connection: connectionOf(flags),
    log: jsonLogger({ clock: new WallClock() }),
    signal,
    ...(flags.leaderElection && { leaseNamespace: flags.namespace ?? "berth-system" }),
  });
}

interface GatewayFlags extends PartFlags {
  readonly host?: string;
  readonly port?: number;
  readonly authentication?: "kubernetes" | "none";
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowOrigin?: readonly string[];
}

/** Until the signal is aborted. */
export async function gateway(flags: GatewayFlags, signal: AbortSignal): Promise<void> {
  const { host, port, authentication, tlsCert, tlsKey, allowOrigin } = flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new CliError("BERTH_CLI_USAGE", "--tls-cert and --tls-key belong together");
  }
  const connection = connectionOf(flags);
  const clock = new WallClock();
  const transport = new HttpTransport(connection, { userAgent: "berth-gateway" });
  await using running = await Gateway.start(
    {
      ...{ transport, namespace: flags.namespace ?? connection.namespace, log: jsonLogger({ clock }) },
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      ...(authentication && { authentication }),
      ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { certFile: tlsCert, keyFile: tlsKey } }),
      ...(allowOrigin && { allowedOrigins: allowOrigin }),
    },
    signal,
  );
  console.error(`the gateway is at ${running.url}, its documentation at ${running.url}/docs`);
  await untilAborted(signal);
  await running.stop();
  await transport.close();
}

export function manifests(flags: {
  namespace: string;
  serves: string;
  schedulerConfig?: boolean;
  extenderUrl: string;
}): void {
  if (flags.schedulerConfig) {
    const folder = "/etc/berth/tls";
    const tls = { caFile: `${folder}/ca.crt`, certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` };
    const isPlain = flags.extenderUrl.startsWith("http:");
    const configuration = schedulerConfiguration({
      ...{ schedulerName: "berth", url: flags.extenderUrl },
      ...(!isPlain && { tls }),
    });
    process.stdout.write(stringify(configuration));
    return;
  }
  const { namespace, serves } = flags;
  const objects = [
    ...installation({ namespace }).map(({ object }) => object),
    ...gatewayInstallation({ namespace, serves }),
  ];
  // Rules that several share are written out in each place: not every reader of YAML knows what an alias is.
  process.stdout.write(objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n"));
}

/** Another command, which knows all about them. */
export async function cluster(given: readonly string[]): Promise<void> {
  const entry = new URL(import.meta.resolve("@berth/cluster"));
  const program = new URL("./cli/main.ts", entry).pathname;
  const child = spawn(process.execPath, [program, ...given], { stdio: "inherit" });
  process.exitCode = await new Promise<number>((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
}

export function version(): void {
  const own = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  console.log(`berth ${own.version}\nnode ${process.version}\nresources berth.dev/v1alpha1`);
}
