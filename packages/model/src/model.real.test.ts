/** The definitions on a real API server: it takes them, and says to manifests what the simulated one says. */
import { type Cluster, startCluster } from "@berth/cluster";
import { Client, HttpTransport, loadConnection, WallClock } from "@berth/kube";
import { afterAll, beforeAll, describe } from "vitest";
import { install, manifestTests } from "./testing/on-cluster.ts";

let [cluster, transport]: [Cluster?, HttpTransport?] = [];
let client: Client;
beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-model` });
  transport = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  client = new Client(transport);
  await install(client, new WallClock());
});
afterAll(async () => {
  await transport?.close();
  await cluster?.stop();
});

describe("a real cluster", () => manifestTests(() => client));
