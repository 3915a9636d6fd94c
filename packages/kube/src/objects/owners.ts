/** Who an object belongs to: what the garbage collector deletes with its owner, and whose reconciler looks after it. */
import { KubeError } from "../errors.ts";
import type { KubernetesObject, OwnerReference } from "./meta.ts";

/** The object's controller; `undefined` if it has none. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller);
}

/** Whether `owner` is one of the object's owners. By uid: a new object of the same name is somebody else. */
export function isOwnedBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  const uid = owner.metadata.uid;
  return uid !== undefined && (object.metadata.ownerReferences ?? []).some((reference) => reference.uid === uid);
}

/** The object with `owner` as its controller. Leaves other owners in place; another controller is an error. */
export function withController<T extends KubernetesObject>(object: T, owner: KubernetesObject): T {
  const reference = { ...referenceTo(object, owner), controller: true, blockOwnerDeletion: true };
  const present = controllerOf(object);
  if (present && present.uid !== reference.uid) {
    const name = object.metadata.name ?? object.metadata.generateName;
    throw new KubeError(
      "KUBE_ALREADY_OWNED",
      `${object.kind} ${name} is controlled by ${present.kind} ${present.name} already`,
    );
  }
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, reference] } };
}

/** The object with `owner` as one of its owners, without being its controller: it goes when all of its owners have gone. */
export function withOwner<T extends KubernetesObject>(object: T, owner: KubernetesObject): T {
  if (isOwnedBy(object, owner)) return object;
  const references = [...(object.metadata.ownerReferences ?? []), referenceTo(object, owner)];
  return { ...object, metadata: { ...object.metadata, ownerReferences: references } };
}

function referenceTo(object: KubernetesObject, owner: KubernetesObject): OwnerReference {
  const { apiVersion, kind, metadata: { name, uid, namespace } = {} } = owner;
  if (!apiVersion || !kind || !name || !uid) {
    throw new TypeError("an owner must have apiVersion, kind, name and uid: it must come from the API server");
  }
  // The garbage collector would take the owner for gone, and delete the object.
  if (namespace !== undefined && namespace !== object.metadata.namespace) {
    throw new TypeError(`an object must be in the namespace of its owner, which is "${namespace}"`);
  }
  return { apiVersion, kind, name, uid };
}
