/** What driver and executor pods have in common, as Spark makes it of its configuration. Pure. */
import type { coreV1, OwnerReference } from "@berth/kube";
import { listOr } from "../pod-template.ts";
import { type SparkApplication as Application, label, SparkApplication } from "./application.ts";
import { type Demand, type SparkConf, withPrefix } from "./conf.ts";
import type { Submission } from "./submission.ts";
import { SubmissionError } from "./submission-error.ts";

export const CONF_DIRECTORY = "/opt/spark/conf";
export const LOCAL_DIRECTORY_VOLUME = "spark-local-dir-1";
export const DRIVER_PORT = 7078;
export const BLOCK_MANAGER_PORT = 7079;

/** Labels that Spark puts on all pods of a submission. */
export function commonLabels({ application: { metadata, spec }, appId }: Submission): Record<string, string> {
  return {
    [label.version]: spec.sparkVersion,
    [label.appSelector]: appId,
    [label.sparkAppName]: appNameLabel(metadata.name ?? ""),
  };
}

function appNameLabel(name: string): string {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/-+/g, "-");
  return plain.slice(0, 63).replace(/^-|-$/g, "");
}

/** What is unique of a prefix. */
export const uniquePart = (prefix: string) => prefix.slice(prefix.lastIndexOf("-") + 1);

/** Throws a `SubmissionError` if there is none: a template's image does not count. */
export function imageOf(conf: SparkConf, role: "driver" | "executor"): string {
  const image = conf.get(`spark.kubernetes.${role}.container.image`) ?? conf.get("spark.kubernetes.container.image");
  if (!image) throw new SubmissionError(`Must specify the ${role} container image`);
  return image;
}

/** When the image is pulled. */
export function pullPolicyOf(conf: SparkConf): "Always" | "IfNotPresent" | "Never" {
  const policy = conf.get("spark.kubernetes.container.image.pullPolicy") ?? "IfNotPresent";
  return policy as "IfNotPresent"; // the API server refuses others
}

/** What a template asks for, with CPU and memory as Spark has computed them. */
export function resourcesOf(
  given: coreV1.ResourceRequirements | undefined,
  demand: Demand,
): coreV1.ResourceRequirements {
  const memory = `${demand.memoryMiB}Mi`;
  return {
    ...given,
    requests: { ...given?.requests, memory, cpu: demand.cpu },
    limits: { ...given?.limits, memory, ...(demand.cpuLimit !== undefined && { cpu: demand.cpuLimit }) },
  };
}

/** Environment variables, in the order of the fields. */
export function variables(values: Readonly<Record<string, string>>): coreV1.EnvVar[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/** An environment variable with a field of the pod in it. */
export function fieldVariable(name: string, fieldPath: string): coreV1.EnvVar {
  return { name, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
}

/** Those of the template, and over them those of the configuration. */
export function annotationsOf(
  given: Readonly<Record<string, string>>,
  conf: SparkConf,
  role: "driver" | "executor",
  appId: string,
  executorId: string,
): { annotations?: Record<string, string> } {
  // Only what the configuration says is filled in; a template means what it says.
  const configured = withPrefix(conf, `spark.kubernetes.${role}.annotation.`);
  for (const [key, value] of Object.entries(configured)) {
    configured[key] = value.replaceAll("{{APP_ID}}", appId).replaceAll("{{EXECUTOR_ID}}", executorId);
  }
  const annotations = { ...given, ...configured };
  return Object.keys(annotations).length > 0 ? { annotations } : {};
}

/** That of the template, and over it those of the configuration. */
export function nodeSelectorOf(
  given: Record<string, string> | undefined,
  conf: SparkConf,
  role: "driver" | "executor",
) {
  const nodeSelector = {
    ...given,
    ...withPrefix(conf, "spark.kubernetes.node.selector."),
    ...withPrefix(conf, `spark.kubernetes.${role}.node.selector.`),
  };
  return Object.keys(nodeSelector).length > 0 ? { nodeSelector } : {};
}

/** Those of the template, and those of the configuration. */
export function pullSecretsOf(given: coreV1.PodSpec["imagePullSecrets"], conf: SparkConf) {
  const names = conf.get("spark.kubernetes.container.image.pullSecrets")?.split(",") ?? [];
  const imagePullSecrets = [...listOr(given), ...names.map((name) => ({ name: name.trim() }))];
  return imagePullSecrets.length > 0 ? { imagePullSecrets } : {};
}

/** The scheduler that the configuration names. */
export function schedulerOf(conf: SparkConf, role: "driver" | "executor") {
  const schedulerName =
    conf.get(`spark.kubernetes.${role}.scheduler.name`) ?? conf.get("spark.kubernetes.scheduler.name");
  return schedulerName === undefined ? {} : { schedulerName };
}

/** The application as a pod's owner and controller. */
export function referenceTo({ metadata }: Application): OwnerReference {
  const { apiVersion, kind } = SparkApplication;
  const { name = "", uid = "" } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
