/** Finalizers: names on an object without whose owners' consent it does not go. */
import type { KubernetesObject } from "./meta.ts";

/** Whether the object waits for this finalizer before it goes. */
export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** The object with the finalizer; the same object if it has it. */
export function withFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  if (hasFinalizer(object, finalizer)) return object;
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The object without the finalizer; the same object if it does not have it. */
export function withoutFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  if (!hasFinalizer(object, finalizer)) return object;
  const finalizers = object.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** Whether somebody has asked for the object to be deleted. */
export function isBeingDeleted(object: KubernetesObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}
