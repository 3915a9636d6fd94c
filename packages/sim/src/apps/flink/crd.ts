/**
 * The custom resource definition of FlinkDeployment. Names, printer columns, subresources and the status are those of the
 * operator's own; of the spec it has the fields that this package uses, and keeps all others as they are.
 */
import type { apiextensionsV1 } from "@berth/kube";
import { anyObject, closed, int32, int64, list, oneOf, open, text, textMap } from "../crd-schema.ts";

const process = open({
  resource: closed({ cpu: { type: "number" }, memory: text, ephemeralStorage: text }),
  replicas: int32,
  podTemplate: anyObject,
});

const spec = open({
  image: text,
  imagePullPolicy: text,
  flinkVersion: text,
  serviceAccount: text,
  flinkConfiguration: anyObject,
  podTemplate: anyObject,
  jobManager: process,
  taskManager: process,
  job: open({
    jarURI: text,
    entryClass: text,
    args: list(text),
    parallelism: int32,
    state: oneOf("running", "suspended"),
    upgradeMode: oneOf("last-state", "savepoint", "stateless"),
  }),
  mode: oneOf("native", "standalone"),
  restartNonce: int64,
});

const status = open({
  clusterInfo: textMap,
  conditions: list(
    closed({
      type: text,
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: text,
      observedGeneration: int64,
    }),
  ),
  error: text,
  jobManagerDeploymentStatus: oneOf("DEPLOYED_NOT_READY", "DEPLOYING", "ERROR", "MISSING", "READY"),
  jobStatus: open({ jobId: text, jobName: text, state: text, startTime: text, updateTime: text }),
  lifecycleState: oneOf(
    ...["CREATED", "DELETED", "DELETING", "DEPLOYED", "FAILED", "ROLLED_BACK", "ROLLING_BACK", "STABLE", "SUSPENDED"],
    "UPGRADING",
  ),
  observedGeneration: int64,
  reconciliationStatus: closed({
    lastReconciledSpec: text,
    lastStableSpec: text,
    reconciliationTimestamp: int64,
    state: oneOf("DEPLOYED", "ROLLED_BACK", "ROLLING_BACK", "UPGRADING"),
  }),
  taskManager: closed({ labelSelector: text, replicas: int32 }),
});

export const flinkDeploymentDefinition: apiextensionsV1.CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "flinkdeployments.flink.apache.org" },
  spec: {
    group: "flink.apache.org",
    names: {
      kind: "FlinkDeployment",
      listKind: "FlinkDeploymentList",
      plural: "flinkdeployments",
      shortNames: ["flinkdep"],
      singular: "flinkdeployment",
    },
    scope: "Namespaced",
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            labelSelectorPath: ".status.taskManager.labelSelector",
            specReplicasPath: ".spec.taskManager.replicas",
            statusReplicasPath: ".status.taskManager.replicas",
          },
        },
        additionalPrinterColumns: [
          {
            description: "Last observed state of the job.",
            jsonPath: ".status.jobStatus.state",
            name: "Job Status",
            type: "string",
          },
          {
            description: "Lifecycle state of the Flink resource (including being rolled back, failed etc.).",
            jsonPath: ".status.lifecycleState",
            name: "Lifecycle State",
            type: "string",
          },
        ],
        schema: {
          openAPIV3Schema: closed({ apiVersion: text, kind: text, metadata: { type: "object" }, spec, status }),
        },
      },
    ],
  },
};
