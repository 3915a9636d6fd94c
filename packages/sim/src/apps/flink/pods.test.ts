import { describe, expect, it } from "vitest";
import { flinkConfOf, mebibytes, milliseconds, resourcesOf, taskManagersOf } from "./conf.ts";
import type { FlinkDeployment, FlinkDeploymentSpec } from "./deployment.ts";
import { jobManagerDeployment, taskManagerPod } from "./pods.ts";

const flink = (spec: FlinkDeploymentSpec = {}): FlinkDeployment => ({
  metadata: { name: "wc", namespace: "default", uid: "u-flink", generation: 3 },
  spec: { image: "flink:1.20", serviceAccount: "flink", job: { jarURI: "local:///x.jar", parallelism: 4 }, ...spec },
});
const owner = { ...jobManagerDeployment(flink()), metadata: { name: "wc", uid: "u-deployment" } };

describe("how many TaskManagers there are", () => {
  it.each<[FlinkDeploymentSpec, number]>([
    [{ job: { parallelism: 4 } }, 4],
    [{ job: { parallelism: 4 }, flinkConfiguration: { "taskmanager.numberOfTaskSlots": "2" } }, 2],
    [{ job: { parallelism: 5 }, flinkConfiguration: { "taskmanager.numberOfTaskSlots": 2 } }, 3],
    [{ job: { parallelism: 5 }, flinkConfiguration: { taskmanager: { numberOfTaskSlots: 2 } } }, 3],
    [
      {
        job: { parallelism: 1 },
        taskManager: { replicas: 6 },
        flinkConfiguration: { "taskmanager.numberOfTaskSlots": "2" },
      },
      6,
    ],
    [{ job: { parallelism: 3 }, flinkConfiguration: { "taskmanager.numberOfTaskSlots": "none" } }, 3],
    [{ job: {}, flinkConfiguration: { "parallelism.default": "7" } }, 7],
  ])("%j: %d", (spec, expected) => {
    expect(taskManagersOf(spec)).toBe(expected);
  });

  it("is none without a job", () => {
    expect(taskManagersOf({})).toBe(0);
  });
});

describe("what pods ask for", () => {
  it.each([
    ["2048m", 2048],
    ["2g", 2048],
    ["2 gb", 2048],
    ["2147483648", 2048],
    ["2Gi", 2048],
    ["2000000k", 1953],
    ["1.5Gi", 1536],
  ])("%s is %d Mi", (text, expected) => {
    expect(mebibytes(text)).toBe(expected);
  });

  it("is exactly what the deployment says, as request and as limit", () => {
    expect(resourcesOf({ taskManager: { resource: { cpu: 0.75, memory: "896m" } } }, "taskmanager")).toEqual({
      requests: { cpu: "750m", memory: "896Mi" },
      limits: { cpu: "750m", memory: "896Mi" },
    });
  });

  it("is what Flink's options say otherwise", () => {
    expect(resourcesOf({}, "jobmanager").requests).toEqual({ cpu: "1", memory: "1600Mi" });
    const flinkConfiguration = {
      "taskmanager.numberOfTaskSlots": "3",
      "kubernetes.taskmanager.memory.limit-factor": "1.5",
    };
    expect(resourcesOf({ flinkConfiguration }, "taskmanager")).toEqual({
      requests: { cpu: "3", memory: "1728Mi" },
      limits: { cpu: "3", memory: "2592Mi" },
    });
  });

  it("reads durations as Flink does", () => {
    expect(["30 s", "1min", "5000", "x", undefined].map((text) => milliseconds(text, 7))).toEqual([
      30_000, 60_000, 5000, 7, 7,
    ]);
  });

  it("reads options however they are nested", () => {
    const conf = flinkConfOf({ flinkConfiguration: { a: { b: 1, c: { d: true } }, "e.f": "x", g: null } });
    expect([...conf]).toEqual([
      ["a.b", "1"],
      ["a.c.d", "true"],
      ["e.f", "x"],
    ]);
  });
});

describe("the JobManager's Deployment", () => {
  it("is found by its labels, belongs to the FlinkDeployment, and starts an application", () => {
    const { metadata, spec } = jobManagerDeployment(flink());
    const labels = { app: "wc", component: "jobmanager", type: "flink-native-kubernetes" };
    expect(metadata).toEqual({
      name: "wc",
      namespace: "default",
      labels,
      annotations: { "flinkdeployment.flink.apache.org/generation": "3" },
      ownerReferences: [
        {
          ...{ apiVersion: "flink.apache.org/v1beta1", kind: "FlinkDeployment", name: "wc", uid: "u-flink" },
          ...{ controller: false, blockOwnerDeletion: true },
        },
      ],
    });
    expect(spec).toMatchObject({ replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels } } });
    expect(spec?.template.spec?.serviceAccountName).toBe("flink");
    expect(spec?.template.spec?.containers).toMatchObject([
      {
        name: "flink-main-container",
        image: "flink:1.20",
        args: ["bash", "-c", "kubernetes-jobmanager.sh kubernetes-application "],
      },
    ]);
  });
});

describe("a TaskManager's pod", () => {
  const podTemplate = {
    metadata: { labels: { team: "a", component: "nonsense" }, annotations: { note: "x" } },
    spec: {
      restartPolicy: "Always",
      schedulingGates: [{ name: "berth.dev/slot" }],
      priorityClassName: "berth-slot",
      containers: [
        { name: "flink-main-container", env: [{ name: "A", value: "1" }], resources: { requests: { cpu: "9" } } },
      ],
    },
  };

  it("belongs to the JobManager's Deployment, and is found by its labels", () => {
    expect(taskManagerPod(flink(), owner, "wc-taskmanager-1-1").metadata).toEqual({
      name: "wc-taskmanager-1-1",
      namespace: "default",
      labels: { app: "wc", component: "taskmanager", type: "flink-native-kubernetes" },
      ownerReferences: [
        {
          ...{ apiVersion: "apps/v1", kind: "Deployment", name: "wc", uid: "u-deployment" },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    });
  });

  it("is made of the template; what Flink decides counts more", () => {
    const { metadata, spec } = taskManagerPod(flink({ podTemplate }), owner, "t");
    expect(metadata).toMatchObject({ labels: { team: "a", component: "taskmanager" }, annotations: { note: "x" } });
    expect(spec).toMatchObject({
      restartPolicy: "Never",
      schedulingGates: [{ name: "berth.dev/slot" }],
      priorityClassName: "berth-slot",
    });
    expect(spec?.containers[0]?.resources?.requests).toEqual({ cpu: "1", memory: "1728Mi" });
    expect(spec?.containers[0]?.env?.map(({ name }) => name)).toEqual(["A", "_POD_NODE_ID", "FLINK_TM_JVM_MEM_OPTS"]);
  });

  it("is made of both templates, its own over the common one", () => {
    const own = {
      metadata: { labels: { team: "b" } },
      spec: { nodeSelector: { disk: "ssd" }, containers: [{ image: "own:1" }] },
    };
    const { metadata, spec } = taskManagerPod(flink({ podTemplate, taskManager: { podTemplate: own } }), owner, "t");
    expect(metadata.labels).toMatchObject({ team: "b" });
    expect(spec).toMatchObject({ nodeSelector: { disk: "ssd" }, priorityClassName: "berth-slot" });
    expect(spec?.containers).toHaveLength(1);
    expect(spec?.containers[0]).toMatchObject({ name: "flink-main-container", image: "flink:1.20" });
  });
});
