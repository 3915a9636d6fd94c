/** What tells an object from the others of its kind. */
import type { ObjectMeta } from "./meta.ts";

/** The namespace is absent, or empty, for kinds that have none. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Of an object: `client.delete(coreV1.Pod, keyOf(pod))`. */
export function keyOf({ metadata: { namespace, name = "" } }: { readonly metadata: ObjectMeta }): ObjectKey {
  return { namespace, name };
}

/** "namespace/name", or the name alone: the same text for the same object, wherever it comes from. */
export function keyText({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name;
}
