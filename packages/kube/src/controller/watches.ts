/** What a controller looks at, and which of its own objects a change there concerns. */
import type { Client } from "../client/client.ts";
import { keyOf, type ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject } from "../objects/meta.ts";
import { controllerOf } from "../objects/owners.ts";
import type { Predicate } from "./predicates.ts";

/** The objects to look at because of a change in another one. May ask the client, which reads from the cache. */
export type Mapper<T extends KubernetesObject = KubernetesObject> = (
  object: T,
  client: Client,
) => Iterable<ObjectKey> | Promise<Iterable<ObjectKey>>;

/** What a controller looks at: see `watch`. */
export interface Watch {
  readonly kind: Kind;
  readonly map: Mapper;
  readonly predicates: readonly Predicate[];
}

/** A kind that is owned, and which of its changes are worth a look. */
export type Owned = Omit<Watch, "map">;

/** Which of a kind's changes matter. */
export interface WatchChoice<T extends KubernetesObject> {
  /** Which changes are worth a look. Default: all. */
  readonly predicates?: readonly Predicate<T>[];
}

/** Another kind whose changes concern the controller's objects: `watch(coreV1.Node, (node) => podsOn(node))`. */
export function watch<T extends KubernetesObject>(
  kind: Kind<T>,
  map: Mapper<T>,
  { predicates = [] }: WatchChoice<T> = {},
): Watch {
  // Whoever calls them does so with objects of this kind.
  return { kind, map: map as Mapper, predicates: predicates as readonly Predicate[] };
}

/** A kind that is owned, for `owns`, where not all of its changes matter. */
export function owned<T extends KubernetesObject>(kind: Kind<T>, { predicates = [] }: WatchChoice<T>): Owned {
  return { kind, predicates: predicates as readonly Predicate[] };
}

/** The object itself. */
export const itself: Mapper = (object) => [keyOf(object)];

/** The object's controller, if it is one of the given kind. */
export function controllingOwner(owner: Kind): Mapper {
  return (object) => {
    const controller = controllerOf(object);
    if (controller?.kind !== owner.kind || groupOf(controller.apiVersion) !== owner.group) return [];
    return [{ namespace: owner.namespaced ? object.metadata.namespace : undefined, name: controller.name }];
  };
}

const groupOf = (apiVersion: string) => (apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "");
