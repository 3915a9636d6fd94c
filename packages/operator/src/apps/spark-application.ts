/** SparkApplication of kubeflow/spark-operator: the fields that Berth reads or writes; people may give all others. */
import { type KubernetesObject, kindOf } from "@berth/kube";
import type { PodTemplate } from "./pod-template.ts";

export interface SparkApplication extends KubernetesObject {
  spec: {
    type: string;
    sparkVersion: string;
    mainApplicationFile: string;
    mode: "cluster";
    restartPolicy: { type: "Never" };
    sparkConf: Record<string, string>;
    driver: object;
    executor: SparkExecutor;
  };
  status?: {
    applicationState?: { state?: string; errorMessage?: string };
    lastSubmissionAttemptTime?: string | null;
    terminationTime?: string | null;
  };
}

export interface SparkExecutor {
  instances: number;
  /** Tasks at a time. */
  cores: number;
  coreRequest: string;
  memory: string;
  memoryOverhead: string;
  deleteOnTermination: boolean;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  priorityClassName: string;
  schedulerName?: string;
  template: PodTemplate;
}

export const SparkApplication = kindOf<SparkApplication>(
  "sparkoperator.k8s.io/v1beta2",
  "SparkApplication",
  "sparkapplications",
);
