/** A real control plane with KWOK's nodes. */
import { startCluster } from "@berth/cluster";
import { Client, coreV1, HttpTransport, loadConnection, sleep, WallClock } from "@berth/kube";
import type { Target } from "../target.ts";
import { operatorOn, served } from "./operator-on.ts";

const PATIENCE_MS = 60_000;

export async function realTarget(): Promise<Target> {
  const clock = new WallClock();
  const cluster = await startCluster({ name: `test-${process.pid}-operator` });
  const transport = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  const client = new Client(transport);
  const stop = await operatorOn(transport, client, clock);
  await served(client, clock);
  return {
    name: "real",
    client,
    addNode: async (name, labels) => {
      const resources = { cpu: "8", memory: "32Gi", pods: "110" };
      await client.create(coreV1.Node, {
        metadata: {
          name,
          labels: { "kubernetes.io/hostname": name, ...labels },
          annotations: { "kwok.x-k8s.io/node": "fake" },
        },
        status: { capacity: resources, allocatable: resources },
      });
    },
    removeNode: async (name) => void (await client.delete(coreV1.Node, { name })),
    lastWord: async (key) =>
      void (await client.status.patch(coreV1.Pod, key, { merge: { status: { phase: "Failed" } } })),
    pass: (milliseconds) => sleep(clock, milliseconds),
    eventually: async (what, ask) => {
      for (const end = clock.steady() + PATIENCE_MS; clock.steady() < end; await sleep(clock, 100)) {
        const answer = await ask();
        if (answer) return answer;
      }
      throw new Error(`waited in vain: ${what}`);
    },
    close: async () => {
      await stop();
      await transport.close();
      await cluster.stop();
    },
  };
}
