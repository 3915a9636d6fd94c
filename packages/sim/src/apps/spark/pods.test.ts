/**
 * Pods, held to those of a real Spark 3.5.6 in `testing/spark-3.5.6-pods.json`: the drivers were made by its `spark-submit`
 * in cluster mode, the executors by its driver in client mode, given what `sparkConfOf` and the templates say.
 */
import { readFileSync } from "node:fs";
import { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { testCluster } from "../../controllers/testing/cluster.ts";
import { type SparkApplication, type SparkApplicationSpec, withDefaults } from "./application.ts";
import { sparkConfOf } from "./conf.ts";
import { driverPod } from "./driver-pod.ts";
import { executorPod } from "./executor-pod.ts";
import { resourcePrefix, type Submission } from "./submission.ts";

interface RealPods {
  readonly driver: coreV1.Pod;
  readonly executor: coreV1.Pod;
}
const real: Record<string, RealPods> = JSON.parse(
  readFileSync(new URL("./testing/spark-3.5.6-pods.json", import.meta.url), "utf8"),
);

/** A template that says more than it should: Spark overrules some of it. */
const template = (role: string) => ({
  metadata: {
    labels: { team: "a", "spark-role": "nonsense" },
    annotations: { note: "x", exec: "{{EXECUTOR_ID}} of {{APP_ID}}" },
  },
  spec: {
    schedulingGates: [{ name: "berth.dev/slot" }],
    priorityClassName: "system-node-critical",
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "k", operator: "Exists" }],
    restartPolicy: "Always",
    containers: [
      { name: "sidecar", image: "side:1" },
      {
        name: `spark-kubernetes-${role}`,
        image: "ignored:1",
        env: [{ name: "MINE", value: "1" }],
        resources: { requests: { cpu: "7", memory: "9Gi", "ephemeral-storage": "1Gi" }, limits: { cpu: "8" } },
        args: ["--first"],
      },
    ],
  },
});

const variants: Record<string, Partial<SparkApplicationSpec>> = {
  plain: { driver: {}, executor: { instances: 2 } },
  template: {
    driver: { serviceAccount: "default", template: template("driver") },
    executor: {
      ...{ instances: 1, memory: "4g", cores: 2, coreRequest: "700m", coreLimit: "1200m" },
      ...{ labels: { own: "1" }, annotations: { ann: "{{EXECUTOR_ID}}" }, envVars: { E1: "v" } },
      ...{ javaOptions: "-Da=1 -Db=2", template: template("executor") },
    },
    nodeSelector: { zone: "z1" },
    imagePullSecrets: ["s1"],
    sparkConf: { "spark.kubernetes.scheduler.name": "other" },
  },
  python: {
    type: "Python",
    mainApplicationFile: "local:///x/pi.py",
    driver: { memory: "2g" },
    executor: { instances: 1, memory: "4g" },
    arguments: ["10"],
  },
};

function submissionOf(spec: Partial<SparkApplicationSpec>, more: Partial<Submission> = {}): Submission {
  const application: SparkApplication = {
    metadata: {
      name: "my-app",
      namespace: "default",
      uid: "11111111-1111-4111-8111-111111111111",
      labels: { queue: "q1" },
    },
    spec: withDefaults({
      ...{ type: "Scala", sparkVersion: "3.5.6", image: "spark:3.5.6" },
      ...(spec.type !== "Python" && { mainClass: "org.apache.spark.examples.SparkPi" }),
      ...{ mainApplicationFile: "local:///opt/spark/examples.jar", driver: {}, executor: {} },
      ...spec,
    }),
  };
  return {
    application,
    conf: sparkConfOf(application, "sub-1"),
    appId: "spark-0",
    prefix: "my-app-0123456789abcdef",
    localDirectory: "/var/data/spark-1",
    ...more,
  };
}

/** What is different each time, or comes from the server's admission. */
const OTHERS = new Set([
  ...["uid", "creationTimestamp", "resourceVersion", "managedFields", "generation"],
  ...["enableServiceLinks", "priority", "preemptionPolicy"],
]);

/** A pod as the API server would store it, reduced to what Spark decides. */
function stored(pod: coreV1.Pod): object {
  return comparable(testCluster().api.create(coreV1.Pod, pod));
}

function comparable({ metadata, spec }: coreV1.Pod): object {
  const owners = metadata.ownerReferences;
  const text = JSON.stringify({ metadata: { ...metadata, ownerReferences: undefined }, spec }, (key, value) => {
    if (OTHERS.has(key) || (key.startsWith("serviceAccount") && value === "default")) return undefined;
    if (key !== "env" || !Array.isArray(value)) return value;
    return value
      .filter(({ name }) => !name.startsWith("SPARK_JAVA_OPT_")) // the JVM's own options come in another order each time
      .map((each) => (["SPARK_USER", "SPARK_DRIVER_URL"].includes(each.name) ? { name: each.name } : each));
  });
  // Each name has its own unique part; all of them were made within the same minutes.
  const unique = /[0-9a-f]{6}a1e2[0-9a-f]{6}/g;
  return { ...JSON.parse(text.replaceAll(unique, "UNIQUE")), owners };
}

const directoryOf = ({ spec }: coreV1.Pod) =>
  spec?.containers.flatMap(({ env }) => env ?? []).find(({ name }) => name === "SPARK_LOCAL_DIRS")?.value ?? "";

describe.each(Object.keys(variants))("an application with %s pods", (name) => {
  const { driver, executor } = real[name] as RealPods;
  const appId = driver.metadata.labels?.["spark-app-selector"] ?? "";
  const spec = variants[name] ?? {};
  const prefix = executor.metadata.name?.replace(/-exec-\d+$/, "") ?? "";

  it("has the driver that Spark would make", () => {
    const submission = submissionOf(spec, { appId, prefix, localDirectory: directoryOf(driver) });
    expect(stored(driverPod(submission))).toEqual(comparable(driver));
  });

  it("has the executors that Spark would make", () => {
    const submission = submissionOf(spec, { appId, prefix, localDirectory: directoryOf(executor) });
    const uid = executor.metadata.ownerReferences?.[1]?.uid ?? "";
    const id = Number(executor.metadata.labels?.["spark-exec-id"]);
    const made = executorPod(submission, { ...driver, metadata: { ...driver.metadata, uid } }, id);
    expect(stored(made)).toEqual(comparable(executor));
  });
});

describe("what the webhook changes", () => {
  const executorWith = (executor: SparkApplicationSpec["executor"], more: Partial<SparkApplicationSpec> = {}) =>
    executorPod(submissionOf({ executor, ...more }), { metadata: { name: "d", uid: "u" } }, 1).spec;
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };

  it("counts more than the template", () => {
    const given = template("executor");
    const spec = executorWith({
      template: { ...given, spec: { ...given.spec, affinity: { podAffinity: {} }, priority: 5, schedulerName: "t" } },
      affinity,
      tolerations: [{ key: "more", operator: "Exists" }],
      nodeSelector: { rack: "r" },
      priorityClassName: "berth-slot",
      schedulerName: "mine",
      terminationGracePeriodSeconds: 5,
    });
    expect(spec).toMatchObject({
      affinity,
      tolerations: [{ key: "k" }, { key: "more" }],
      nodeSelector: { disk: "ssd", rack: "r" },
      priorityClassName: "berth-slot",
      schedulerName: "mine",
      terminationGracePeriodSeconds: 5,
      schedulingGates: [{ name: "berth.dev/slot" }],
    });
    expect(spec?.affinity).toEqual(affinity);
    expect(spec?.priority).toBeUndefined();
  });

  it("adds sidecars, init containers, variables, volumes and a memory limit", () => {
    const spec = executorWith(
      {
        ...{ memory: "1g", memoryLimit: "3g", env: [{ name: "A", value: "1" }] },
        sidecars: [{ name: "proxy", image: "p" }],
        initContainers: [{ name: "setup", image: "s" }],
        volumeMounts: [
          { name: "data", mountPath: "/data" },
          { name: "unknown", mountPath: "/x" },
        ],
      },
      {
        volumes: [
          { name: "data", emptyDir: {} },
          { name: "unused", emptyDir: {} },
        ],
      },
    );
    expect(spec?.containers.map(({ name }) => name)).toEqual(["spark-kubernetes-executor", "proxy"]);
    expect(spec?.initContainers).toEqual([{ name: "setup", image: "s" }]);
    expect(spec?.containers[0]?.resources).toEqual({
      requests: { cpu: "1", memory: "1408Mi" },
      limits: { memory: "3Gi" },
    });
    expect(spec?.containers[0]?.env?.at(-1)).toEqual({ name: "A", value: "1" });
    expect(spec?.volumes?.map(({ name }) => name)).toEqual(["spark-conf-volume-exec", "spark-local-dir-1", "data"]);
  });

  it("puts the batch scheduler before all others", () => {
    expect(executorWith({ schedulerName: "mine" }, { batchScheduler: "volcano" })?.schedulerName).toBe("volcano");
  });
});

describe("names", () => {
  it.each([
    ["my-app", "my-app-1a"],
    ["My_App.x", "my-app-x-1a"],
    ["9lives", "xlives-1a"],
    ["-a", "a-1a"],
  ])("begin with what can be kept of %s", (name, expected) => {
    expect(resourcePrefix(name, "1a")).toBe(expected);
  });
});
