/** FlinkDeployment as apache/flink-kubernetes-operator 1.15 has it: the fields that this package uses. */
import { type Condition, type KubernetesObject, kindOf } from "@berth/kube";

/** A cluster of Flink's operator. */
export interface FlinkDeployment extends KubernetesObject {
  spec: FlinkDeploymentSpec;
  status?: FlinkDeploymentStatus;
}

export const FlinkDeployment = kindOf<FlinkDeployment>(
  "flink.apache.org/v1beta1",
  "FlinkDeployment",
  "flinkdeployments",
);

export interface FlinkDeploymentSpec {
  image?: string;
  imagePullPolicy?: string;
  flinkVersion?: string;
  serviceAccount?: string;
  /** Options by name; nested objects mean the same as names with dots. */
  flinkConfiguration?: Record<string, unknown>;
  /** A Pod, which nobody has checked. */
  podTemplate?: unknown;
  jobManager?: FlinkProcessSpec;
  taskManager?: FlinkProcessSpec;
  /** Without one it is a session cluster. */
  job?: FlinkJobSpec;
  mode?: "native" | "standalone";
  restartNonce?: number;
}

export interface FlinkProcessSpec {
  resource?: { cpu?: number; memory?: string; ephemeralStorage?: string };
  replicas?: number;
  podTemplate?: unknown;
}

export interface FlinkJobSpec {
  jarURI?: string;
  entryClass?: string;
  args?: string[];
  parallelism?: number;
  state?: "running" | "suspended";
  upgradeMode?: "stateless" | "savepoint" | "last-state";
}

export type JobManagerDeploymentStatus = "READY" | "DEPLOYED_NOT_READY" | "DEPLOYING" | "MISSING" | "ERROR";

export type FlinkJobState =
  | "INITIALIZING"
  | "CREATED"
  | "RUNNING"
  | "FAILING"
  | "FAILED"
  | "CANCELLING"
  | "CANCELED"
  | "FINISHED"
  | "RESTARTING"
  | "SUSPENDED"
  | "RECONCILING";

export type LifecycleState =
  | "CREATED"
  | "SUSPENDED"
  | "UPGRADING"
  | "DEPLOYED"
  | "STABLE"
  | "ROLLING_BACK"
  | "ROLLED_BACK"
  | "FAILED"
  | "DELETING"
  | "DELETED";

export interface FlinkDeploymentStatus {
  clusterInfo?: Record<string, string>;
  conditions?: Condition[];
  error?: string;
  jobManagerDeploymentStatus: JobManagerDeploymentStatus;
  jobStatus: {
    jobId?: string;
    jobName?: string;
    state?: FlinkJobState;
    /** Milliseconds since 1970, as text. */
    startTime?: string;
    updateTime?: string;
  };
  lifecycleState: LifecycleState;
  observedGeneration?: number;
  reconciliationStatus: {
    /** JSON of the spec, and of what the operator wants to remember with it. */
    lastReconciledSpec?: string;
    lastStableSpec?: string;
    reconciliationTimestamp?: number;
    state?: "DEPLOYED" | "UPGRADING" | "ROLLING_BACK" | "ROLLED_BACK";
  };
  taskManager?: { labelSelector: string; replicas: number };
}

export const FLINK_FINALIZER = "flinkdeployments.flink.apache.org/finalizer";
export const FLINK_CONTAINER = "flink-main-container";

/** The labels of all pods of a component, by which they are found too. */
export function componentLabels(cluster: string, component: "jobmanager" | "taskmanager"): Record<string, string> {
  return { app: cluster, component, type: "flink-native-kubernetes" };
}
