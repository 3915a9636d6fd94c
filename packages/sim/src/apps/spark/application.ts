/** SparkApplication as kubeflow/spark-operator v2.5.2 has it: the fields that this package uses. */
import { type coreV1, type KubernetesObject, kindOf } from "@berth/kube";

/** An application of Spark's operator. */
export interface SparkApplication extends KubernetesObject {
  spec: SparkApplicationSpec;
  status?: SparkApplicationStatus;
}

export const SparkApplication = kindOf<SparkApplication>(
  "sparkoperator.k8s.io/v1beta2",
  "SparkApplication",
  "sparkapplications",
);

export interface SparkApplicationSpec {
  type: "Java" | "Python" | "Scala" | "R";
  sparkVersion: string;
  mode?: "cluster" | "client";
  image?: string;
  imagePullPolicy?: string;
  imagePullSecrets?: string[];
  mainClass?: string;
  mainApplicationFile?: string;
  arguments?: string[];
  sparkConf?: Record<string, string>;
  hadoopConf?: Record<string, string>;
  nodeSelector?: Record<string, string>;
  memoryOverheadFactor?: string;
  batchScheduler?: string;
  proxyUser?: string;
  restartPolicy?: RestartPolicy;
  dynamicAllocation?: DynamicAllocation;
  suspend?: boolean;
  timeToLiveSeconds?: number;
  volumes?: coreV1.Volume[];
  driver: SparkPodSpec & { podName?: string };
  executor: SparkPodSpec & { instances?: number; deleteOnTermination?: boolean };
}

/** What driver and executors have in common. */
export interface SparkPodSpec {
  cores?: number;
  coreRequest?: string;
  coreLimit?: string;
  memory?: string;
  memoryLimit?: string;
  memoryOverhead?: string;
  image?: string;
  env?: coreV1.EnvVar[];
  envVars?: Record<string, string>;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  affinity?: coreV1.Affinity;
  tolerations?: coreV1.Toleration[];
  nodeSelector?: Record<string, string>;
  schedulerName?: string;
  priorityClassName?: string;
  serviceAccount?: string;
  sidecars?: coreV1.Container[];
  initContainers?: coreV1.Container[];
  volumeMounts?: coreV1.VolumeMount[];
  hostNetwork?: boolean;
  terminationGracePeriodSeconds?: number;
  javaOptions?: string;
  /** A PodTemplateSpec, which nobody has checked. */
  template?: unknown;
}

export interface RestartPolicy {
  type?: "Never" | "Always" | "OnFailure";
  onFailureRetries?: number;
  onFailureRetryInterval?: number;
  onSubmissionFailureRetries?: number;
  onSubmissionFailureRetryInterval?: number;
}

export interface DynamicAllocation {
  enabled?: boolean;
  initialExecutors?: number;
  minExecutors?: number;
  maxExecutors?: number;
}

export type ApplicationStateType =
  | ""
  | "SUBMITTED"
  | "RUNNING"
  | "COMPLETED"
  | "FAILED"
  | "SUBMISSION_FAILED"
  | "PENDING_RERUN"
  | "INVALIDATING"
  | "SUCCEEDING"
  | "FAILING"
  | "SUSPENDING"
  | "SUSPENDED"
  | "RESUMING"
  | "UNKNOWN";

export type ExecutorState = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNKNOWN";

export interface SparkApplicationStatus {
  sparkApplicationId?: string;
  submissionID?: string;
  lastSubmissionAttemptTime: string | null;
  terminationTime: string | null;
  driverInfo: { podName?: string };
  applicationState: { state: ApplicationStateType; errorMessage?: string };
  executorState?: Record<string, ExecutorState>;
  executionAttempts?: number;
  submissionAttempts?: number;
}

/** Labels that the operator and Spark put on pods. */
export const label = {
  appName: "sparkoperator.k8s.io/app-name",
  launchedByOperator: "sparkoperator.k8s.io/launched-by-spark-operator",
  mutatedByOperator: "sparkoperator.k8s.io/mutated-by-spark-operator",
  submissionId: "sparkoperator.k8s.io/submission-id",
  appSelector: "spark-app-selector",
  sparkAppName: "spark-app-name",
  role: "spark-role",
  version: "spark-version",
  executorId: "spark-exec-id",
  resourceProfileId: "spark-exec-resourceprofile-id",
  executorInactive: "spark-exec-inactive",
} as const;

export const DRIVER_CONTAINER = "spark-kubernetes-driver";
export const EXECUTOR_CONTAINER = "spark-kubernetes-executor";

/** What the operator's webhook fills in when an application is created. */
export function withDefaults(spec: SparkApplicationSpec): SparkApplicationSpec {
  const { sparkConf = {}, driver, executor, restartPolicy = {} } = spec;
  const has = (key: string) => Object.hasOwn(sparkConf, key);
  const policy = restartPolicy.type ?? "Never";
  const dynamic = isDynamic(spec);
  return {
    ...spec,
    mode: spec.mode ?? "cluster",
    restartPolicy: {
      ...restartPolicy,
      type: policy,
      ...(policy !== "Never" && {
        onFailureRetryInterval: restartPolicy.onFailureRetryInterval ?? 5,
        onSubmissionFailureRetryInterval: restartPolicy.onSubmissionFailureRetryInterval ?? 5,
      }),
    },
    driver: {
      ...driver,
      ...(driver.cores === undefined && !has("spark.driver.cores") && { cores: 1 }),
      ...(driver.memory === undefined && !has("spark.driver.memory") && { memory: "1g" }),
    },
    executor: {
      ...executor,
      ...(executor.cores === undefined && !has("spark.executor.cores") && { cores: 1 }),
      ...(executor.memory === undefined && !has("spark.executor.memory") && { memory: "1g" }),
      ...(executor.instances === undefined && !sparkConf["spark.executor.instances"] && !dynamic && { instances: 1 }),
    },
  };
}

export function isDynamic({ dynamicAllocation, sparkConf }: SparkApplicationSpec): boolean {
  return dynamicAllocation
    ? dynamicAllocation.enabled === true
    : sparkConf?.["spark.dynamicAllocation.enabled"] === "true";
}

/** What the driver pod of an application is called. */
export function driverNameOf({ metadata, spec }: SparkApplication): string {
  return spec.driver.podName || spec.sparkConf?.["spark.kubernetes.driver.pod.name"] || `${metadata.name}-driver`;
}
