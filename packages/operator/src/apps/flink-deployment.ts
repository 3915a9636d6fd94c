/** FlinkDeployment of apache/flink-kubernetes-operator: the fields that Berth reads or writes; people may give all others. */
import { type KubernetesObject, kindOf } from "@berth/kube";
import type { PodTemplate } from "./pod-template.ts";

export interface FlinkDeployment extends KubernetesObject {
  spec: {
    flinkVersion: string;
    mode: "native";
    /** Options by name. All of them are texts: older versions of the operator know no others. */
    flinkConfiguration: Record<string, unknown>;
    jobManager: FlinkProcess;
    taskManager: FlinkProcess & { replicas: number; podTemplate: PodTemplate };
    job: { parallelism: number; state: "running"; upgradeMode: string };
  };
  status?: {
    error?: string | null;
    jobManagerDeploymentStatus?: string;
    jobStatus?: { state?: string | null; startTime?: string | null; updateTime?: string | null };
    lifecycleState?: string;
  };
}

export interface FlinkProcess {
  resource: { cpu?: number; memory?: string };
  podTemplate?: object;
}

export const FlinkDeployment = kindOf<FlinkDeployment>(
  "flink.apache.org/v1beta1",
  "FlinkDeployment",
  "flinkdeployments",
);
