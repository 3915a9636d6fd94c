/** What Berth renders is taken by a real API server with the operators' own definitions, which may not have a field too many. */
import { type Cluster, poll, startCluster } from "@berth/cluster";
import {
  apiextensionsV1,
  batchV1,
  Client,
  coreV1,
  HttpTransport,
  isNotFound,
  loadConnection,
  schedulingV1,
  sleep,
  WallClock,
} from "@berth/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { priority, SLOT_GATE } from "../names.ts";
import {
  flinkOperator,
  type PublishedDefinition,
  publishedDefinition,
  sparkOperator,
  whyNoDefinition,
} from "../testing/operator-definitions.ts";
import { type ApplicationSpec, objectOf, orderFor } from "../testing/orders.ts";
import type { ApplicationAdapter, RunOrder } from "./application.ts";
import { flink } from "./flink.ts";
import { job } from "./job.ts";
import { spark } from "./spark.ts";

let [cluster, transport]: [Cluster?, HttpTransport?] = [];
let client: Client;
beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-apps`, nodes: 4 });
  transport = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  client = new Client(transport);
  await client.create(schedulingV1.PriorityClass, { metadata: { name: priority.slot }, value: 2 });
});
afterAll(async () => {
  await transport?.close();
  await cluster?.stop();
});

const device = "example.org/gpu";
const sidecar = { name: "log", image: "busybox", resources: { limits: { cpu: "100m", memory: "64Mi" } } };
const tolerations = [{ key: "example.org/slots", operator: "Exists" as const, effect: "NoSchedule" as const }];
const large = { cpu: "2500m", memory: "4Gi", [device]: "1", "ephemeral-storage": "10Gi" };

/** Of each kind: as little as possible, and much. */
const specs: Readonly<Record<ApplicationSpec, object>> = {
  sparkSpec: {
    type: "Python",
    mainApplicationFile: "local:///pi.py",
    memoryOverheadFactor: "0.2",
    sparkConf: { "spark.executor.pyspark.memory": "512m", "spark.eventLog.enabled": true },
    driver: { cores: 1, serviceAccount: "spark" },
    executor: { sidecars: [sidecar], gpu: { name: device, quantity: 1 }, tolerations, nodeSelector: { a: "b" } },
  },
  flinkSpec: {
    flinkConfiguration: { taskmanager: { numberOfTaskSlots: 2 }, "restart-strategy.type": "fixed-delay" },
    serviceAccount: "flink",
    podTemplate: { spec: { containers: [sidecar] } },
    taskManager: { podTemplate: { metadata: { labels: { a: "b" } } } },
  },
  jobSpec: {
    ttlSecondsAfterFinished: 5,
    backoffLimitPerIndex: 2,
    podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [3] } }] },
    template: {
      metadata: { labels: { a: "b" } },
      spec: {
        containers: [{ name: "main", image: "busybox" }],
        initContainers: [{ ...sidecar, restartPolicy: "Always" }],
      },
    },
  },
};
const orders: readonly [title: string, spec: "minimal" | "much", order: Partial<RunOrder>][] = [
  ["as little as possible", "minimal", {}],
  ["much", "much", { resources: large, tolerations, name: "sample-2" }],
  [
    "another scheduler",
    "much",
    { resources: large, placement: { type: "extender", schedulerName: "berth" }, name: "sample-3" },
  ],
];

function takes(adapter: ApplicationAdapter, kind: ApplicationSpec): void {
  it.each(orders)("takes %s", async (_title, which, more) => {
    const object = objectOf(adapter.render(orderFor(kind, which === "much" ? specs[kind] : {}, more)));
    const created = await client.create(adapter.resource, object, { fieldValidation: "Strict" });
    // Nothing was dropped on the way: what the server keeps is what was sent, and defaults.
    expect(created).toMatchObject({ spec: (object as unknown as { spec: object }).spec });
  });
}

const operators: readonly [PublishedDefinition, ApplicationAdapter, ApplicationSpec][] = [
  [sparkOperator, spark as ApplicationAdapter, "sparkSpec"],
  [flinkOperator, flink as ApplicationAdapter, "flinkSpec"],
];
for (const [definition, adapter, kind] of operators) {
  const reason = whyNoDefinition(definition);
  describe.skipIf(reason)(`the definition of ${definition.title}${reason ? ` (skipped: ${reason})` : ""}`, () => {
    beforeAll(async () => {
      await client.create(apiextensionsV1.CustomResourceDefinition, await publishedDefinition(definition));
      const clock = new WallClock();
      while (!(await isServed(adapter))) await sleep(clock, 50);
    });
    takes(adapter, kind);
  });
}

describe("a Job", () => {
  takes(job as ApplicationAdapter, "jobSpec");

  it("gets another pod for one that was taken away, and none for one that failed", async () => {
    const namespace = "faults";
    await client.create(coreV1.Namespace, { metadata: { name: namespace } });
    // KWOK runs it so long, and ends it so, as the annotations say.
    const annotations = { "berth.dev/run-time": "1h" };
    const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } };
    const order = orderFor("jobSpec", { template });
    const key = { namespace, name: order.name };
    const rendered = objectOf(job.render(order));
    await client.create(batchV1.Job, { ...rendered, metadata: key });
    const pods = async () => (await client.list(coreV1.Pod, { namespace })).items.filter((pod) => job.isExecutor(pod));
    const until = async (count: number, holds: (pod: coreV1.Pod) => boolean) => {
      const found = await poll(
        async () => {
          const those = (await pods()).filter(holds);
          return those.length === count ? those : undefined;
        },
        { timeoutMs: 60_000 },
      );
      if (!found) throw new Error(`there are no ${count} such pods, but ${JSON.stringify(await pods())}`);
      return found;
    };
    const letIn = (pod: coreV1.Pod) =>
      client.patch(
        coreV1.Pod,
        { namespace, name: pod.metadata.name ?? "" },
        { merge: { spec: { schedulingGates: null } } },
      );
    const isGated = ({ spec }: coreV1.Pod) => spec?.schedulingGates?.[0]?.name === SLOT_GATE;
    const look = async () => job.observe(await client.get(batchV1.Job, key));

    const waiting = await until(3, isGated);
    expect((await look()).phase).toBe("pending");
    for (const pod of waiting) {
      expect(pod.spec?.containers[0]?.resources?.requests).toEqual(order.resources);
      await letIn(pod);
    }
    const [first] = await until(3, ({ status }) => status?.phase === "Running");
    await poll(async () => ((await look()).phase === "running" ? true : undefined), { timeoutMs: 30_000 });
    expect((await look()).phase).toBe("running");

    const taken = { namespace, name: first?.metadata.name ?? "" };
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: taken };
    await client.subresource("eviction").create(coreV1.Pod, taken, eviction);
    // As a kubelet does when the containers have ended; KWOK only lets go of the pod.
    await client.status.patch(coreV1.Pod, taken, { merge: { status: { phase: "Failed" } } });
    const again = await until(1, isGated);
    expect(again[0]?.metadata.name).not.toBe(taken.name);
    expect((await look()).phase).toBe("running");

    const failing = {
      merge: { metadata: { annotations: { "berth.dev/exit-code": "3", "berth.dev/run-time": "1s" } } },
    };
    await client.patch(coreV1.Pod, { namespace, name: again[0]?.metadata.name ?? "" }, failing);
    for (const pod of again) await letIn(pod);
    await poll(async () => ((await look()).phase === "failed" ? true : undefined), { timeoutMs: 60_000 });
    expect(await look()).toMatchObject({ phase: "failed", message: expect.stringContaining("BackoffLimitExceeded") });
  });
});

async function isServed({ resource }: ApplicationAdapter): Promise<boolean> {
  try {
    await client.list(resource, { namespace: "default" });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
