/**
 * A program in which a bit of everything happens on a simulated cluster, in virtual time: prints the event log. Two runs with
 * the same seed are to print the same, whatever the machine does meanwhile.
 *
 *   node busy-day.ts SEED
 */
import { appsV1, batchV1, coreV1, Informer, keyOf, schedulingV1, VirtualClock } from "@berth/kube";
import { FlinkDeployment } from "../apps/flink/deployment.ts";
import { SparkApplication } from "../apps/spark/application.ts";
import { startSim } from "../simulation.ts";

const MINUTE = 60_000;
const NAMESPACE = "default";
const [seed = "day"] = process.argv.slice(2);

const clock = new VirtualClock();
const lines: string[] = [];
const sim = await startSim({
  clock,
  seed,
  nodes: 12,
  events: true,
  log: (line) => lines.push(line),
  kubelet: { startMs: 2000 },
});
const { client } = sim;

/** A controller beside those of the cluster: whatever waits behind a gate is let through a little later. */
const informer = new Informer(client, coreV1.Pod, { namespace: NAMESPACE, clock }).start();
informer.addEventHandler({
  onAdd: (pod) => {
    if (!pod.spec?.schedulingGates) return;
    const lift = () => client.patch(coreV1.Pod, keyOf(pod), { merge: { spec: { schedulingGates: null } } });
    clock.setTimer(1500, () => void lift().catch(() => {}));
  },
});
await informer.waitForSync();

const metadata = (name: string) => ({ name, namespace: NAMESPACE });
const container = (cpu: string, command: string[]) => ({
  name: "main",
  image: "busybox",
  command,
  resources: { requests: { cpu } },
});
const task = (cpu: string, command: string[], more: Partial<coreV1.PodSpec> = {}) => ({
  spec: { restartPolicy: "Never" as const, containers: [container(cpu, command)], ...more },
});

await client.create(schedulingV1.PriorityClass, { metadata: { name: "urgent" }, value: 1000 });
await client.create(batchV1.Job, {
  metadata: metadata("gated"),
  spec: {
    parallelism: 5,
    completions: 15,
    template: task("1", ["sleep", "40"], { schedulingGates: [{ name: "berth.dev/slot" }] }),
  },
});
await client.create(batchV1.Job, {
  metadata: metadata("failing"),
  spec: { backoffLimit: 3, template: task("1", ["sh", "-c", "sleep 5; exit 1"]) },
});
await client.create(appsV1.Deployment, {
  metadata: metadata("web"),
  spec: {
    replicas: 8,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [container("2", ["sleep", "infinity"])] } },
  },
});
for (const instances of [1, 2, 3]) {
  await client.create(SparkApplication, {
    metadata: metadata(`spark-${instances}`),
    spec: {
      type: "Scala",
      sparkVersion: "3.5.6",
      image: "spark",
      mainClass: "org.example.WordCount",
      mainApplicationFile: "local:///x.jar",
      driver: { cores: 1, memory: "1g" },
      executor: { instances, cores: 1, memory: "2g" },
    },
  });
}
await client.create(FlinkDeployment, {
  metadata: metadata("flink"),
  spec: { image: "flink:1.20", flinkVersion: "v1_20", job: { jarURI: "local:///x.jar", parallelism: 2 } },
});
await clock.advance(2 * MINUTE);
// More than there is room for, and more important than what is there.
await client.create(batchV1.Job, {
  metadata: metadata("urgent"),
  spec: { parallelism: 30, completions: 30, template: task("3", ["sleep", "120"], { priorityClassName: "urgent" }) },
});
await clock.advance(MINUTE);
sim.failNode("node-3");
await clock.advance(10 * MINUTE);
sim.recoverNode("node-3");
sim.removeNode("node-4");
await client.patch(appsV1.Deployment, { ...metadata("web") }, { merge: { spec: { replicas: 3 } } });
await client.delete(SparkApplication, metadata("spark-3"), { propagationPolicy: "Foreground" });
await clock.advance(60 * MINUTE);
await informer.stop();
await sim.stop();
process.stdout.write(`${lines.join("\n")}\n`);
