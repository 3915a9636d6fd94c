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
import { FieldOwnership, type Manager, withPlaceForOwners } from "../patch/ownership.ts";
import { concernsManagedFields, patched } from "../patch/patch.ts";
import {
  checkIdentity,
  checkOperationFields,
  checkPlace,
  checkWriteOptions,
  configurationIn,
  understoodApplied,
  understoodPatch,
  withGiven,
} from "../patch/request.ts";
import type { Listener } from "../storage/store.ts";
import { Store } from "../storage/store.ts";
import { type DeleteOptions, deleteOptions, ending, isOver } from "./deletion.ts";
import { type AnyObject, copyOf, frozen, shared } from "./json.ts";
import { page } from "./listing.ts";
import { dryRun, fieldValidation, flag, type Query, text } from "./parameters.ts";
import { alreadyExists, badRequest, methodNotSupported, notFound, nothingHere } from "./refusal.ts";
import { Registry } from "./registry.ts";
import type { Lookup, Resource, User, WriteContext } from "./resource.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { type WatchOutput, watch } from "./watching.ts";
import {
  type Admission,
  changedObject,
  type FieldValidation,
  isOnlyStatus,
  newObject,
  type Part,
  understood,
  understoodStatus,
  withStatus,
} from "./write.ts";

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
  /** How many changes of each resource can still be asked for. Default: 2000. */
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
  /** By way of which subresource, if its handler writes the object by a request of its own, as "scale" does. */
  readonly subresource?: string;
  /**
   * Whether the statuses that it writes are good, in the server's own form, and never changed by it afterwards: then they
   * are taken as they are. For parts of this cluster that write very many.
   */
  readonly trusted?: true;
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
  /** Who owns what the call changes: for `commit`. */
  readonly manager: Manager;
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
    this.ownership = new FieldOwnership((apiVersion, kind) => this.resources.findKind(apiVersion, kind) !== undefined);
    this.store.listen(undefined, ({ before, last }) => {
      if (before && last) this.ownership.carried(before, last);
    });
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
    const stop = watch(resource, this.#selection(request, resource, query), query, this, output);
    return resource.custom ? this.#untilRedefined(resource, stop, output) : stop;
  }

  /** A custom resource that is defined anew is another one: whoever watches it has to begin again. */
  #untilRedefined(resource: Resource, stop: () => void, output: WatchOutput): () => void {
    const stopBoth = () => {
      stopListening();
      stop();
    };
    const stopListening = this.resources.onChange(() => {
      if (this.resources.find(resource) === resource) return;
      stopBoth();
      output.end();
    });
    return stopBoth;
  }

  /** Hears of every write in its moment; see `Store.listen`. */
  listen(resource: Pick<Resource, "storage"> | undefined, listener: Listener): () => void {
    return this.store.listen(resource?.storage, listener);
  }

  /** An object that must be there. */
  get(resource: Resource, namespace: string | undefined, name = ""): AnyObject {
    const object = this.#find(resource, namespace, name);
    if (!object) throw notFound(resource, name);
    return resource.conversion ? resource.conversion.fromStored(object) : object;
  }

  /** As it is stored, if it is. */
  #find({ storage }: Resource, namespace: string | undefined, name = ""): AnyObject | undefined {
    return this.store.collection(storage).get(namespace === undefined ? name : `${namespace}/${name}`);
  }

  /**
   * Stores what an object has become, whoever worked it out: the end of every change. Gives what is stored then.
   *
   * @param manager - Who owns what was changed; nobody if it is the server's own doing, as when a pod is bound.
   */
  commit(before: AnyObject, after: AnyObject, resource: Resource, context: WriteContext, manager?: Manager): AnyObject {
    if (after === before) return before;
    const result = this.#committed(before, after, resource, context);
    if (manager) this.ownership.wrote(before, result, resource, manager);
    else this.ownership.carried(before, result);
    return result;
  }

  #committed(before: AnyObject, after: AnyObject, resource: Resource, context: WriteContext): AnyObject {
    if (context.dryRun) return frozen(after);
    if (isOver(after) && !resource.rules.remains?.(after)) {
      // The last finalizer is gone, and the object with it. What was to be written never is.
      this.store.remove(resource.storage, before);
      return frozen(after);
    }
    return this.#put(resource, after);
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
    const query = request.parameters ?? {};
    const context = this.context(caller, dryRun(query.dryRun, "CreateOptions"));
    const manager = this.#manager(query, { ...caller, subresource: name }, "Update", context);
    return handler({ api: this, request, resource, object, caller, context, manager });
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
    checkWriteOptions(query, "CreateOptions");
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
    const { answer, standsFor } = resource.rules;
    if (answer) return frozen(answer(object, context));
    if (standsFor) return this.request({ ...request, ...standsFor, name: metadata.name ?? "" }, caller);
    const manager = this.#manager(query, caller, "Update", context);
    return this.#begin(object, resource, context, withGiven(manager, request.body, resource));
  }

  #begin(object: AnyObject, resource: Resource, context: WriteContext, manager: Manager): AnyObject {
    // What the server adds from here on belongs to nobody.
    const asked = manager.owners ? object : copyOf(object);
    const fresh = newObject(object, resource, context, this.#admissions);
    const { name = "", namespace } = fresh.metadata;
    if (this.#find(resource, namespace, name)) throw alreadyExists(resource, name);
    const { conversion } = resource;
    const stored = conversion ? conversion.toStored(fresh) : fresh;
    const result = context.dryRun ? frozen(stored) : this.#put(resource, stored);
    this.ownership.wrote(undefined, result, resource, manager, shared(conversion ? undefined : result, asked));
    return conversion ? conversion.fromStored(result) : result;
  }

  #update(request: ApiRequest, resource: Resource, caller: Caller, part: Part): AnyObject {
    const query = request.parameters ?? {};
    const namespace = resource.namespaced ? request.namespace : undefined;
    const context = this.context(caller, dryRun(query.dryRun, "UpdateOptions"));
    checkWriteOptions(query, "UpdateOptions");
    const manager = this.#manager(query, caller, "Update", context, part);
    const stored = this.#find(resource, namespace, request.name);
    if (stored && part === "status" && caller.trusted && isOnlyStatus(request.body, stored)) {
      return this.commit(stored, withStatus(stored, request.body.status), resource, context, manager);
    }
    const validation = this.#validation(query, caller);
    const object =
      (stored && part === "status" && understoodStatus(request.body, stored, resource, validation, context)) ||
      understood(request.body, resource, validation, context, stored);
    checkPlace(object, resource, request);
    const before = this.get(resource, namespace, request.name);
    return this.#change(before, object, resource, part, context, withGiven(manager, request.body, resource));
  }

  #patch(request: ApiRequest, resource: Resource, caller: Caller, part: Part): AnyObject {
    const query = request.parameters ?? {};
    const namespace = resource.namespaced ? request.namespace : undefined;
    const context = this.context(caller, dryRun(query.dryRun, "PatchOptions"));
    const validation = this.#validation(query, caller);
    checkWriteOptions(query, "PatchOptions", request.patchType);
    const manager = this.#manager(query, caller, request.patchType === "apply" ? "Apply" : "Update", context, part);
    if (request.patchType === "apply") return this.#apply(request, resource, part, context, manager);
    const before = this.get(resource, namespace, request.name);
    const asksForOwners = concernsManagedFields(request);
    // Only operations look at what was there. A patch that merges replaces the list, and working it out would be in vain.
    const whole = asksForOwners && request.patchType === "json" ? this.#withManagedFields(before) : before;
    const wanted = patched(whole, request, resource, validation);
    const object = understoodPatch(wanted, request, resource, (each) =>
      understood(each, resource, validation, context, before),
    );
    checkOperationFields(wanted, request, validation, context.warn);
    checkPlace(object, resource, request);
    checkIdentity(object, resource, before);
    return this.#change(
      before,
      object,
      resource,
      part,
      context,
      asksForOwners ? withGiven(manager, wanted, resource) : manager,
    );
  }

  #apply(request: ApiRequest, resource: Resource, part: Part, context: WriteContext, manager: Manager): AnyObject {
    const { name = "", parameters = {}, body } = request;
    const namespace = resource.namespaced ? request.namespace : undefined;
    const stored = this.#find(resource, namespace, name);
    if (!stored && part === "status") throw notFound(resource, name);
    const before = stored && (resource.conversion ? resource.conversion.fromStored(stored) : stored);
    const { object, owners } = this.ownership.apply(
      before,
      configurationIn(body),
      resource,
      manager,
      flag(parameters, "force"),
    );
    const wanted = understoodApplied(object, resource, (each) => understood(each, resource, "Ignore", context));
    checkPlace(wanted, resource, request);
    checkIdentity(wanted, resource, before);
    if (before) return this.#change(before, wanted, resource, part, context, { ...manager, owners });
    // It says nothing of an object that is yet to begin.
    delete wanted.metadata.resourceVersion;
    return this.#begin(wanted, resource, context, { ...manager, owners });
  }

  #change(
    before: AnyObject,
    object: AnyObject,
    resource: Resource,
    part: Part,
    context: WriteContext,
    manager: Manager,
  ): AnyObject {
    let after = changedObject(object, before, resource, part, context, this.#admissions);
    if (after === before) {
      if (!this.ownership.differs(before, manager)) return before;
      after = { ...before, metadata: { ...before.metadata } };
    }
    const { conversion } = resource;
    if (!conversion) return this.commit(before, after, resource, context, manager);
    const result = this.#committed(conversion.toStored(before), conversion.toStored(after), resource, context);
    this.ownership.wrote(before, result, resource, manager, after);
    return conversion.fromStored(result);
  }

  #withManagedFields(object: AnyObject): AnyObject {
    const managedFields = this.ownership.managedFields(object);
    if (managedFields.length === 0) return object;
    return { ...object, metadata: { ...object.metadata, managedFields } as AnyObject["metadata"] };
  }

  #delete(request: ApiRequest, resource: Resource, caller: Caller): AnyObject {
    const options = deleteOptions(request.body, request.parameters ?? {});
    const namespace = resource.namespaced ? request.namespace : undefined;
    const name = request.name ?? "";
    const object = this.#find(resource, namespace, name);
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
    for (const admission of this.#admissions) admission.admit?.(object, resource, context, "delete");
    const end = ending(object, resource, options, this.clock.now(), context);
    if (context.dryRun || end.outcome === "unchanged") return end;
    let last = object;
    if (end.object !== object) {
      last = this.#put(resource, end.object);
      this.ownership.carried(object, last);
    }
    // Whoever heard of it may have been quicker.
    const { name = "", namespace } = last.metadata;
    const present = this.store
      .collection(resource.storage)
      .get(namespace === undefined ? name : `${namespace}/${name}`);
    if (end.outcome === "removed" && present === last) this.store.remove(resource.storage, last);
    return { outcome: end.outcome, object: last };
  }

  #put({ storage }: Resource, object: AnyObject): AnyObject {
    return this.store.put(storage, withPlaceForOwners(object));
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
    const manager = text(query, "fieldManager") || caller.fieldManager || caller.user.username;
    const subresource = part === "status" ? "status" : caller.subresource;
    return { manager, operation, time, ...(subresource !== undefined && { subresource }) };
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
