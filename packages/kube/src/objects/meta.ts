/** What all objects of Kubernetes have in common, and where the API server keeps those of a kind. */

/** What every object says of itself. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  /** Who owns which field; the API server's own book-keeping. */
  managedFields?: unknown;
}

/** One of the objects that an object belongs to. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** At most one owner of an object is its controller. */
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** An object of any kind. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** A kind of objects. The built-in ones are `coreV1.Pod` and the like; `defineResource` makes others. */
export interface Kind<T extends KubernetesObject = KubernetesObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As in URLs: "pods". */
  readonly plural: string;
  /** As in objects: "v1", "batch/v1". */
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** Only for the type: see `ObjectOf`. */
  readonly _object?: T;
}

/** A kind that says what may be created: fields with defaults can be left out then. */
export interface WritableKind<T extends KubernetesObject, Written extends KubernetesObject = T> extends Kind<T> {
  /** Only for the type. */
  readonly _written?: Written;
}

/** The type of a kind's objects: `type Testbed = ObjectOf<typeof Testbed>`. */
export type ObjectOf<K extends Kind> = NonNullable<K["_object"]>;

/** A kind by its names, as the generated files and tests declare them. */
export function kindOf<T extends KubernetesObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: "Namespaced" | "Cluster" = "Namespaced",
): WritableKind<T> {
  const slash = apiVersion.indexOf("/");
  return {
    group: slash === -1 ? "" : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    plural,
    apiVersion,
    namespaced: scope === "Namespaced",
  };
}
