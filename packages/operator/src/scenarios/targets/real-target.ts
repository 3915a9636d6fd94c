/** A real control plane with KWOK's nodes, on which the operator has its own rights and no others. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Cluster, startCluster } from "@berth/cluster";
import { Client, HttpTransport, loadConnection, sleep, WallClock } from "@berth/kube";
import { install } from "../../install/install.ts";
import { OPERATOR } from "../../install/installation.ts";
import { schedulerConfiguration } from "../../placement/scheduler-configuration.ts";
import type { Target, TargetOptions } from "../target.ts";
import { kwokNodes } from "./kwok-nodes.ts";
import { operatorOn } from "./operator-on.ts";

const PATIENCE_MS = 120_000;

export interface RealTarget extends Target {
  readonly cluster: Cluster;
}

export async function realTarget({ placement }: TargetOptions): Promise<RealTarget> {
  const clock = new WallClock();
  const cluster = await startCluster({ name: `test-${process.pid}-operator-${placement}`, audit: true });
  const connection = loadConnection({ kubeconfig: cluster.kubeconfig });
  const transport = new HttpTransport(connection);
  const client = new Client(transport);
  await install(client, clock);
  const account = operatorAccount("berth-system");
  const restricted = new HttpTransport({ ...connection, impersonate: account }, { userAgent: OPERATOR });
  const tls = certificates(cluster);
  const operator = await operatorOn(
    restricted,
    clock,
    placement === "gate"
      ? {}
      : { placement: { type: "extender", schedulerName: "berth" }, extender: { port: 0, tls: tls.ofServer } },
  );
  if (operator.extender) {
    while (operator.extender.port === 0) await sleep(clock, 10);
    const url = `https://127.0.0.1:${operator.extender.port}`;
    const configuration = schedulerConfiguration({ schedulerName: "berth", url, tls: tls.ofClient });
    await cluster.startScheduler("berth", configuration as Record<string, unknown>);
  }
  return {
    name: "real",
    cluster,
    client,
    ...kwokNodes(client, clock),
    pass: (milliseconds) => sleep(clock, milliseconds),
    eventually: async (what, ask) => {
      for (const end = clock.steady() + PATIENCE_MS; clock.steady() < end; await sleep(clock, 100)) {
        const answer = await ask();
        if (answer) return answer;
      }
      throw new Error(`waited in vain: ${what}`);
    },
    close: async () => {
      await operator.stop();
      await restricted.close();
      await transport.close();
      await cluster.stop();
    },
  };
}

/** Whom the API server takes the operator for, by the word of an administrator. */
function operatorAccount(namespace: string) {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { user: `system:serviceaccount:${namespace}:${OPERATOR}`, groups };
}

/** The cluster's own: kube-scheduler shows its administrator's certificate. */
function certificates({ kubeconfig }: Cluster) {
  const file = (name: string) => join(dirname(kubeconfig), "pki", name);
  const read = (name: string) => readFileSync(file(name), "utf8");
  return {
    ofServer: { cert: read("server.crt"), key: read("server.key"), ca: read("ca.crt") },
    ofClient: { caFile: file("ca.crt"), certFile: file("admin.crt"), keyFile: file("admin.key") },
  };
}
