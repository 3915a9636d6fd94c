/** The driver's pod, as `spark-submit` makes it. Pure. */
import type { coreV1 } from "@berth/kube";
import { listOr, templateOf } from "../pod-template.ts";
import { DRIVER_CONTAINER, label, type SparkApplication } from "./application.ts";
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
import { SubmissionError } from "./submission-error.ts";
import { afterWebhook } from "./webhook.ts";

const UI_PORT = 4040;

/** Throws a `SubmissionError` if Spark could not make it. */
export function driverPod(submission: Submission): coreV1.Pod {
  const { application, conf, appId, prefix, localDirectory } = submission;
  const { metadata, spec } = application;
  const template = templateOf(spec.driver.template, DRIVER_CONTAINER);
  const demand = demandOf(conf, "driver", spec.type);
  const account =
    conf.get("spark.kubernetes.authenticate.driver.serviceAccountName") ?? template.spec.serviceAccountName;
  const container: coreV1.Container = {
    ...template.container,
    name: template.container.name ?? DRIVER_CONTAINER,
    image: imageOf(conf, "driver"),
    imagePullPolicy: pullPolicyOf(conf),
    args: [
      ...listOr(template.container.args),
      "driver",
      ...(spec.proxyUser ? ["--proxy-user", spec.proxyUser] : []),
      ...["--properties-file", `${CONF_DIRECTORY}/spark.properties`, "--class", mainClassOf(application)],
      spec.mainApplicationFile ?? "spark-internal",
      ...listOr(spec.arguments),
    ],
    ports: [
      ...listOr(template.container.ports),
      { name: "driver-rpc-port", containerPort: DRIVER_PORT, protocol: "TCP" },
      { name: "blockmanager", containerPort: BLOCK_MANAGER_PORT, protocol: "TCP" },
      { name: "spark-ui", containerPort: UI_PORT, protocol: "TCP" },
    ],
    env: [
      ...listOr(template.container.env),
      ...variables({
        SPARK_USER: "spark",
        SPARK_APPLICATION_ID: appId,
        ...withPrefix(conf, "spark.kubernetes.driverEnv."),
      }),
      fieldVariable("SPARK_DRIVER_BIND_ADDRESS", "status.podIP"),
      ...variables({ SPARK_LOCAL_DIRS: localDirectory, SPARK_CONF_DIR: CONF_DIRECTORY }),
    ],
    resources: resourcesOf(template.container.resources, demand),
    volumeMounts: [
      ...listOr(template.container.volumeMounts),
      { name: "pod-template-volume", mountPath: "/opt/spark/pod-template" },
      { name: LOCAL_DIRECTORY_VOLUME, mountPath: localDirectory },
      { name: "spark-conf-volume-driver", mountPath: CONF_DIRECTORY },
    ],
  };
  const pod: coreV1.Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: conf.get("spark.kubernetes.driver.pod.name") ?? `${prefix}-driver`,
      namespace: metadata.namespace ?? "default",
      labels: {
        ...template.labels,
        ...withPrefix(conf, "spark.kubernetes.driver.label."),
        ...commonLabels(submission),
        [label.role]: "driver",
      },
      ...annotationsOf(template.annotations, conf, "driver", appId, ""),
      ownerReferences: [...template.owners, referenceTo(application)],
    },
    spec: {
      ...template.spec,
      restartPolicy: "Never",
      ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
      ...nodeSelectorOf(template.spec.nodeSelector, conf, "driver"),
      ...pullSecretsOf(template.spec.imagePullSecrets, conf),
      containers: [...template.containers, container],
      volumes: [
        ...listOr(template.spec.volumes),
        fileVolume("pod-template-volume", `${prefix}-driver-podspec-conf-map`, {
          key: "podspec-configmap-key",
          path: "pod-spec-template.yml",
        }),
        { name: LOCAL_DIRECTORY_VOLUME, emptyDir: {} },
        fileVolume("spark-conf-volume-driver", `spark-drv-${uniquePart(prefix)}-conf-map`, {
          key: "spark.properties",
          path: "spark.properties",
          mode: 0o644,
        }),
      ],
      ...schedulerOf(conf, "driver"),
    },
  };
  return afterWebhook(pod, application, spec.driver);
}

function fileVolume(name: string, configMap: string, item: coreV1.KeyToPath): coreV1.Volume {
  return { name, configMap: { name: configMap, items: [item] } };
}

function mainClassOf({ spec }: SparkApplication): string {
  if (spec.mainClass) return spec.mainClass;
  if (spec.type === "Python") return "org.apache.spark.deploy.PythonRunner";
  if (spec.type === "R") return "org.apache.spark.deploy.RRunner";
  throw new SubmissionError("Error: No main class set in JAR; please specify one with --class.");
}
