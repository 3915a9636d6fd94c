/** Each kind of application on a simulated cluster: made by Berth, taken up by its operator, and run to its end. */
import { batchV1, type Client, coreV1, Quantity, schedulingV1, VirtualClock } from "@berth/kube";
import { startSim } from "@berth/sim";
import { describe, expect, it } from "vitest";
import { priority, SLOT_GATE } from "../names.ts";
import { type ApplicationSpec, objectOf, orderFor } from "../testing/orders.ts";
import type { ApplicationAdapter, Observation, RunOrder } from "./application.ts";
import { flink } from "./flink.ts";
import { job } from "./job.ts";
import { spark } from "./spark.ts";

const device = "example.org/gpu";
const resources = { cpu: "700m", memory: "896Mi", [device]: "2" };
const sidecar = { name: "log", image: "busybox", command: ["sleep", "36000"] };
const sized = { ...sidecar, resources: { requests: { cpu: "50m", memory: "32Mi" } } };

/** What people might write, as plain as can be and with much in it. */
const cases: readonly [title: string, ApplicationAdapter, ApplicationSpec, spec: object, order: Partial<RunOrder>][] = [
  ["Spark", spark as ApplicationAdapter, "sparkSpec", {}, {}],
  [
    "Spark with sidecars and devices",
    spark as ApplicationAdapter,
    "sparkSpec",
    {
      type: "Python",
      mainApplicationFile: "local:///pi.py",
      executor: { instances: 7, sidecars: [sized], priorityClassName: "low", gpu: { name: device, quantity: 1 } },
    },
    { resources: { ...resources, memory: "2Gi" } },
  ],
  ["Flink", flink as ApplicationAdapter, "flinkSpec", {}, {}],
  [
    "Flink with sidecars and devices",
    flink as ApplicationAdapter,
    "flinkSpec",
    {
      flinkConfiguration: { taskmanager: { numberOfTaskSlots: 2 } },
      podTemplate: { spec: { containers: [sized] } },
      jobManager: { replicas: 1 },
    },
    { resources },
  ],
  ["a Job", job as ApplicationAdapter, "jobSpec", {}, {}],
  [
    "a Job with sidecars and devices",
    job as ApplicationAdapter,
    "jobSpec",
    {
      parallelism: 1,
      template: {
        spec: {
          restartPolicy: "OnFailure",
          containers: [{ name: "main", image: "busybox", command: ["sleep", "60"] }],
          initContainers: [{ ...sized, restartPolicy: "Always" }],
        },
      },
    },
    { resources },
  ],
];

const nodes = Array.from({ length: 4 }, (_, index) => ({
  name: `node-${index}`,
  allocatable: { [device]: "8" },
}));

describe.each(cases)("%s", (_title, adapter, kind, spec, options) => {
  async function started(more: Partial<RunOrder> = {}) {
    const clock = new VirtualClock();
    const sim = await startSim({ clock, nodes });
    await clock.settle();
    const { client } = sim;
    await client.create(schedulingV1.PriorityClass, { metadata: { name: priority.slot }, value: 2 });
    const order = orderFor(kind, spec, { ...options, ...more });
    const object = objectOf(adapter.render(order));
    await client.create(adapter.resource, object, { fieldValidation: "Strict" });
    return { sim, clock, client, order };
  }

  it("has one executor for each slot, of its size, and waits until they are let in; then it runs and ends", async () => {
    const { sim, clock, client, order } = await started();
    await using _ = sim;
    const look = async () => adapter.observe(await client.get(adapter.resource, nameOf(order)));
    const seen: Observation["phase"][] = [(await look()).phase];
    await clock.advance(30_000);
    const { executors, others } = await podsOf(client, adapter);
    expect(executors).toHaveLength(order.slots.length);
    for (const pod of executors) {
      expect(pod.spec?.schedulingGates).toEqual([{ name: SLOT_GATE }]);
      expect(pod.spec?.priorityClassName).toBe(priority.slot);
      expect(pod.spec?.nodeName).toBeUndefined();
      expect(pod.metadata.labels).toMatchObject({
        "berth.dev/role": "executor",
        "berth.dev/testbed": "lab.main",
        "berth.dev/job": "default.sample",
        "berth.dev/run": "1",
      });
      expect(pod.metadata.annotations).toMatchObject({
        "berth.dev/testbed": "lab/main",
        "berth.dev/job": "default/sample",
      });
      expect(requestsOf(pod)).toEqual(canonical(order.resources));
    }
    for (const pod of others) expect(pod.spec?.schedulingGates).toBeUndefined();
    expect(others).toHaveLength(adapter.kind === "job" ? 0 : 1); // the driver, or the JobManager

    await letIn(client);
    for (let second = 0; second < 1200 && seen.at(-1) !== "completed" && seen.at(-1) !== "failed"; second++) {
      const { phase } = await look();
      if (phase !== seen.at(-1)) seen.push(phase);
      await clock.advance(1000);
    }
    expect(seen).toEqual(["pending", "running", "completed"]);
    expect(await look()).toMatchObject({
      startTime: expect.stringMatching(/Z$/),
      endTime: expect.stringMatching(/Z$/),
    });
  });

  it("names the second scheduler, if there is one", async () => {
    const { sim, clock, client } = await started({ placement: { type: "extender", schedulerName: "berth" } });
    await using _ = sim;
    await clock.advance(30_000);
    const { executors, others } = await podsOf(client, adapter);
    expect(executors).toHaveLength(3);
    for (const { spec: its } of executors) {
      expect(its).toMatchObject({ schedulerName: "berth", priorityClassName: priority.slot });
      expect(its?.schedulingGates).toEqual([{ name: SLOT_GATE }]);
    }
    for (const { spec: its } of others) expect(its?.schedulerName).toBe("default-scheduler");
  });
});

describe("an executor of a Job", () => {
  async function running(command: readonly string[]) {
    const clock = new VirtualClock();
    const sim = await startSim({ clock, nodes });
    await sim.client.create(schedulingV1.PriorityClass, { metadata: { name: priority.slot }, value: 2 });
    const containers = [{ name: "main", image: "busybox", command }];
    const order = orderFor("jobSpec", { template: { spec: { containers } } });
    await sim.client.create(batchV1.Job, objectOf(job.render(order)));
    await clock.advance(1000);
    await letIn(sim.client);
    const look = async () => job.observe(await sim.client.get(batchV1.Job, nameOf(order)));
    return { sim, clock, look };
  }

  it("that is lost with its node is made again, and waits for a slot again", async () => {
    const { sim, clock, look } = await running(["sleep", "1200"]);
    await using _ = sim;
    await clock.advance(20_000);
    const before = (await podsOf(sim.client, job as ApplicationAdapter)).executors;
    const lost = before[0]?.spec?.nodeName ?? "";
    const casualties = before.filter(({ spec }) => spec?.nodeName === lost);
    sim.removeNode(lost);
    await clock.advance(120_000);
    const { executors } = await podsOf(sim.client, job as ApplicationAdapter);
    const waiting = executors.filter(({ spec }) => spec?.schedulingGates !== undefined);
    expect(waiting).toHaveLength(casualties.length);
    const index = "batch.kubernetes.io/job-completion-index";
    const indexes = (pods: readonly coreV1.Pod[]) => pods.map(({ metadata }) => metadata.labels?.[index]).toSorted();
    expect(indexes(waiting)).toEqual(indexes(casualties));
    await letIn(sim.client);
    await clock.advance(1_300_000);
    expect((await look()).phase).toBe("completed");
  });

  it("that fails makes it fail, and is not made again", async () => {
    const { sim, clock, look } = await running(["sh", "-c", "sleep 30; exit 3"]);
    await using _ = sim;
    await clock.advance(60_000);
    expect(await look()).toMatchObject({ phase: "failed", message: expect.stringContaining("BackoffLimitExceeded") });
    expect((await podsOf(sim.client, job as ApplicationAdapter)).executors).toHaveLength(3);
  });
});

/** Opens the gates of all pods. */
async function letIn(client: Client): Promise<void> {
  const { items } = await client.list(coreV1.Pod, { namespace: "default" });
  for (const { metadata, spec } of items) {
    if (!spec?.schedulingGates) continue;
    await client.patch(coreV1.Pod, nameOf(metadata), { merge: { spec: { schedulingGates: null } } });
  }
}

const nameOf = ({ namespace = "default", name = "" }: { namespace?: string; name?: string }) => ({ namespace, name });

async function podsOf(client: Client, adapter: ApplicationAdapter) {
  const { items } = await client.list(coreV1.Pod, { namespace: "default" });
  return {
    executors: items.filter((pod) => adapter.isExecutor(pod)),
    others: items.filter((pod) => !adapter.isExecutor(pod)),
  };
}

/** What a pod asks for, of all its containers that run side by side. */
function requestsOf({ spec }: coreV1.Pod): Record<string, string> {
  const beside = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const sums: Record<string, Quantity> = {};
  for (const { resources: its } of [...beside, ...(spec?.containers ?? [])]) {
    for (const [name, amount] of Object.entries(its?.requests ?? {})) {
      sums[name] = (sums[name] ?? Quantity.zero).plus(amount);
    }
  }
  return canonical(Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, String(amount)])));
}

function canonical(amounts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, text]) => [name, String(Quantity.parse(text).nano)]));
}
