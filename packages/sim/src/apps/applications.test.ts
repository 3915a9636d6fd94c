import { batchV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { FlinkDeployment } from "./flink/deployment.ts";
import { SparkApplication } from "./spark/application.ts";
import { appCluster, sparkApplication } from "./testing/app-cluster.ts";

const work = `
defaults: { overhead: { application: 2, executor: 1, shutdown: 1 }, variation: { cv: 0.3 }, failures: { executor: 0.2 } }
kinds:
  - { name: light, work: 60, class: cpu }
  - { name: heavy, work: 200, class: memory, match: { framework: flink } }
interference: { classes: { cpu: { memory: 1.2 }, memory: { memory: 1.5, cpu: 1.1 } } }`;

/** Every write of a run in which a bit of everything happens. */
async function play(seed: string): Promise<string[]> {
  const cluster = await appCluster({ work, seed, nodes: ["n1", "n2"] });
  const lines: string[] = [];
  cluster.server.listen(undefined, ({ after, key }, collection) => {
    lines.push(`${cluster.clock.now()} ${collection}/${key} ${JSON.stringify(after ?? null)}`);
  });
  for (const index of [1, 2, 3]) {
    cluster.api.create(SparkApplication, sparkApplication(`app-${index}`, { executor: { instances: index } }));
    await cluster.pass(7);
  }
  cluster.api.create(FlinkDeployment, {
    metadata: { name: "wc", namespace: "default" },
    spec: { image: "flink", job: { jarURI: "local:///x.jar", parallelism: 2 } },
  });
  await cluster.pass(30);
  cluster.api.delete(SparkApplication, { namespace: "default", name: "app-3" }, { propagationPolicy: "Background" });
  await cluster.pass(1000);
  expect(cluster.failures).toEqual([]);
  return lines;
}

describe("applications", () => {
  it("happen in the same way every time, to the last byte", async () => {
    const [first, second, other] = [await play("a"), await play("a"), await play("b")];
    expect(first.length).toBeGreaterThan(100);
    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it("slow each other down on the same node, Spark and Flink alike", async () => {
    const alone = await timeOfSpark(["n1", "n2"], false);
    const beside = await timeOfSpark(["n1"], true);
    expect(alone).toBe(60);
    expect(beside).toBe(90); // 60 executor-seconds, each 1.5 times as long
  });

  it("leave Jobs that say nothing of their work to others", async () => {
    const cluster = await appCluster();
    const template = {
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i", command: ["sleep", "5"] }] },
    };
    cluster.api.create(batchV1.Job, {
      metadata: { name: "j", namespace: "default" },
      spec: { template },
    } as batchV1.Job);
    await cluster.pass(10);
    expect(cluster.failures).toEqual([]);
  });
});

/** How long one executor works, alone or beside a TaskManager that never stops. */
async function timeOfSpark(nodes: string[], crowded: boolean): Promise<number> {
  const model = `
kinds: [{ name: s, work: 60 }, { name: f, work: unbounded, match: { framework: flink } }]
interference: { kinds: { s: { f: 1.5 } } }`;
  const cluster = await appCluster({ work: model, nodes });
  if (crowded) {
    cluster.api.create(FlinkDeployment, {
      metadata: { name: "stream", namespace: "default" },
      spec: { image: "flink", job: { jarURI: "local:///x.jar", parallelism: 1 } },
    });
    await cluster.pass(20);
  }
  cluster.api.create(SparkApplication, sparkApplication("pi", { executor: { instances: 1 } }));
  const start = cluster.clock.now();
  await cluster.pass(300);
  const { terminationTime } = cluster.api.get(SparkApplication, { namespace: "default", name: "pi" })?.status ?? {};
  const began = start + 6000; // submission and the driver's start
  return (Date.parse(terminationTime ?? "") - began) / 1000;
}
