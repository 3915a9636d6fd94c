/**
 * An API server in memory: requests in, frozen objects out, or a refusal. It does everything in the moment it is asked;
 * who has to wait, and for what, is decided by whoever carries the request.
 *
 * A write goes through these files: `write.ts` (understood, changed, validated), `storage/store.ts` (stored, told to
 * listeners), `watching.ts` (told to watchers).
 */
import {
  type ApiRequest,
  type Clock,
  kubernetesTime,
  type Random,
  SeededRandom,
  WallClock,
  type WatchRequest,
} from "@berth/kube";
import { FieldOwnership, type Manager } from "../patch/ownership.ts";
import { patched } from "../patch/patch.ts";
import type { Listener } from "../storage/store.ts";
import { Store } from "../storage/store.ts";
import { type DeleteOptions, deleteOptions, ending, isOver } from "./deletion.ts";
import { type AnyObject, frozen, isObject } from "./json.ts";
import { page } from "./listing.ts";
import { dryRun, fieldValidation, type Query, text } from "./parameters.ts";
import { alreadyExists, badRequest, methodNotSupported, notFound, nothingHere } from "./refusal.ts";
import { Registry } from "./registry.ts";
import type { Lookup, Resource, User, WriteContext } from "./resource.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { type WatchOutput, watch } from "./watching.ts";
import { type Admission, changedObject, type FieldValidation, newObject, type Part, understood } from "./write.ts";

/** What a server is made of; everything has a default. */
export interface ApiServerOptions {
  /** Default: the world's time. */
  readonly clock?: Clock;
  /** For uids and generated names. Default: always the same. */
  readonly random?: Random;
  /** What stands between a client's wish and its object, in order. Default: nothing. */
  readonly admissions?: readonly Admission[];
  /** What is done with requests to subresources other than "status". */
  readonly subresources?: Readonly<Record<string, SubresourceHandler>>;
  /** How many changes of each resource can still be asked for. Default: 10,000. */
  readonly remembered?: number;
  /** Told of errors that are nobody's fault but ours. */
  readonly onFailure?: (error: unknown) => void;
}

/** Who asks, and how. */
export interface Caller {
  readonly user: User;
  /** What is done with unknown fields if the request does not say. Default: "Ignore". */
  readonly fieldValidation?: FieldValidation;
  /** Who owns the fields that are written, if the request does not say. Default: the user's name. */
  readonly fieldManager?: string;
  warn?(message: string): void;
}

/** A request to "pods/binding" and the like. */
export interface SubresourceCall {
  readonly api: ApiServer;
  readonly request: ApiRequest;
  readonly resource: Resource;
  /** The object that it is about. */
  readonly object: AnyObject;
  readonly caller: Caller;
  readonly context: WriteContext;
}

export type SubresourceHandler = (call: SubresourceCall) => AnyObject;

export const SYSTEM: Caller = { user: { username: "system:apiserver", groups: ["system:masters"] } };

/** An API server in memory. */
export class ApiServer {
  readonly clock: Clock;
  readonly resources = new Registry();
  readonly store: Store;
  readonly ownership: FieldOwnership;
  readonly #random: Random;
  readonly #admissions: readonly Admission[];
  readonly #subresources: Readonly<Record<string, SubresourceHandler>>;

  constructor(options: ApiServerOptions = {}) {
    const { clock = new WallClock(), random = new SeededRandom("api"), admissions = [], subresources = {} } = options;
    const { remembered, onFailure } = options;
    this.clock = clock;
    this.store = new Store({ ...(remembered !== undefined && { remembered }), ...(onFailure && { onFailure }) });
    this.ownership = new FieldOwnership();
    this.#random = random;
    this.#admissions = admissions;
    this.#subresources = subresources;
  }

  /** Carries a request out; throws a `Refusal`. What it returns is frozen. */
  request(request: ApiRequest, caller: Caller = SYSTEM): AnyObject {
    const resource = this.resources.find(request.kind);
    if (!resource) throw nothingHere();
    const namespace = resource.namespaced ? request.namespace : undefined;
    if (request.subresource !== undefined) return this.#subresource(request, resource, caller);
    if (!resource.verbs.includes(request.verb)) throw methodNotSupported(resource, request.verb);
    switch (request.verb) {
      case "get":
        return this.get(resource, namespace, request.name);
      case "list":
        return this.#list(request, resource, namespace);
      case "create":
        return this.#create(request, resource, caller);
      case "update":
        return this.#update(request, resource, caller, "main");
      case "patch":
        return this.#patch(request, resource, caller, "main");
      case "delete":
        return this.#delete(request, resource, caller);
      case "deletecollection":
        return this.#deleteCollection(request, resource, caller);
    }
  }

  /** Tells what a watch has to tell, as it happens, until the function that it returns is called. */
  watch(request: WatchRequest, output: WatchOutput): () => void {
    const resource = this.resources.find(request.kind);
    if (!resource) throw nothingHere();
    if (!resource.verbs.includes("watch")) throw methodNotSupported(resource, "watch");
    const query = request.parameters ?? {};
    return watch(resource, this.#selection(request, resource, query), query, this, output);
  }

  /** Hears of every write in its moment; see `Store.listen`. */
  listen(resource: Pick<Resource, "storage"> | undefined, listener: Listener): () => void {
    return this.store.listen(resource?.storage, listener);
  }

  /** An object that must be there. */
  get(resource: Resource, namespace: string | undefined, name = ""): AnyObject {
    const object = this.store.collection(resource.storage).get(namespace === undefined ? name : `${namespace}/${name}`);
    if (!object) throw notFound(resource, name);
    return resource.conversion ? resource.conversion.fromStored(object) : object;
  }

  /** Stores what an object has become, whoever worked it out: the end of every change. Gives what is stored then. */
  commit(before: AnyObject, after: AnyObject, resource: Resource, context: WriteContext, manager: Manager): AnyObject {
    if (after === before) return before;
    if (context.dryRun) return frozen(after);
    if (isOver(after) && !resource.rules.remains?.(after)) {
      // The last finalizer is gone, and the object with it. What was to be written never is.
      this.store.remove(resource.storage, before);
      return frozen(after);
    }
    const stored = this.#put(resource, after);
    this.ownership.wrote(before, stored, manager);
    return stored;
  }

  /** Everything that a write depends on. */
  context(caller: Caller, pretended: boolean): WriteContext {
    return {
      user: caller.user,
      time: kubernetesTime(this.clock.now()),
      random: this.#random,
      dryRun: pretended,
      lookup: this.#lookup,
      warn: (message) => caller.warn?.(message),
    };
  }

  #subresource(request: ApiRequest, resource: Resource, caller: Caller): AnyObject {
    const { subresource: name = "", verb } = request;
    const known = resource.subresources.find((each) => each.name === name);
    if (!known) throw nothingHere();
    if (!known.verbs.includes(verb)) throw methodNotSupported(resource, verb);
    const namespace = resource.namespaced ? request.namespace : undefined;
    if (name === "status") {
      if (verb === "get") return this.get(resource, namespace, request.name);
      if (verb === "update") return this.#update(request, resource, caller, "status");
      return this.#patch(request, resource, caller, "status");
    }
    const handler = this.#subresources[`${resource.plural}/${name}`] ?? this.#subresources[name];
    if (!handler) throw nothingHere();
    const object = this.get(resource, namespace, request.name);
    const context = this.context(caller, dryRun(request.parameters?.dryRun, "CreateOptions"));
    return handler({ api: this, request, resource, object, caller, context });
  }

  #list(request: ApiRequest, resource: Resource, namespace: string | undefined): AnyObject {
    const query = request.parameters ?? {};
    const selection = selectionOf(resource, namespace, query);
    const { metadata, items } = page(this.store.collection(resource.storage), selection, query, this.store.version);
    const read = resource.conversion?.fromStored;
    const list = {
      apiVersion: resource.apiVersion,
      kind: `${resource.kind}List`,
      metadata,
      items: read ? items.map(read) : items,
    };
    return list as unknown as AnyObject;
  }

  #create(request: ApiRequest, resource: Resource, caller: Caller): AnyObject {
    const query = request.parameters ?? {};
    const context = this.context(caller, dryRun(query.dryRun, "CreateOptions"));
    const object = understood(request.body, resource, this.#validation(query, caller), context);
    const { metadata } = object;
    if (resource.namespaced) {
      if (metadata.namespace !== undefined && metadata.namespace !== request.namespace) {
        throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
      }
      if (request.namespace !== undefined) metadata.namespace = request.namespace;
    } else {
      if (metadata.namespace)
        throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
      delete metadata.namespace;
    }
    return this.#begin(object, resource, caller, query, context);
  }

  #begin(object: AnyObject, resource: Resource, caller: Caller, query: Query, context: WriteContext): AnyObject {
    const fresh = newObject(object, resource, context, this.#admissions);
    const { name = "", namespace } = fresh.metadata;
    const collection = this.store.collection(resource.storage);
    if (collection.get(namespace === undefined ? name : `${namespace}/${name}`)) throw alreadyExists(resource, name);
    const toStored = resource.conversion?.toStored;
    if (context.dryRun) return frozen(fresh);
    const stored = this.#put(resource, toStored ? toStored(fresh) : fresh);
    this.ownership.wrote(undefined, stored, this.#manager(query, caller, "Update", context));
    return resource.conversion ? resource.conversion.fromStored(stored) : stored;
  }

  #update(request: ApiRequest, resource: Resource, caller: Caller, part: Part): AnyObject {
    const query = request.parameters ?? {};
    const namespace = resource.namespaced ? request.namespace : undefined;
    const context = this.context(caller, dryRun(query.dryRun, "UpdateOptions"));
    const object = understood(request.body, resource, this.#validation(query, caller), context);
    const before = this.get(resource, namespace, request.name);
    return this.#change(before, object, resource, part, context, this.#manager(query, caller, "Update", context, part));
  }

  #patch(request: ApiRequest, resource: Resource, caller: Caller, part: Part): AnyObject {
    const query = request.parameters ?? {};
    const namespace = resource.namespaced ? request.namespace : undefined;
    const context = this.context(caller, dryRun(query.dryRun, "PatchOptions"));
    const validation = this.#validation(query, caller);
    const manager = this.#manager(query, caller, request.patchType === "apply" ? "Apply" : "Update", context, part);
    if (request.patchType === "apply")
      return this.#apply(request, resource, caller, part, context, manager, validation);
    const before = this.get(resource, namespace, request.name);
    const object = understood(patched(before, request, resource), resource, validation, context);
    return this.#change(before, object, resource, part, context, manager);
  }

  #apply(
    request: ApiRequest,
    resource: Resource,
    caller: Caller,
    part: Part,
    context: WriteContext,
    manager: Manager,
    validation: FieldValidation,
  ): AnyObject {
    const query = request.parameters ?? {};
    const namespace = resource.namespaced ? request.namespace : undefined;
    if (text(query, "fieldManager") === "")
      throw badRequest(
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
    const key = namespace === undefined ? (request.name ?? "") : `${namespace}/${request.name}`;
    const stored = this.store.collection(resource.storage).get(key);
    const before = stored && (resource.conversion ? resource.conversion.fromStored(stored) : stored);
    const wanted = understood(request.body, resource, validation, context);
    if (!isObject(request.body)) throw badRequest("the body of an apply request must be an object");
    const force = text(query, "force") === "true";
    if (!before) {
      if (part === "status") throw notFound(resource, request.name ?? "");
      if (wanted.metadata.uid) throw notFound(resource, request.name ?? "");
      wanted.metadata.name = request.name ?? "";
      if (namespace !== undefined) wanted.metadata.namespace = namespace;
      const created = this.#begin(wanted, resource, caller, query, context);
      if (!context.dryRun) this.ownership.applied(undefined, created, request.body, resource, manager);
      return created;
    }
    const merged = this.ownership.merged(before, request.body, resource, manager, force, part);
    const object = understood(merged, resource, "Ignore", context);
    const result = this.#change(before, object, resource, part, context, manager);
    if (!context.dryRun) this.ownership.applied(before, result, request.body, resource, manager);
    return result;
  }

  #change(
    before: AnyObject,
    object: AnyObject,
    resource: Resource,
    part: Part,
    context: WriteContext,
    manager: Manager,
  ): AnyObject {
    const after = changedObject(object, before, resource, part, context);
    if (after === before) return before;
    const { conversion } = resource;
    if (!conversion) return this.commit(before, after, resource, context, manager);
    return conversion.fromStored(
      this.commit(conversion.toStored(before), conversion.toStored(after), resource, context, manager),
    );
  }

  #delete(request: ApiRequest, resource: Resource, caller: Caller): AnyObject {
    const options = deleteOptions(request.body, request.parameters ?? {});
    const namespace = resource.namespaced ? request.namespace : undefined;
    const name = request.name ?? "";
    const object = this.store.collection(resource.storage).get(namespace === undefined ? name : `${namespace}/${name}`);
    if (!object) throw notFound(resource, name);
    const { outcome, object: last } = this.#end(object, resource, options, caller);
    // Kinds that give notice answer with the object, others only if it is still there.
    const answersObject = outcome !== "removed" || resource.rules.gracePeriod !== undefined;
    if (answersObject) return resource.conversion ? resource.conversion.fromStored(last) : last;
    const { group, plural } = resource;
    const details = { name, ...(group && { group }), kind: plural, uid: last.metadata.uid };
    return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } as unknown as AnyObject;
  }

  #deleteCollection(request: ApiRequest, resource: Resource, caller: Caller): AnyObject {
    const options = deleteOptions(request.body, request.parameters ?? {});
    const namespace = resource.namespaced ? request.namespace : undefined;
    const selection = selectionOf(resource, namespace, request.parameters ?? {});
    const collection = this.store.collection(resource.storage);
    const objects = collection.keys(namespace).map((key) => collection.get(key) as AnyObject);
    const items = objects
      .filter(selection.matches)
      .map((object) => this.#end(object, resource, options, caller).object);
    const metadata = { resourceVersion: String(this.store.version) };
    return { apiVersion: resource.apiVersion, kind: `${resource.kind}List`, metadata, items } as unknown as AnyObject;
  }

  /** Lets an object end, as far as it can. */
  #end(object: AnyObject, resource: Resource, options: DeleteOptions, caller: Caller) {
    const context = this.context(caller, dryRun(options.dryRun, "DeleteOptions"));
    const end = ending(object, resource, options, this.clock.now(), context);
    if (context.dryRun || end.outcome === "unchanged") return end;
    if (end.outcome === "removed") {
      this.store.remove(resource.storage, object);
      return end;
    }
    return { outcome: end.outcome, object: this.#put(resource, end.object) };
  }

  #put({ storage }: Resource, object: AnyObject): AnyObject {
    return this.store.put(storage, object);
  }

  #selection({ namespace, name }: WatchRequest, resource: Resource, query: Query): Selection {
    return selectionOf(resource, resource.namespaced ? namespace : undefined, query, name);
  }

  #validation(query: Query, caller: Caller): FieldValidation {
    return fieldValidation(query, caller.fieldValidation ?? "Ignore");
  }

  #manager(
    query: Query,
    caller: Caller,
    operation: Manager["operation"],
    { time }: WriteContext,
    part: Part = "main",
  ): Manager {
    const name = text(query, "fieldManager") || caller.fieldManager || caller.user.username;
    return { manager: name, operation, time, ...(part === "status" && { subresource: "status" }) };
  }

  readonly #lookup: Lookup = {
    get: <T extends AnyObject>(kind: Pick<Resource, "group" | "plural">, name: string, namespace?: string) => {
      const resource = this.resources.findAny(kind);
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      return resource && (this.store.collection(resource.storage).get(key) as T | undefined);
    },
    list: <T extends AnyObject>(kind: Pick<Resource, "group" | "plural">, namespace?: string) => {
      const resource = this.resources.findAny(kind);
      return (resource ? this.store.collection(resource.storage).values(namespace) : []) as Iterable<T>;
    },
  };
}
