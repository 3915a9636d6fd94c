/** `berth gateway`: only the gateway, on a cluster that is there already. */
import { Gateway } from "@berth/gateway";
import { HttpTransport, jsonLogger, untilAborted, WallClock } from "@berth/kube";
import { type ConnectionFlags, connectionOf } from "../connection.ts";
import { CliError } from "../errors.ts";

export interface GatewayFlags extends ConnectionFlags {
  readonly namespace?: string;
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
