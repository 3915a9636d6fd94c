/** Pods that are applications by themselves: those of a Job, each with its share, and any pod that is annotated. */
import { batchV1, controllerOf, type coreV1, type Kind, type KubernetesObject, type ObjectKey } from "@berth/kube";
import {
  type Describe,
  kindFor,
  type Membership,
  noteOn,
  WORK_ANNOTATION,
  WORK_SECONDS_ANNOTATION,
  workFor,
} from "./membership.ts";

/** Where other objects are looked up. */
export interface Objects {
  get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey): T | undefined;
}

const MANNERS = { led: false, whenDone: "exit", whenLeaderless: "wait" } as const;

/**
 * Only what is meant is taken: a Job or pod that is annotated, or that a kind matches. Anything else runs as it would
 * without a work model. The work of a Job is divided among its completions, since its pods know nothing of each other.
 */
export function describePlain(objects: Objects): Describe {
  return (pod, container, model): Membership | undefined => {
    const { namespace = "", name = "", uid = "", labels = {} } = pod.metadata;
    const owner = controllerOf(pod);
    const job = owner?.kind === "Job" ? objects.get(batchV1.Job, { namespace, name: owner.name }) : undefined;
    const annotations = { ...job?.metadata.annotations, ...pod.metadata.annotations };
    const [main] = pod.spec?.containers ?? [];
    const framework = owner?.kind === "Job" ? "job" : "pod";
    const facts = { framework, labels: { ...job?.metadata.labels, ...labels }, image: main?.image } as const;
    const isMeant = annotations[WORK_ANNOTATION] !== undefined || annotations[WORK_SECONDS_ANNOTATION] !== undefined;
    const kind = kindFor(facts, annotations, model) ?? (isMeant ? model.fallback : undefined);
    if (!kind) return undefined;
    const share = 1 / (job?.spec?.completions ?? job?.spec?.parallelism ?? 1);
    return {
      application: `pod/${uid}`,
      name: `${namespace}/${owner?.name ?? name}`,
      role: container.name === main?.name ? "worker" : "companion",
      kind,
      work: workFor(kind, annotations) * (Number.isFinite(share) ? share : 1),
      minimum: 1,
      manners: MANNERS,
      ...noteOn(annotations, model),
    };
  };
}

/** The container that does a pod's work, if it has one of these names; else the first. */
export function mainContainerOf({ spec }: coreV1.Pod, names: readonly string[]): string | undefined {
  const containers = spec?.containers ?? [];
  return (containers.find(({ name }) => names.includes(name)) ?? containers[0])?.name;
}
