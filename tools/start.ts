/**
 * `npm start`: what Berth can do today, in half a minute. Starts a real control plane with 20 KWOK nodes on this machine,
 * lets a batch of 120 simulated pods run through it, shows where they landed, and takes everything down again.
 */
import { type Cluster, ClusterError, type KubeObject, showProgress, sleep, startCluster } from "@berth/cluster";

const NODES = 20;
const PODS = 120;

const interrupted = new AbortController();
process.on("SIGINT", () => interrupted.abort());

try {
  console.log(`Starting Kubernetes on this machine: etcd, kube-apiserver, kube-scheduler … and ${NODES} KWOK nodes.\n`);
  await using cluster = await startCluster({
    name: "start",
    nodes: [{ count: NODES, allocatable: { cpu: "4" } }],
    onProgress: showProgress(),
    signal: interrupted.signal,
  });
  console.log(`\nReady at ${cluster.server}. Submitting ${PODS} pods that run for 3 to 8 seconds, one CPU each.\n`);
  await submitBatch(cluster);
  await watchBatch(cluster, interrupted.signal);
  console.log(`
The control plane was real, and so was every decision of kube-scheduler; nodes and pods were simulated by KWOK. It is
taken down now. Try it yourself:

  npm run cluster -- up --nodes 20        a cluster that stays
  npm run cluster -- kubectl get nodes
  npm run cluster -- --help`);
} catch (error) {
  if (interrupted.signal.aborted) process.exitCode = 130;
  else if (error instanceof ClusterError) {
    console.error(error.report);
    process.exitCode = 1;
  } else throw error;
}

async function submitBatch({ api }: Cluster): Promise<void> {
  const submit = (index: number) =>
    api.create("/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `task-${index}`, annotations: { "berth.dev/run-time": `${3 + (index % 6)}s` } },
      spec: {
        restartPolicy: "Never",
        containers: [{ name: "task", image: "any", resources: { requests: { cpu: "1" } } }],
      },
    });
  await Promise.all(Array.from({ length: PODS }, (_, index) => submit(index)));
}

/** Draws the nodes and their pods until all pods have ended. */
async function watchBatch({ api }: Cluster, signal: AbortSignal): Promise<void> {
  const nodes = (await api.list("/api/v1/nodes")).map((node) => node.metadata.name).sort(byNumber);
  let drawn = 0;
  for (;;) {
    const pods = await api.list("/api/v1/namespaces/default/pods");
    const done = pods.filter(hasEnded).length;
    const last = done === PODS;
    const lines = picture(nodes, pods);
    if (process.stdout.isTTY) {
      if (drawn > 0) process.stdout.write(`\u001b[${drawn}A\u001b[J`);
      process.stdout.write(`${lines.join("\n")}\n`);
      drawn = lines.length;
    } else if (last) console.log(lines.join("\n"));
    if (last) return;
    await sleep(process.stdout.isTTY ? 200 : 500, signal);
  }
}

/** Pure: one line for each node, a full block for a pod that runs and an empty one for a pod that has ended. */
function picture(nodes: readonly string[], pods: readonly KubeObject[]): string[] {
  const rows = nodes.map((node) => {
    const here = pods.filter((pod) => pod.spec.nodeName === node);
    const running = here.filter((pod) => pod.status.phase === "Running").length;
    const ended = here.filter(hasEnded).length;
    return `  ${node.padEnd(8)} ${"■".repeat(running)}${"□".repeat(ended)}`;
  });
  const running = pods.filter((pod) => pod.status.phase === "Running").length;
  const done = pods.filter(hasEnded).length;
  return [...rows, "", `  ${pods.length - running - done} waiting, ${running} running ■, ${done} done □`];
}

function hasEnded({ status }: KubeObject): boolean {
  return status.phase === "Succeeded" || status.phase === "Failed";
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
