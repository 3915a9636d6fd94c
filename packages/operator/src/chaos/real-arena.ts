/** A real control plane with KWOK's nodes; the operator's replicas are processes of their own, ended with SIGKILL. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startCluster } from "@berth/cluster";
import {
  type authenticationV1,
  Client,
  coreV1,
  HttpTransport,
  integer,
  loadConnection,
  SeededRandom,
  sleep,
  WallClock,
} from "@berth/kube";
import { stringify } from "yaml";
import { install } from "../install/install.ts";
import { OPERATOR } from "../install/installation.ts";
import { schedulerConfiguration } from "../placement/scheduler-configuration.ts";
import { kwokNodes } from "../scenarios/targets/kwok-nodes.ts";
import type { Arena, ArenaOptions } from "./arena.ts";
import { Audit } from "./audit.ts";
import { AUDIT_POLICY, readInto } from "./audit-log.ts";

const COMMAND = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const NAMESPACE = "berth-system";
/** Two replicas cannot listen on one port: the second kube-scheduler asks whoever has the first. */
const EXTENDER_PORT = 19_000 + 2 * (process.pid % 500);

interface Replica {
  readonly process: ChildProcess;
  readonly port: number;
}

export async function realArena({ seed, placement }: ArenaOptions): Promise<Arena> {
  const random = new SeededRandom(`${seed}/arena`);
  const clock = new WallClock();
  const cluster = await startCluster({ name: `chaos-${process.pid}`, audit: AUDIT_POLICY });
  const connection = loadConnection({ kubeconfig: cluster.kubeconfig });
  const transport = new HttpTransport(connection);
  const client = new Client(transport);
  await install(client, clock);
  const folder = dirname(cluster.kubeconfig);
  const kubeconfig = join(folder, "operator.kubeconfig");
  writeFileSync(kubeconfig, await accountFile(client, cluster.server, join(folder, "pki", "ca.crt")), { mode: 0o600 });
  const replicas: Replica[] = [];
  const start = () => {
    const taken = new Set(replicas.map(({ port }) => port));
    const port = [EXTENDER_PORT, EXTENDER_PORT + 1].find((each) => !taken.has(each)) ?? EXTENDER_PORT;
    const born = { process: operator(kubeconfig, placement, port, join(folder, `operator-${port}.log`)), port };
    replicas.push(born);
    // Who loses the lease ends, and is started anew, as a kubelet would do it; who is killed is not in the list any more.
    born.process.once("exit", () => {
      const index = replicas.indexOf(born);
      if (index === -1) return;
      replicas.splice(index, 1);
      start();
    });
  };
  start();
  start();
  if (placement === "extender") {
    const url = `http://127.0.0.1:${EXTENDER_PORT}`;
    await cluster.startScheduler("berth", schedulerConfiguration({ schedulerName: "berth", url }) as never);
  }
  const scheduler = placement === "gate" ? "kube-scheduler" : "kube-scheduler-berth";
  return {
    client,
    pass: (milliseconds) => sleep(clock, milliseconds),
    patienceMs: 90_000,
    ...kwokNodes(client, clock),
    killOperator: async () => {
      const [victim] = replicas.splice(integer(random, 0, replicas.length), 1);
      if (victim) await kill(victim.process);
      start();
    },
    killScheduler: async () => {
      await cluster.kill(scheduler);
      await cluster.restart(scheduler);
    },
    audit: async () => {
      const audit = new Audit();
      readInto(audit, cluster.readAudit());
      return audit;
    },
    close: async () => {
      await Promise.all(replicas.splice(0).map(({ process }) => kill(process)));
      await transport.close();
      await cluster.stop();
    },
  };
}

function operator(kubeconfig: string, placement: ArenaOptions["placement"], port: number, log: string): ChildProcess {
  const args = ["run", "--kubeconfig", kubeconfig, "--placement", placement, "--extender-port", String(port)];
  const lease = ["--leader-election", "--lease-seconds", "5"];
  const output = openSync(log, "a");
  return spawn(process.execPath, [COMMAND, ...args, ...lease], { stdio: ["ignore", output, output] });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** A kubeconfig of the operator's own account. */
async function accountFile(client: Client, server: string, authority: string): Promise<string> {
  const request = { metadata: {}, spec: { audiences: [], expirationSeconds: 7200 } };
  const key = { namespace: NAMESPACE, name: OPERATOR };
  const { status } = (await client
    .subresource("token")
    .create(coreV1.ServiceAccount, key, request)) as authenticationV1.TokenRequest;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server, "certificate-authority": authority } }],
    users: [{ name: OPERATOR, user: { token: status?.token } }],
    contexts: [{ name: "c", context: { cluster: "c", user: OPERATOR, namespace: NAMESPACE } }],
    "current-context": "c",
  });
}
