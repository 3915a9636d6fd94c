/** Follows objects of a kind, when all that matters is how they are by now. */
import type { EventHandler, KubernetesObject } from "@berth/kube";

/** Told of each object as it is by now; of one that is gone `undefined`, and as it was. */
export function following<T extends KubernetesObject>(
  tell: (now: T | undefined, name: string, last: T) => void,
): EventHandler<T> {
  return {
    onAdd: (object) => tell(object, object.metadata.name ?? "", object),
    onUpdate: (_, object) => tell(object, object.metadata.name ?? "", object),
    onDelete: (object) => tell(undefined, object.metadata.name ?? "", object),
  };
}
