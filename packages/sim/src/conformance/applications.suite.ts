/** The definitions of Spark's and Flink's operators, and the pods that our stand-ins make: a real server takes them too. */
import { apiextensionsV1, appsV1, coreV1, isNotFound, sleep, WallClock } from "@berth/kube";
import { expect } from "vitest";
import { flinkDeploymentDefinition } from "../apps/flink/crd.ts";
import { FlinkDeployment } from "../apps/flink/deployment.ts";
import { jobManagerDeployment, taskManagerPod } from "../apps/flink/pods.ts";
import { SparkApplication, withDefaults } from "../apps/spark/application.ts";
import { sparkConfOf } from "../apps/spark/conf.ts";
import { sparkApplicationDefinition } from "../apps/spark/crd.ts";
import { driverPod } from "../apps/spark/driver-pod.ts";
import { executorPod } from "../apps/spark/executor-pod.ts";
import { suite } from "./suite.ts";
import type { HttpAnswer, Target } from "./target.ts";

const { CustomResourceDefinition } = apiextensionsV1;
const clock = new WallClock();

/** Brings a definition if it is not there, and waits until it is served. */
async function define({ client }: Target, definition: apiextensionsV1.CustomResourceDefinition): Promise<void> {
  const name = definition.metadata.name ?? "";
  try {
    await client.get(CustomResourceDefinition, { name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(CustomResourceDefinition, definition, { fieldValidation: "Strict" });
  }
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await client.get(CustomResourceDefinition, { name });
    if (status?.conditions?.some((each) => each.type === "Established" && each.status === "True")) return;
    await sleep(clock, 100);
  }
  throw new Error(`${name} was never established`);
}

const template = (container: string) => ({
  metadata: { labels: { team: "a" } },
  spec: {
    schedulingGates: [{ name: "berth.dev/slot" }],
    nodeSelector: { disk: "ssd" },
    containers: [{ name: container, env: [{ name: "A", value: "1" }] }],
  },
});

const spark = (namespace: string, name: string, spec: object = {}): SparkApplication => ({
  metadata: { name, namespace },
  spec: {
    type: "Scala",
    sparkVersion: "3.5.6",
    image: "spark:3.5.6",
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples.jar",
    suspend: true, // nobody is to act on it
    driver: { cores: 1, memory: "1g", template: template("spark-kubernetes-driver") },
    executor: { instances: 2, memory: "4g", coreRequest: "700m", template: template("spark-kubernetes-executor") },
    ...spec,
  },
});

const flink = (namespace: string, name: string, spec: object = {}): FlinkDeployment => ({
  metadata: { name, namespace },
  spec: {
    image: "flink:1.20",
    flinkVersion: "v1_20",
    flinkConfiguration: { "taskmanager.numberOfTaskSlots": "2" },
    podTemplate: template("flink-main-container"),
    jobManager: { resource: { cpu: 1, memory: "2048m" } },
    taskManager: { resource: { cpu: 0.5, memory: "1024m" } },
    job: { jarURI: "local:///opt/flink/examples/batch/WordCount.jar", parallelism: 3, state: "running" },
    ...spec,
  },
});

const PATHS = { spark: "sparkoperator.k8s.io/v1beta2", flink: "flink.apache.org/v1beta1" };

export const applications = suite("applications", (it, target) => {
  /** What the server would say, without doing it. */
  const tryOut = (kind: "spark" | "flink", namespace: string, object: SparkApplication | FlinkDeployment) => {
    const plural = kind === "spark" ? "sparkapplications" : "flinkdeployments";
    const path = `/apis/${PATHS[kind]}/namespaces/${namespace}/${plural}?dryRun=All&fieldValidation=Strict`;
    const body = {
      apiVersion: PATHS[kind],
      kind: kind === "spark" ? "SparkApplication" : "FlinkDeployment",
      ...object,
    };
    return target().http("POST", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  };
  /** What is wrong with each field: the real server names them in any order. */
  const problemsOf = ({ status, text }: HttpAnswer): Record<string, string> => {
    expect(status).toBe(422);
    const causes: { field: string; message: string }[] = JSON.parse(text).details.causes;
    return Object.fromEntries(causes.map(({ field, message }) => [field, message]));
  };

  it("the definitions are accepted, and nothing is wrong with their schemas", async () => {
    for (const definition of [sparkApplicationDefinition, flinkDeploymentDefinition]) {
      await define(target(), definition);
      const { status } = await target().client.get(CustomResourceDefinition, { name: definition.metadata.name ?? "" });
      expect(status?.conditions?.filter(({ type }) => type === "NonStructuralSchema")).toEqual([]);
    }
  });

  it("applications are taken, with the fields that the definitions do not name", async () => {
    const namespace = await target().namespace();
    await define(target(), sparkApplicationDefinition);
    await define(target(), flinkDeploymentDefinition);
    const monitoring = { exposeDriverMetrics: true, exposeExecutorMetrics: false };
    const taken = await tryOut("spark", namespace, spark(namespace, "pi", { monitoring }));
    expect(taken.status).toBe(201);
    expect(JSON.parse(taken.text).spec).toMatchObject({
      monitoring,
      executor: { template: template("spark-kubernetes-executor") },
    });
    const ingress = { template: "/{{name}}(/|$)(.*)" };
    expect((await tryOut("flink", namespace, flink(namespace, "wc", { ingress }))).status).toBe(201);
  });

  it("applications that make no sense are refused, and the server says where", async () => {
    const namespace = await target().namespace();
    await define(target(), sparkApplicationDefinition);
    await define(target(), flinkDeploymentDefinition);
    const answers = [
      await tryOut("spark", namespace, spark(namespace, "pi", { type: "Perl" })),
      await tryOut("spark", namespace, spark(namespace, "pi", { executor: { instances: 0, cores: "one" } })),
      await tryOut("spark", namespace, spark(namespace, "pi", { driver: undefined, sparkConf: { a: 1 } })),
      await tryOut("flink", namespace, flink(namespace, "wc", { job: { state: "paused", parallelism: "many" } })),
    ];
    const type = (field: string, wanted: string, given: string) =>
      `Invalid value: "${given}": ${field} in body must be of type ${wanted}: "${given}"`;
    expect(answers.map(problemsOf)).toEqual([
      { "spec.type": 'Unsupported value: "Perl": supported values: "Java", "Python", "Scala", "R"' },
      {
        "spec.executor.cores": type("spec.executor.cores", "integer", "string"),
        "spec.executor.instances":
          "Invalid value: 0: spec.executor.instances in body should be greater than or equal to 1",
      },
      { "spec.driver": "Required value", "spec.sparkConf.a": type("spec.sparkConf.a", "string", "integer") },
      {
        "spec.job.parallelism": type("spec.job.parallelism", "integer", "string"),
        "spec.job.state": 'Unsupported value: "paused": supported values: "running", "suspended"',
      },
    ]);
  });

  it("the pods of the stand-ins are valid pods", async () => {
    const namespace = await target().namespace();
    const application = {
      ...spark(namespace, "pi"),
      metadata: { name: "pi", namespace, uid: "11111111-1111-4111-8111-111111111111" },
    };
    const complete = { ...application, spec: withDefaults(application.spec) };
    const submission = {
      application: complete,
      conf: sparkConfOf(complete, "11111111-1111-4111-8111-222222222222"),
      appId: "spark-0123456789abcdef0123456789abcdef",
      prefix: "pi-0123456789abcdef",
      localDirectory: "/var/data/spark-1",
    };
    const deployment = {
      ...flink(namespace, "wc"),
      metadata: { name: "wc", namespace, uid: "11111111-1111-4111-8111-333333333333" },
    };
    const jobManager = jobManagerDeployment(deployment);
    const owner = { ...jobManager, metadata: { ...jobManager.metadata, uid: "11111111-1111-4111-8111-444444444444" } };
    const driver = driverPod(submission);
    const options = { dryRun: true, fieldValidation: "Strict" } as const;
    const { client } = target();
    const named = { ...driver, metadata: { ...driver.metadata, uid: "11111111-1111-4111-8111-555555555555" } };
    for (const pod of [
      driver,
      executorPod(submission, named, 1),
      taskManagerPod(deployment, owner, "wc-taskmanager-1-1"),
    ]) {
      const created = await client.create(coreV1.Pod, pod, options);
      expect(created.spec?.schedulingGates).toEqual([{ name: "berth.dev/slot" }]);
    }
    const created = await client.create(appsV1.Deployment, jobManager, options);
    expect(created.spec?.template.spec?.containers[0]?.resources).toEqual({
      requests: { cpu: "1", memory: "2Gi" },
      limits: { cpu: "1", memory: "2Gi" },
    });
  });

  it("kubectl shows the operators' columns, under the operators' short names", async () => {
    const namespace = await target().namespace();
    await define(target(), sparkApplicationDefinition);
    await define(target(), flinkDeploymentDefinition);
    const { client } = target();
    await client.create(SparkApplication, spark(namespace, "pi"));
    await client.create(FlinkDeployment, flink(namespace, "wc", { mode: "standalone" }));
    const [sparks, flinks] = await Promise.all(
      ["sparkapp", "flinkdep"].map((kind) => target().kubectl(["get", kind, "-n", namespace])),
    );
    expect(
      sparks?.stdout
        .split("\n")[0]
        ?.trim()
        .split(/\s{2,}/),
    ).toEqual(["NAME", "SUSPEND", "STATUS", "ATTEMPTS", "START", "FINISH", "AGE"]);
    expect(sparks?.stdout).toMatch(/\npi +true /);
    expect(
      flinks?.stdout
        .split("\n")[0]
        ?.trim()
        .split(/\s{2,}/),
    ).toEqual(["NAME", "JOB STATUS", "LIFECYCLE STATE"]);
    await client.delete(SparkApplication, { namespace, name: "pi" });
    await client.delete(FlinkDeployment, { namespace, name: "wc" });
  });
});
