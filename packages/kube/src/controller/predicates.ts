/** Which changes of an object are worth a look. Pure. */
import type { KubernetesObject } from "../objects/meta.ts";

/** What has happened to an object. */
export type ObjectEvent<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: "create"; readonly object: T; readonly initial: boolean }
  | { readonly type: "update"; readonly object: T; readonly old: T; readonly resync: boolean }
  | { readonly type: "delete"; readonly object: T };

/** Whether to look at the object because of what has happened. */
export type Predicate<T extends KubernetesObject = KubernetesObject> = (event: ObjectEvent<T>) => boolean;

/** Updates only if the spec has changed: not for a status, labels or annotations. */
export const generationChanged: Predicate = onUpdate(
  (old, object) => old.metadata.generation !== object.metadata.generation,
);

/** Updates only if anything has changed: not for resyncs. */
export const resourceVersionChanged: Predicate = onUpdate(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
);

/** Updates only if labels have changed. */
export const labelChanged: Predicate = onUpdate(
  (old, object) => !sameEntries(old.metadata.labels, object.metadata.labels),
);

/** Updates only if annotations have changed. */
export const annotationChanged: Predicate = onUpdate(
  (old, object) => !sameEntries(old.metadata.annotations, object.metadata.annotations),
);

/** Updates only if the comparison says so; creations and deletions always. */
export function onUpdate<T extends KubernetesObject>(differs: (old: T, object: T) => boolean): Predicate<T> {
  return (event) => event.type !== "update" || differs(event.old, event.object);
}

/** If all of them say so. */
export function and<T extends KubernetesObject>(...predicates: Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event));
}

/** If one of them says so. */
export function or<T extends KubernetesObject>(...predicates: Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event));
}

/** If it does not say so. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event);
}

function sameEntries(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
