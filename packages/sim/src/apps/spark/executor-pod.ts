/** An executor's pod, as the driver makes it. Pure. */
import type { coreV1, OwnerReference } from "@berth/kube";
import { listOr, templateOf } from "../pod-template.ts";
import { EXECUTOR_CONTAINER, label } from "./application.ts";
import { demandOf, withPrefix } from "./conf.ts";
import {
  annotationsOf,
  BLOCK_MANAGER_PORT,
  CONF_DIRECTORY,
  commonLabels,
  DRIVER_PORT,
  fieldVariable,
  imageOf,
  LOCAL_DIRECTORY_VOLUME,
  nodeSelectorOf,
  pullPolicyOf,
  pullSecretsOf,
  referenceTo,
  resourcesOf,
  schedulerOf,
  uniquePart,
  variables,
} from "./pod-parts.ts";
import type { Submission } from "./submission.ts";
import { afterWebhook } from "./webhook.ts";

/** Throws a `SubmissionError` if Spark could not make it. @param driver - As it is in the cluster. */
export function executorPod(submission: Submission, driver: coreV1.Pod, executorId: number): coreV1.Pod {
  const { application, conf, appId, prefix, localDirectory } = submission;
  const { metadata, spec } = application;
  const template = templateOf(spec.executor.template, EXECUTOR_CONTAINER);
  const demand = demandOf(conf, "executor", spec.type);
  const name = `${conf.get("spark.kubernetes.executor.podNamePrefix") ?? prefix}-exec-${executorId}`;
  const host = `${prefix}-driver-svc.${metadata.namespace}.svc`;
  const account =
    template.spec.serviceAccountName ??
    conf.get("spark.kubernetes.authenticate.executor.serviceAccountName") ??
    conf.get("spark.kubernetes.authenticate.driver.serviceAccountName");
  const container: coreV1.Container = {
    ...template.container,
    name: template.container.name ?? EXECUTOR_CONTAINER,
    image: imageOf(conf, "executor"),
    imagePullPolicy: pullPolicyOf(conf),
    args: [...listOr(template.container.args), "executor"],
    ports: [
      ...listOr(template.container.ports),
      { name: "blockmanager", containerPort: BLOCK_MANAGER_PORT, protocol: "TCP" },
    ],
    env: [
      ...listOr(template.container.env),
      ...variables({
        SPARK_USER: "spark",
        SPARK_DRIVER_URL: `spark://CoarseGrainedScheduler@${host}:${DRIVER_PORT}`,
        SPARK_EXECUTOR_CORES: demand.cores,
        SPARK_EXECUTOR_MEMORY: `${demand.heapMiB}m`,
        SPARK_APPLICATION_ID: appId,
        SPARK_CONF_DIR: CONF_DIRECTORY,
        SPARK_EXECUTOR_ID: String(executorId),
        SPARK_RESOURCE_PROFILE_ID: "0",
        ...withPrefix(conf, "spark.executorEnv."),
        ...javaOptions(conf.get("spark.executor.extraJavaOptions")),
      }),
      fieldVariable("SPARK_EXECUTOR_POD_IP", "status.podIP"),
      fieldVariable("SPARK_EXECUTOR_POD_NAME", "metadata.name"),
      ...variables({ SPARK_LOCAL_DIRS: localDirectory }),
    ],
    resources: resourcesOf(template.container.resources, demand),
    volumeMounts: [
      ...listOr(template.container.volumeMounts),
      { name: "spark-conf-volume-exec", mountPath: CONF_DIRECTORY },
      { name: LOCAL_DIRECTORY_VOLUME, mountPath: localDirectory },
    ],
  };
  const { controller: _, blockOwnerDeletion: __, ...ofApplication } = referenceTo(application);
  const pod: coreV1.Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: metadata.namespace ?? "default",
      labels: {
        ...template.labels,
        ...withPrefix(conf, "spark.kubernetes.executor.label."),
        ...commonLabels(submission),
        [label.role]: "executor",
        [label.executorId]: String(executorId),
        [label.resourceProfileId]: "0",
      },
      ...annotationsOf(template.annotations, conf, "executor", appId, String(executorId)),
      // The operator puts the application into the template, so that others know whose executors these are.
      ownerReferences: [...template.owners, ofApplication, driverReference(driver)],
    },
    spec: {
      ...template.spec,
      hostname: hostnameOf(name),
      restartPolicy: "Never",
      ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
      ...nodeSelectorOf(template.spec.nodeSelector, conf, "executor"),
      ...pullSecretsOf(template.spec.imagePullSecrets, conf),
      containers: [...template.containers, container],
      volumes: [
        ...listOr(template.spec.volumes),
        { name: "spark-conf-volume-exec", configMap: { name: `spark-exec-${uniquePart(prefix)}-conf-map` } },
        { name: LOCAL_DIRECTORY_VOLUME, emptyDir: {} },
      ],
      ...schedulerOf(conf, "executor"),
    },
  };
  return afterWebhook(pod, application, spec.executor);
}

/** The end of a name that has room in a label: it has the executor's number. */
function hostnameOf(name: string): string {
  return name
    .slice(-63)
    .replace(/^\W+/, "")
    .replace(/[^\w-]+/g, "_");
}

/** One variable for each; those that Spark adds for the JVM itself are left out. */
function javaOptions(options = ""): Record<string, string> {
  const words = options.split(/\s+/).filter(Boolean);
  return Object.fromEntries(words.map((word, index) => [`SPARK_JAVA_OPT_${index}`, word]));
}

function driverReference({ metadata: { name = "", uid = "" } }: coreV1.Pod): OwnerReference {
  return { apiVersion: "v1", kind: "Pod", name, uid, controller: true };
}
