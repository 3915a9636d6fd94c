/** The pods that a Job makes. Pure. */
import type { batchV1, coreV1, OwnerReference } from "@berth/kube";
import {
  FAILURES_ANNOTATION,
  failuresOf,
  hasLimitPerIndex,
  IGNORED_FAILURES_ANNOTATION,
  INDEX_ANNOTATION,
  isIndexed,
  TRACKING_FINALIZER,
} from "./job-facts.ts";
import { failureVerdict } from "./policies.ts";

const LONGEST_GENERATE_NAME = 58;
const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";

/** @param replaced - The failed pod in whose place it comes, if there is a limit per index. */
export function podOfJob(job: batchV1.Job, index: number | undefined, replaced: coreV1.Pod | undefined): coreV1.Pod {
  const { metadata: template = {}, spec } = job.spec?.template ?? {};
  const { name = "", namespace } = job.metadata;
  const { labels = {}, annotations = {}, finalizers = [] } = template;
  const indexed = index !== undefined && { [INDEX_ANNOTATION]: String(index) };
  return {
    metadata: {
      generateName: generateName(name, index),
      ...(namespace !== undefined && { namespace }),
      labels: { ...labels, ...indexed },
      annotations: { ...annotations, ...indexed, ...failureCounts(job, index, replaced) },
      finalizers: finalizers.includes(TRACKING_FINALIZER) ? [...finalizers] : [...finalizers, TRACKING_FINALIZER],
      ownerReferences: [ownerReference(job)],
    },
    spec: {
      ...(spec ?? { containers: [] }),
      ...(isIndexed(job) && spec && withIndexVariable(spec)),
      ...(index !== undefined && { hostname: `${name}-${index}` }),
    },
  };
}

function ownerReference({ metadata: { name = "", uid = "" } }: batchV1.Job): OwnerReference {
  return { apiVersion: "batch/v1", kind: "Job", name, uid, controller: true, blockOwnerDeletion: true };
}

function generateName(job: string, index: number | undefined): string {
  if (index === undefined) return `${job}-`;
  const end = `-${index}-`;
  return job.slice(0, LONGEST_GENERATE_NAME - end.length) + end;
}

function failureCounts(job: batchV1.Job, index: number | undefined, replaced: coreV1.Pod | undefined) {
  if (index === undefined || !hasLimitPerIndex(job)) return {};
  const before = replaced ? failuresOf(replaced) : { counted: 0, all: 0 };
  const counts = replaced && failureVerdict(job.spec?.podFailurePolicy, replaced).counts;
  const counted = before.counted + (counts ? 1 : 0);
  const ignored = before.all - before.counted + (replaced && !counts ? 1 : 0);
  return {
    [FAILURES_ANNOTATION]: String(counted),
    ...(ignored > 0 && { [IGNORED_FAILURES_ANNOTATION]: String(ignored) }),
  };
}

function withIndexVariable({ containers, initContainers }: coreV1.PodSpec): Partial<coreV1.PodSpec> {
  const add = (container: coreV1.Container): coreV1.Container => {
    if (container.env?.some(({ name }) => name === INDEX_VARIABLE)) return container;
    const fieldRef = { fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` };
    return { ...container, env: [...(container.env ?? []), { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
  };
  return { containers: containers.map(add), ...(initContainers && { initContainers: initContainers.map(add) }) };
}
