/** What a controller looks at, and which of its own objects a change there concerns. */
import type { Kind, KubernetesObject, ObjectKey } from "../objects/meta.ts";
import { controllerOf } from "../objects/owners.ts";
import type { Predicate } from "./predicates.ts";

/** The objects to look at because of a change in another one. */
export type Mapper<T extends KubernetesObject = KubernetesObject> = (object: T) => Iterable<ObjectKey>;

export interface Watch<T extends KubernetesObject = KubernetesObject> {
  readonly kind: Kind<T>;
  readonly map: Mapper<T>;
  readonly predicates: readonly Predicate<T>[];
}

/** Another kind whose changes concern the controller's objects: `watch(coreV1.Node, (node) => podsOn(node))`. */
export function watch<T extends KubernetesObject>(
  kind: Kind<T>,
  map: Mapper<T>,
  { predicates = [] }: { predicates?: readonly Predicate<T>[] } = {},
): Watch {
  return { kind, map, predicates } as unknown as Watch;
}

/** The object itself. */
export const itself: Mapper = ({ metadata: { namespace, name = "" } }) => [{ namespace, name }];

/** The object's controller, if it is one of the given kind. */
export function controllingOwner(owner: Kind): Mapper {
  return (object) => {
    const controller = controllerOf(object);
    if (controller?.kind !== owner.kind || groupOf(controller.apiVersion) !== owner.group) return [];
    return [{ namespace: owner.namespaced ? object.metadata.namespace : undefined, name: controller.name }];
  };
}

const groupOf = (apiVersion: string) => (apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "");
