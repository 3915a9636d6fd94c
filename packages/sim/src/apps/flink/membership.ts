/** What Flink's pods are to the work model. */
import { type Describe, kindFor, noteOn, workFor } from "../../work/membership.ts";
import { mainContainerOf, type Objects } from "../../work/plain.ts";
import { taskManagersOf } from "./conf.ts";
import { FLINK_CONTAINER, FlinkDeployment } from "./deployment.ts";

/** The job of a Flink cluster. */
export function flinkRunOf(namespace: string | undefined, cluster: string | undefined): string {
  return `flink/${namespace}/${cluster}`;
}

/** JobManager and TaskManagers stay when a job ends; TaskManagers wait for a JobManager that comes back. */
const MANNERS = { led: true, whenDone: "stay", whenLeaderless: "wait" } as const;

export function describeFlink(objects: Objects): Describe {
  return (pod, container, model) => {
    const { namespace = "", labels = {} } = pod.metadata;
    const { type, component, app } = labels;
    if (type !== "flink-native-kubernetes" || app === undefined) return undefined;
    if (component !== "jobmanager" && component !== "taskmanager") return undefined;
    const flink = objects.get(FlinkDeployment, { namespace, name: app });
    if (flink && !flink.spec.job) return undefined; // a session cluster has nothing to do
    const annotations = { ...flink?.metadata.annotations, ...pod.metadata.annotations };
    const facts = {
      framework: "flink",
      mainClass: flink?.spec.job?.entryClass,
      file: flink?.spec.job?.jarURI,
      image: flink?.spec.image ?? container.image,
      labels: { ...flink?.metadata.labels, ...labels },
    } as const;
    const kind = kindFor(facts, annotations, model) ?? model.fallback;
    const isMain = container.name === mainContainerOf(pod, [FLINK_CONTAINER]);
    return {
      application: flinkRunOf(namespace, app),
      name: `${namespace}/${app}`,
      role: !isMain ? "companion" : component === "jobmanager" ? "leader" : "worker",
      kind,
      work: workFor(kind, annotations),
      // A job that was not told to adapt needs all of its slots.
      minimum: flink ? Math.max(1, taskManagersOf(flink.spec)) : 1,
      manners: MANNERS,
      ...noteOn(annotations, model),
    };
  };
}
