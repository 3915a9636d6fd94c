/** What is kept of an object, decided the moment it arrives. */
import type { KubernetesObject } from "../objects/meta.ts";

/** Keeps what is needed of an object, and drops the rest: a cache of a hundred thousand pods is made of such decisions. */
export type Projection<T> = (object: T) => T;

/** Kept by nobody: it is a third of an object, and only of use to the API server. */
export function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  if (Object.isFrozen(object.metadata))
    return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
  // Assigned, not deleted: a deleted property would turn the object into a slower and larger one.
  object.metadata.managedFields = undefined;
  return object;
}

type Identity = Pick<KubernetesObject["metadata"], "namespace" | "name" | "uid" | "resourceVersion">;

/** The object with the identity that it came with, should a projection have left it out. */
export function withIdentity<T extends KubernetesObject>(
  object: T,
  { namespace, name, uid, resourceVersion }: { [K in keyof Identity]: string | undefined },
): T {
  const { metadata } = object;
  if (metadata?.uid === uid && metadata?.resourceVersion === resourceVersion && metadata?.name === name) return object;
  const identity = {
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return { ...object, metadata: { ...metadata, ...identity } };
}

/** A copy of what JSON can say. Ten times as fast as `structuredClone`, which can say more. */
export function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) copy[key] = copyOf(value[key]);
  return copy as T;
}

/** Makes an object unchangeable all the way down, so that whoever changes what others share finds out at once. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}
