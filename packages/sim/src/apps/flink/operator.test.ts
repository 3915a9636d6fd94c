import { appsV1, coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { type AppCluster, appCluster } from "../testing/app-cluster.ts";
import { FlinkDeployment, type FlinkDeploymentSpec } from "./deployment.ts";

const at = (name: string) => ({ namespace: "default", name });
const flink = (name: string, { job, ...spec }: Partial<FlinkDeploymentSpec> = {}): FlinkDeployment => ({
  metadata: { name, namespace: "default" },
  spec: {
    image: "flink:1.20",
    flinkVersion: "v1_20",
    serviceAccount: "flink",
    flinkConfiguration: { "taskmanager.numberOfTaskSlots": "2" },
    jobManager: { resource: { cpu: 1, memory: "2048m" } },
    taskManager: { resource: { cpu: 0.5, memory: "1024m" } },
    job: { jarURI: "local:///opt/flink/examples/batch/WordCount.jar", parallelism: 3, ...job },
    ...spec,
  },
});
const get = ({ api }: AppCluster, name = "wc") => {
  const found = api.get(FlinkDeployment, at(name));
  if (!found) throw new Error(`there is no deployment ${name}`);
  return found;
};
const taskManagers = (cluster: AppCluster) =>
  Object.keys(cluster.pods()).filter((name) => name.includes("-taskmanager-"));

/** What a deployment goes through, with the second in which it does. */
function stories(cluster: AppCluster, name = "wc"): string[] {
  const start = cluster.clock.now();
  const seen: string[] = [];
  cluster.api.onChange(FlinkDeployment, ({ object, type }) => {
    const { status } = object;
    if (object.metadata.name !== name || type === "DELETED" || !status) return;
    const story = `${status.jobManagerDeploymentStatus} ${status.jobStatus.state} ${status.lifecycleState}`;
    if (!seen.at(-1)?.endsWith(` ${story}`)) seen.push(`${(cluster.clock.now() - start) / 1000} ${story}`);
  });
  return seen;
}

describe("a batch job", () => {
  it("is deployed, runs and finishes; its JobManager stays, its TaskManagers go", async () => {
    const cluster = await appCluster(); // 60 executor-seconds
    const seen = stories(cluster);
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(6);
    expect(taskManagers(cluster)).toEqual(["wc-taskmanager-1-1", "wc-taskmanager-1-2"]);
    await cluster.pass(94);
    expect(seen).toEqual([
      "0 DEPLOYING RECONCILING DEPLOYED",
      "0 DEPLOYED_NOT_READY RECONCILING DEPLOYED",
      "10 READY RUNNING STABLE",
      "70 READY FINISHED STABLE", // at the next look: it was done after 35 seconds
    ]);
    expect(get(cluster)).toMatchObject({
      metadata: { finalizers: ["flinkdeployments.flink.apache.org/finalizer"] },
      status: {
        jobStatus: { jobId: expect.stringMatching(/^[0-9a-f]{32}$/), jobName: "wc", startTime: "1577836800000" },
        reconciliationStatus: { state: "DEPLOYED" },
        taskManager: { labelSelector: "component=taskmanager,app=wc", replicas: 2 },
        conditions: [{ type: "Running", status: "False", reason: "Finished", message: "Job state FINISHED" }],
      },
    });
    expect(JSON.parse(get(cluster).status?.reconciliationStatus.lastReconciledSpec ?? "")).toMatchObject({
      spec: { job: { parallelism: 3 } },
      resource_metadata: { apiVersion: "flink.apache.org/v1beta1", firstDeployment: true },
    });
    expect(Object.values(cluster.pods())).toEqual(["Running"]); // TaskManagers went after 30 idle seconds
    await cluster.pass(86_400);
    expect(get(cluster).status).toMatchObject({
      jobManagerDeploymentStatus: "MISSING",
      jobStatus: { state: "FINISHED" },
    });
    expect(cluster.pods()).toEqual({});
    expect(cluster.failures).toEqual([]);
  });

  it("needs all of its TaskManagers, and runs in the meantime", async () => {
    const cluster = await appCluster();
    const podTemplate = { spec: { schedulingGates: [{ name: "berth.dev/slot" }] } };
    cluster.api.create(FlinkDeployment, flink("wc", { taskManager: { podTemplate } }));
    await cluster.pass(200);
    expect(get(cluster).status?.jobStatus.state).toBe("RUNNING");
    expect(taskManagers(cluster).map((name) => cluster.pods()[name])).toEqual(["Pending", "Pending"]);
  });

  it("asks again for a TaskManager that it loses, under a new name", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: 600 }]" });
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(65);
    cluster.api.delete(coreV1.Pod, at("wc-taskmanager-1-1"));
    await cluster.pass(5);
    expect(taskManagers(cluster)).toEqual(["wc-taskmanager-1-2", "wc-taskmanager-1-3"]);
    await cluster.pass(400);
    expect(get(cluster).status?.jobStatus.state).toBe("FINISHED");
  });

  it("replaces a TaskManager that fails", async () => {
    const cluster = await appCluster({
      work: "kinds: [{ name: plain, work: 600, failures: { executorPerHour: 0.999 } }]",
    });
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(2000);
    expect(get(cluster).status?.jobStatus.state).toBe("FINISHED");
  });

  it("begins anew if its JobManager is lost, with the TaskManagers that are there", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: 600 }]" });
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(100);
    const [manager = ""] = Object.keys(cluster.pods()).filter((name) => !name.includes("taskmanager"));
    cluster.api.delete(coreV1.Pod, at(manager));
    await cluster.pass(20);
    expect(taskManagers(cluster)).toEqual(["wc-taskmanager-1-1", "wc-taskmanager-1-2"]);
    expect(cluster.runtime.find("flink/default/wc")).toMatchObject({ phase: "working", workers: 2 });
    await cluster.pass(400);
    expect(get(cluster).status?.jobStatus.state).toBe("FINISHED");
  });

  it("can fail", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: 60, failures: { application: 1 } }]" });
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(150);
    expect(get(cluster).status).toMatchObject({ jobStatus: { state: "FAILED" }, lifecycleState: "FAILED" });
  });
});

describe("a deployment that is changed", () => {
  it("is suspended and resumed", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: unbounded }]" });
    const seen = stories(cluster);
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(20);
    cluster.api.patch(FlinkDeployment, at("wc"), { spec: { job: { state: "suspended" } } });
    await cluster.pass(20);
    expect(seen.at(-1)).toBe("20 MISSING FINISHED SUSPENDED");
    expect(cluster.pods()).toEqual({});
    cluster.api.patch(FlinkDeployment, at("wc"), { spec: { job: { state: "running" } } });
    await cluster.pass(20);
    expect(seen.slice(-3).map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "DEPLOYING RECONCILING DEPLOYED",
      "DEPLOYED_NOT_READY RECONCILING DEPLOYED",
      "READY RUNNING STABLE",
    ]);
    expect(taskManagers(cluster)).toHaveLength(2);
  });

  it("is cancelled and deployed anew", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: unbounded }]" });
    const seen = stories(cluster);
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(20);
    const before = get(cluster).status?.jobStatus.jobId;
    cluster.api.patch(FlinkDeployment, at("wc"), { spec: { job: { parallelism: 8 } } });
    await cluster.pass(40);
    expect(seen).toContain("20 MISSING FINISHED UPGRADING");
    expect(seen.at(-1)).toMatch(/READY RUNNING STABLE$/);
    expect(taskManagers(cluster)).toHaveLength(4);
    expect(get(cluster).status?.jobStatus.jobId).not.toBe(before);
    expect(get(cluster).status?.taskManager?.replicas).toBe(4);
  });

  it("goes on if the change makes no difference to what runs", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: unbounded }]" });
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(20);
    const before = get(cluster).status?.jobStatus.jobId;
    cluster.api.patch(FlinkDeployment, at("wc"), { spec: { job: { upgradeMode: "stateless", state: "running" } } });
    await cluster.pass(20);
    expect(get(cluster).status?.jobStatus).toMatchObject({ jobId: before, state: "RUNNING" });
  });
});

describe("a deployment that is deleted", () => {
  it("goes when everything of it is gone", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: unbounded }]" });
    for (const seconds of [0.001, 3, 20]) {
      cluster.api.create(FlinkDeployment, flink("wc"));
      await cluster.pass(seconds);
      cluster.api.delete(FlinkDeployment, at("wc"));
      await cluster.pass(60);
      expect(cluster.api.list(FlinkDeployment)).toEqual([]);
      expect(cluster.api.list(appsV1.Deployment)).toEqual([]);
      expect(cluster.pods()).toEqual({});
    }
    expect(cluster.failures).toEqual([]);
  });
});

describe("a deployment that makes no sense", () => {
  it.each([
    [{ job: { parallelism: 0 } }, "Job parallelism must be larger than 0"],
    [{ job: { state: "suspended" as const } }, "Job must start in running state"],
    [{ taskManager: { resource: { memory: "lots" } } }, "TaskManager resource memory parse error"],
  ])("says why: %j", async (spec, message) => {
    const cluster = await appCluster();
    cluster.api.create(FlinkDeployment, flink("wc", spec));
    await cluster.pass(100);
    expect(JSON.parse(get(cluster).status?.error ?? "")).toMatchObject({ message });
    expect(get(cluster).status?.lifecycleState).toBe("FAILED");
    expect(cluster.pods()).toEqual({});
  });

  it.each([
    [{ podTemplate: "no" }],
    [{ podTemplate: { spec: { containers: [1, null, { name: 3 }] } }, taskManager: { podTemplate: [] } }],
    [{ flinkConfiguration: { a: { b: { c: [1, 2] } }, "taskmanager.numberOfTaskSlots": -4 } }],
    [{ job: undefined as never }],
    [{ job: { parallelism: 3, args: [1, 2] as never } }],
  ])("does not crash: %j", async (spec) => {
    const cluster = await appCluster();
    try {
      cluster.api.create(FlinkDeployment, flink("odd", spec as never));
    } catch {
      return; // refused by the server
    }
    cluster.api.create(FlinkDeployment, flink("wc"));
    await cluster.pass(200);
    expect(get(cluster).status?.jobStatus.state).toBe("FINISHED");
    expect(cluster.failures).toEqual([]);
  });

  it("without a job is a session cluster: a JobManager that waits", async () => {
    const cluster = await appCluster();
    const { job: _, ...spec } = flink("session").spec;
    cluster.api.create(FlinkDeployment, { ...flink("session"), spec });
    await cluster.pass(100);
    expect(get(cluster, "session").status).toMatchObject({ jobManagerDeploymentStatus: "READY", jobStatus: {} });
    expect(Object.values(cluster.pods())).toEqual(["Running"]);
  });
});
