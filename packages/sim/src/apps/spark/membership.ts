/** What Spark's pods are to the work model. */
import type { coreV1 } from "@berth/kube";
import { type Describe, kindFor, noteOn, workFor } from "../../work/membership.ts";
import { mainContainerOf, type Objects } from "../../work/plain.ts";
import { DRIVER_CONTAINER, EXECUTOR_CONTAINER, label, SparkApplication } from "./application.ts";

/** One run of a Spark application, by any of its pods. */
export function sparkRunOf({ metadata: { namespace, labels } }: coreV1.Pod): string {
  return `spark/${namespace}/${labels?.[label.appSelector]}`;
}

/** Executors do not outlive their driver, and end when there is nothing left to do. */
const MANNERS = { led: true, whenDone: "exit", whenLeaderless: "exit" } as const;

export function describeSpark(objects: Objects): Describe {
  return (pod, container, model) => {
    const { namespace = "", name = "", labels = {} } = pod.metadata;
    const role = labels[label.role];
    if ((role !== "driver" && role !== "executor") || labels[label.appSelector] === undefined) return undefined;
    const appName = labels[label.appName] ?? labels[label.sparkAppName] ?? name;
    const application = objects.get(SparkApplication, { namespace, name: appName });
    const annotations = { ...application?.metadata.annotations, ...pod.metadata.annotations };
    const facts = {
      framework: "spark",
      mainClass: application?.spec.mainClass ?? classInArguments(container.args),
      file: application?.spec.mainApplicationFile,
      image: application?.spec.image ?? container.image,
      labels: { ...application?.metadata.labels, ...labels },
    } as const;
    const kind = kindFor(facts, annotations, model) ?? model.fallback;
    const main = mainContainerOf(pod, [DRIVER_CONTAINER, EXECUTOR_CONTAINER]);
    return {
      application: sparkRunOf(pod),
      name: `${namespace}/${appName}`,
      role: container.name !== main ? "companion" : role === "driver" ? "leader" : "worker",
      kind,
      work: workFor(kind, annotations),
      minimum: 1,
      manners: MANNERS,
      ...noteOn(annotations, model),
    };
  };
}

function classInArguments(args: readonly string[] | undefined): string | undefined {
  const at = args?.indexOf("--class") ?? -1;
  return at === -1 ? undefined : args?.[at + 1];
}
