/** What executors are found by. Pure. */
import { annotation, label, labelValueOf } from "../names.ts";
import type { RunOrder } from "./application.ts";

/** The labels of all executors of a run. */
export function executorLabels(order: RunOrder): Record<string, string> {
  return {
    [label.testbed]: labelValueOf(order.testbed),
    [label.role]: "executor",
    [label.job]: labelValueOf(keyOfJob(order)),
    [label.run]: String(order.run),
  };
}

/** Their annotations, which have room for whole names. */
export function executorAnnotations(order: RunOrder): Record<string, string> {
  const job = keyOfJob(order);
  return {
    [annotation.testbed]: `${order.testbed.namespace}/${order.testbed.name}`,
    [annotation.job]: `${job.namespace}/${job.name}`,
  };
}

/** Whether a pod has been made for Berth: its own label, which the application's operator has passed on. */
export function hasExecutorLabel(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[label.role] === "executor";
}

/** The job of a run; its application stands beside it. */
export function keyOfJob({ job: { metadata } }: RunOrder): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? "default", name: metadata.name ?? "" };
}
