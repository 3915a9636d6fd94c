/**
 * Deletes what belongs to nobody any more. It keeps note of who belongs to whom as objects change, and looks only at those
 * whose owners have changed: see `verdict.ts` for what it decides.
 */
import { type Kind, kindOf, type OwnerReference } from "@berth/kube";
import { FOREGROUND, ORPHAN } from "../../api/deletion.ts";
import type { AnyObject } from "../../api/json.ts";
import { LocalApi } from "../../api/local-api.ts";
import type { Resource } from "../../api/resource.ts";
import { type Change, placeOf } from "../../storage/collection.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { awaitsDependents, blocks, type OwnerState, orphansDependents, verdict } from "./verdict.ts";

/** Where an object is stored: its collection and its place there. */
interface Place {
  readonly collection: string;
  readonly key: string;
}

export class GarbageCollector implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  /** By the owner's uid: its dependents by theirs. */
  readonly #dependents = new Map<string, Map<string, Place>>();
  /** Where owners are that wait for their dependents, by uid. */
  readonly #waiting = new Map<string, Place>();
  readonly #resources = new Map<string, Resource>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:generic-garbage-collector");
    this.#bench = new Workbench(surroundings, (key) => this.#look(key));
  }

  start(): void {
    const { server } = this.#surroundings;
    this.#stops = [
      server.listen(undefined, (change, collection) => this.#onChange(change, collection)),
      server.resources.onChange(() => this.#resources.clear()),
    ];
    for (const { storage } of server.resources.all()) {
      for (const object of server.store.collection(storage).values()) {
        this.#onChange({ version: 0, key: placeOf(object), before: undefined, after: object }, storage);
      }
    }
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #onChange({ key, before, after }: Change, collection: string): void {
    const [was, is] = [before?.metadata.ownerReferences, after?.metadata.ownerReferences];
    const { uid = "" } = (after ?? before)?.metadata ?? {};
    if (was !== is) this.#link(uid, { collection, key }, was, is);
    if (!after) this.#onGone(uid, was);
    else if (after.metadata.deletionTimestamp !== undefined) this.#onLeaving(uid, { collection, key }, after);
  }

  #link(
    uid: string,
    place: Place,
    was: readonly OwnerReference[] | undefined,
    is: readonly OwnerReference[] | undefined,
  ): void {
    for (const owner of was ?? []) {
      const siblings = this.#dependents.get(owner.uid);
      siblings?.delete(uid);
      if (siblings?.size === 0) this.#dependents.delete(owner.uid);
      const waiting = this.#waiting.get(owner.uid);
      if (waiting) this.#add(waiting);
    }
    if (!is?.length) return;
    for (const owner of is) {
      const siblings = this.#dependents.get(owner.uid) ?? new Map<string, Place>();
      if (siblings.size === 0) this.#dependents.set(owner.uid, siblings);
      siblings.set(uid, place);
    }
    this.#add(place);
  }

  #onGone(uid: string, owners: readonly OwnerReference[] | undefined): void {
    this.#waiting.delete(uid);
    for (const dependent of this.#dependents.get(uid)?.values() ?? []) this.#add(dependent);
    for (const owner of owners ?? []) {
      const waiting = this.#waiting.get(owner.uid);
      if (waiting) this.#add(waiting);
    }
  }

  #onLeaving(uid: string, place: Place, object: AnyObject): void {
    const isWaiting = awaitsDependents(object);
    if (!isWaiting) this.#waiting.delete(uid);
    if (!isWaiting && !orphansDependents(object)) return;
    this.#add(place);
    if (!isWaiting || this.#waiting.has(uid)) return;
    this.#waiting.set(uid, place);
    for (const dependent of this.#dependents.get(uid)?.values() ?? []) this.#add(dependent);
  }

  #add({ collection, key }: Place): void {
    this.#bench.add(`${collection} ${key}`);
  }

  #look(text: string): void {
    const space = text.indexOf(" ");
    const place = { collection: text.slice(0, space), key: text.slice(space + 1) };
    const object = this.#get(place);
    const resource = this.#resource(place.collection);
    if (!object || !resource) return;
    if (orphansDependents(object)) this.#orphan(object, resource);
    else if (awaitsDependents(object)) this.#releaseIfAlone(object, resource);
    else this.#judge(object, resource);
  }

  #judge(object: AnyObject, resource: Resource): void {
    const { uid = "", ownerReferences = [] } = object.metadata;
    const dependents = this.#dependents.get(uid);
    const decided = verdict(object, (reference) => this.#stateOf(reference, object), Boolean(dependents?.size));
    if (decided.action === "unlink") {
      const left = ownerReferences.filter((reference) => !decided.uids.includes(reference.uid));
      this.#update(resource, { ...object, metadata: { ...object.metadata, ownerReferences: left } });
    } else if (decided.action === "delete") {
      // Two that wait for each other would wait for ever.
      if (decided.policy === "Foreground" && this.#isInCircle(uid)) this.#unblock(object, resource);
      const options = { propagationPolicy: decided.policy, preconditions: { uid } };
      this.#api.delete(kindFor(resource), keyFor(object), options);
    }
  }

  #isInCircle(uid: string): boolean {
    return [...(this.#dependents.get(uid)?.keys() ?? [])].some((dependent) => this.#waiting.has(dependent));
  }

  #unblock(object: AnyObject, resource: Resource): void {
    const ownerReferences = object.metadata.ownerReferences?.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    this.#update(resource, {
      ...object,
      metadata: { ...object.metadata, ...(ownerReferences && { ownerReferences }) },
    });
  }

  #stateOf({ apiVersion, kind, name, uid }: OwnerReference, { metadata }: AnyObject): OwnerState {
    const { server } = this.#surroundings;
    const resource = server.resources.findKind(apiVersion, kind);
    // Of a kind that nobody knows, and of an owner in some namespace or other, nothing can be said: better keep it.
    if (!resource || (resource.namespaced && metadata.namespace === undefined)) return "present";
    const key = resource.namespaced ? `${metadata.namespace}/${name}` : name;
    const owner = server.store.collection(resource.storage).get(key);
    if (owner?.metadata.uid !== uid || !owner) return "absent";
    return awaitsDependents(owner) ? "waiting" : "present";
  }

  /** Lets an owner go that waits for nobody any more. */
  #releaseIfAlone(object: AnyObject, resource: Resource): void {
    const { uid = "" } = object.metadata;
    const places = [...(this.#dependents.get(uid)?.values() ?? [])];
    const blocking = places.filter((place) => {
      const dependent = this.#get(place);
      return dependent !== undefined && blocks(dependent, uid);
    });
    if (blocking.length === 0) this.#removeFinalizer(object, resource, FOREGROUND);
    for (const place of blocking) if (!awaitsDependents(this.#get(place) as AnyObject)) this.#add(place);
  }

  #orphan(object: AnyObject, resource: Resource): void {
    const { uid = "" } = object.metadata;
    for (const place of [...(this.#dependents.get(uid)?.values() ?? [])]) {
      const [dependent, kind] = [this.#get(place), this.#resource(place.collection)];
      if (!dependent || !kind) continue;
      const left = dependent.metadata.ownerReferences?.filter((reference) => reference.uid !== uid) ?? [];
      this.#update(kind, { ...dependent, metadata: { ...dependent.metadata, ownerReferences: left } });
    }
    this.#removeFinalizer(object, resource, ORPHAN);
  }

  #removeFinalizer(object: AnyObject, resource: Resource, finalizer: string): void {
    const finalizers = object.metadata.finalizers?.filter((each) => each !== finalizer) ?? [];
    this.#update(resource, { ...object, metadata: { ...object.metadata, finalizers } });
  }

  #update(resource: Resource, object: AnyObject): void {
    this.#api.update(kindFor(resource), object);
  }

  #get({ collection, key }: Place): AnyObject | undefined {
    return this.#surroundings.server.store.collection(collection).get(key);
  }

  /** The resource by whose rules a collection's objects are written: that of the version in which they are stored. */
  #resource(collection: string): Resource | undefined {
    if (this.#resources.size === 0) {
      for (const resource of this.#surroundings.server.resources.all()) {
        if (!resource.conversion || !this.#resources.has(resource.storage))
          this.#resources.set(resource.storage, resource);
      }
    }
    return this.#resources.get(collection);
  }
}

function kindFor({ apiVersion, kind, plural, namespaced }: Resource): Kind<AnyObject> {
  return kindOf<AnyObject>(apiVersion, kind, plural, namespaced ? "Namespaced" : "Cluster");
}

function keyFor({ metadata: { namespace, name = "" } }: AnyObject) {
  return { namespace, name };
}
