/**
 * The API server for those who live in its process: typed, and without waiting. The scheduler, the kubelets and the
 * controllers of this package use it; their reads cost nothing, since what they read is what is stored.
 */
import {
  type ApiRequest,
  isNotFound,
  type Kind,
  type KubernetesObject,
  type ObjectKey,
  type WritableKind,
} from "@berth/kube";
import type { Change, Collection } from "../storage/collection.ts";
import type { ApiServer, Caller } from "./api-server.ts";
import type { AnyObject } from "./json.ts";
import type { Resource } from "./resource.ts";

/** What became of an object. */
export interface Event<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** As it is now; as it was last, if it is gone. */
  readonly object: T;
  /** As it was, unless it is new. */
  readonly before: T | undefined;
}

export class LocalApi {
  readonly server: ApiServer;
  readonly #caller: Caller;

  /** @param username - As whom: "system:kube-scheduler" … */
  constructor(server: ApiServer, username: string, { trusted }: Pick<Caller, "trusted"> = {}) {
    this.server = server;
    this.#caller = {
      user: { username, groups: ["system:masters", "system:authenticated"] },
      fieldManager: fieldManagerOf(username),
      ...(trusted && { trusted }),
    };
  }

  /** `undefined` if there is none. */
  get<T extends KubernetesObject>(kind: Kind<T>, { namespace, name }: ObjectKey): T | undefined {
    const key = kind.namespaced ? `${namespace}/${name}` : name;
    return this.#collection(kind)?.get(key) as T | undefined;
  }

  /** In the order of their names. */
  list<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): T[] {
    const collection = this.#collection(kind);
    return (collection?.keys(namespace) ?? []).map((key) => collection?.get(key) as unknown as T);
  }

  create<T extends KubernetesObject, W extends KubernetesObject>(kind: WritableKind<T, W>, object: W): T {
    const { namespace } = object.metadata;
    return this.#request<T>({ verb: "create", kind, namespace, body: object });
  }

  /** Refused with a conflict if the object's resourceVersion is not the present one. */
  update<T extends KubernetesObject>(kind: Kind<T>, object: T): T {
    return this.#request<T>({ verb: "update", kind, ...placeOf(object), body: object });
  }

  updateStatus<T extends KubernetesObject>(kind: Kind<T>, object: T): T {
    return this.#request<T>({ verb: "update", kind, ...placeOf(object), subresource: "status", body: object });
  }

  /** A merge patch. */
  patch<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, patch: object, subresource?: string): T {
    return this.#request<T>({ verb: "patch", kind, ...key, subresource, patchType: "merge", body: patch });
  }

  /** Whether there was one. */
  delete(kind: Kind, key: ObjectKey, options: object = {}): boolean {
    try {
      this.#request({ verb: "delete", kind, ...key, body: options });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** A request to a subresource: a binding, an eviction. */
  post<T extends KubernetesObject>(kind: Kind, key: ObjectKey, subresource: string, body: object): T {
    return this.#request<T>({ verb: "create", kind, ...key, subresource, body });
  }

  /** Replaces a subresource other than "status": a scale, a namespace's finalizers. */
  put<T extends KubernetesObject>(kind: Kind, key: ObjectKey, subresource: string, body: object): T {
    return this.#request<T>({ verb: "update", kind, ...key, subresource, body });
  }

  /** Hears of every change in its moment, those that there were already excepted. Whoever has much to do does it later. */
  onChange<T extends KubernetesObject>(kind: Kind<T>, listener: (event: Event<T>) => void): () => void {
    return this.server.listen(this.#resource(kind), (change) => listener(eventOf<T>(change)));
  }

  #request<T>(request: ApiRequest): T {
    return this.server.request(request, this.#caller) as unknown as T;
  }

  #collection(kind: Kind): Collection | undefined {
    const resource = this.server.resources.find(kind);
    return resource && this.server.store.collection(resource.storage);
  }

  #resource(kind: Kind): Resource {
    const resource = this.server.resources.find(kind);
    if (!resource) throw new Error(`there is no resource ${kind.plural} in ${kind.apiVersion}`);
    return resource;
  }
}

/** The last change that was told, and how: all who listen hear the same. */
let told: { readonly change: Change; readonly event: Event<unknown> } | undefined;

function eventOf<T>(change: Change): Event<T> {
  if (told?.change !== change) {
    const { before, after, last } = change;
    const type = after ? (before ? "MODIFIED" : "ADDED") : "DELETED";
    told = { change, event: { type, object: after ?? last, before } };
  }
  return told.event as Event<T>;
}

function placeOf({ metadata: { namespace, name = "" } }: KubernetesObject | AnyObject) {
  return { namespace, name };
}

/** Under what name somebody owns fields: that of his program. All controllers of the cluster are in one. */
function fieldManagerOf(username: string): string {
  if (username.startsWith("system:serviceaccount:kube-system:")) return "kube-controller-manager";
  return username.replace(/^.*:/, "");
}
