/** Pod templates that people wrote: whatever stands in them, something can be done with it. Pure. */
import type { coreV1, OwnerReference } from "@berth/kube";
import { define, isObject } from "../api/json.ts";

/** What a template says, apart from the one container that it is about. */
export interface PodTemplate {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly OwnerReference[];
  /** Without containers. */
  readonly spec: Omit<coreV1.PodSpec, "containers">;
  /** The container of the given name, or else the first. */
  readonly container: Omit<coreV1.Container, "name"> & { readonly name?: string };
  /** The others. */
  readonly containers: readonly coreV1.Container[];
}

/**
 * Reads a template. What is not an object where there must be one is left out; whether the rest makes a pod is for the API
 * server to say.
 */
export function templateOf(given: unknown, containerName: string): PodTemplate {
  const template = objectOr(given);
  const metadata = objectOr(template.metadata);
  const { containers: listed, ...spec } = objectOr(template.spec);
  const containers = (Array.isArray(listed) ? listed : []).filter(isObject);
  const named = containers.find(({ name }) => name === containerName) ?? containers[0];
  // Unchecked from here on: the API server knows what a pod may look like.
  return {
    labels: objectOr(metadata.labels) as Record<string, string>,
    annotations: objectOr(metadata.annotations) as Record<string, string>,
    owners: (Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : []) as OwnerReference[],
    spec: spec as Omit<coreV1.PodSpec, "containers">,
    container: (named ?? {}) as PodTemplate["container"],
    containers: containers.filter((each) => each !== named) as unknown as coreV1.Container[],
  };
}

/** One template over another, as the Flink operator lays them: objects field by field, lists item by item. */
export function mergedTemplates(below: unknown, above: unknown): unknown {
  if (above === undefined) return below;
  if (Array.isArray(below) && Array.isArray(above)) {
    return Array.from({ length: Math.max(below.length, above.length) }, (_, index) =>
      mergedTemplates(below[index], above[index]),
    );
  }
  if (!isObject(below) || !isObject(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    define(merged, key, mergedTemplates(Object.hasOwn(below, key) ? below[key] : undefined, value));
  }
  return merged;
}

/** What it is if that is an object; else an empty one. */
export function objectOr(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** What it is if that is a list; else an empty one. */
export function listOr<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}
