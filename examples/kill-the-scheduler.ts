/**
 * What happens to a batch of pods when kube-scheduler dies halfway? Starts a cluster, finds out, and takes it down.
 *
 *   node tools/with-node.mjs examples/kill-the-scheduler.ts
 */
import { poll, startCluster } from "@berth/cluster";

const PODS = 50;

await using cluster = await startCluster({ name: "example", nodes: 10 });

const submit = (index: number) =>
  cluster.api.create("/api/v1/namespaces/default/pods", {
    metadata: { name: `task-${index}`, annotations: { "berth.dev/run-time": "1s" } },
    spec: { restartPolicy: "Never", containers: [{ name: "task", image: "any" }] },
  });
const count = async (phase: string) => {
  const pods = await cluster.api.list("/api/v1/namespaces/default/pods");
  return pods.filter((pod) => pod.status.phase === phase).length;
};

for (let index = 0; index < PODS / 2; index++) await submit(index);
await cluster.kill("kube-scheduler");
for (let index = PODS / 2; index < PODS; index++) await submit(index);
console.log(`the scheduler is dead, and ${await count("Pending")} of ${PODS} pods are pending`);

await cluster.restart("kube-scheduler");
await poll(async () => ((await count("Succeeded")) === PODS ? true : undefined), { timeoutMs: 60_000 });
console.log(`the scheduler is back, and ${await count("Succeeded")} of ${PODS} pods have succeeded`);
