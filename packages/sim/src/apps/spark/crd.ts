/**
 * The custom resource definition of SparkApplication. Names, printer columns, required fields and the status are those of the
 * operator's own; of the spec it has the fields that this package uses, and keeps all others as they are.
 */
import type { apiextensionsV1 } from "@berth/kube";
import {
  anyObject,
  anyObjects,
  atLeast,
  closed,
  flag,
  int32,
  int64,
  list,
  oneOf,
  open,
  text,
  textMap,
  time,
} from "../crd-schema.ts";

const pod = {
  cores: atLeast(1, int32),
  coreRequest: text,
  coreLimit: text,
  memory: text,
  memoryLimit: text,
  memoryOverhead: text,
  image: text,
  env: anyObjects,
  envVars: textMap,
  labels: textMap,
  annotations: textMap,
  affinity: anyObject,
  tolerations: anyObjects,
  nodeSelector: textMap,
  schedulerName: text,
  priorityClassName: text,
  serviceAccount: text,
  sidecars: anyObjects,
  initContainers: anyObjects,
  volumeMounts: anyObjects,
  hostNetwork: flag,
  terminationGracePeriodSeconds: int64,
  javaOptions: text,
  template: anyObject,
};

const spec = open(
  {
    type: oneOf("Java", "Python", "Scala", "R"),
    sparkVersion: text,
    mode: oneOf("cluster", "client"),
    image: text,
    imagePullPolicy: text,
    imagePullSecrets: list(text),
    mainClass: text,
    mainApplicationFile: text,
    arguments: list(text),
    sparkConf: textMap,
    hadoopConf: textMap,
    nodeSelector: textMap,
    memoryOverheadFactor: text,
    batchScheduler: text,
    proxyUser: text,
    restartPolicy: closed({
      type: oneOf("Never", "Always", "OnFailure"),
      onFailureRetries: atLeast(0, int32),
      onFailureRetryInterval: atLeast(1, int64),
      onSubmissionFailureRetries: atLeast(0, int32),
      onSubmissionFailureRetryInterval: atLeast(1, int64),
    }),
    dynamicAllocation: closed({
      enabled: flag,
      initialExecutors: int32,
      minExecutors: int32,
      maxExecutors: int32,
      shuffleTrackingEnabled: flag,
      shuffleTrackingTimeout: int64,
    }),
    suspend: flag,
    timeToLiveSeconds: int64,
    volumes: anyObjects,
    driver: open({
      ...pod,
      podName: { ...text, pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*" },
    }),
    executor: open({ ...pod, instances: atLeast(1, int32), deleteOnTermination: flag }),
  },
  ...["driver", "executor", "mainApplicationFile", "sparkVersion", "type"],
);

const status = closed(
  {
    applicationState: closed({ state: text, errorMessage: text }, "state"),
    driverInfo: closed({
      podName: text,
      webUIAddress: text,
      webUIIngressAddress: text,
      webUIIngressName: text,
      webUIPort: int32,
      webUIServiceName: text,
    }),
    executionAttempts: int32,
    executorState: textMap,
    lastSubmissionAttemptTime: time,
    sparkApplicationId: text,
    submissionAttempts: int32,
    submissionID: text,
    terminationTime: time,
  },
  "driverInfo",
);

export const sparkApplicationDefinition: apiextensionsV1.CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "sparkapplications.sparkoperator.k8s.io",
    // Groups under k8s.io are refused without it.
    annotations: { "api-approved.kubernetes.io": "https://github.com/kubeflow/spark-operator/pull/1298" },
  },
  spec: {
    group: "sparkoperator.k8s.io",
    names: {
      kind: "SparkApplication",
      listKind: "SparkApplicationList",
      plural: "sparkapplications",
      shortNames: ["sparkapp"],
      singular: "sparkapplication",
    },
    scope: "Namespaced",
    versions: [
      {
        name: "v1beta2",
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { jsonPath: ".spec.suspend", name: "Suspend", type: "boolean" },
          { jsonPath: ".status.applicationState.state", name: "Status", type: "string" },
          { jsonPath: ".status.executionAttempts", name: "Attempts", type: "string" },
          { jsonPath: ".status.lastSubmissionAttemptTime", name: "Start", type: "string" },
          { jsonPath: ".status.terminationTime", name: "Finish", type: "string" },
          { jsonPath: ".metadata.creationTimestamp", name: "Age", type: "date" },
        ],
        schema: {
          openAPIV3Schema: closed(
            { apiVersion: text, kind: text, metadata: { type: "object" }, spec, status },
            ...["metadata", "spec"],
          ),
        },
      },
    ],
  },
};
