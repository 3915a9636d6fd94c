/** Objects by what matters about them, kept as they change: what saves controllers from looking at all of them. */
import { controllerOf, coreV1, type Kind, type KubernetesObject } from "@berth/kube";
import type { ApiServer } from "../api/api-server.ts";
import { LocalApi } from "../api/local-api.ts";

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** The objects of a kind by one key each. */
export class IndexBy<T extends KubernetesObject> {
  readonly #groups = new Map<string, Map<string, T>>();
  readonly #keyOf: (object: T) => string | undefined;

  /** @param keyOf - `undefined` for objects that nobody will ask for. */
  constructor(server: ApiServer, kind: Kind<T>, keyOf: (object: T) => string | undefined) {
    this.#keyOf = keyOf;
    const api = new LocalApi(server, "system:index");
    for (const object of api.list(kind)) this.#put(object);
    api.onChange(kind, ({ type, object, before }) => {
      const [was, is] = [before && keyOf(before), type === "DELETED" ? undefined : keyOf(object)];
      if (was !== undefined && was !== is && before) this.#remove(was, before);
      if (is !== undefined) this.#put(object);
    });
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** By uid, in the order in which they came to the key. */
  get(key: string): ReadonlyMap<string, T> {
    return this.#groups.get(key) ?? NOTHING;
  }

  #put(object: T): void {
    const key = this.#keyOf(object);
    if (key === undefined) return;
    const group = this.#groups.get(key) ?? new Map<string, T>();
    if (group.size === 0) this.#groups.set(key, group);
    group.set(object.metadata.uid ?? "", object);
  }

  #remove(key: string, object: T): void {
    const group = this.#groups.get(key);
    group?.delete(object.metadata.uid ?? "");
    if (group?.size === 0) this.#groups.delete(key);
  }
}

interface PodIndexes {
  readonly byController: IndexBy<coreV1.Pod>;
  readonly byNode: IndexBy<coreV1.Pod>;
  /** Those without a controller, by namespace. */
  readonly orphans: IndexBy<coreV1.Pod>;
}

const indexes = new WeakMap<ApiServer, PodIndexes>();

/** The pods of a server, by their controller's uid and by their node. One for all who ask. */
export function podIndexes(server: ApiServer): PodIndexes {
  let known = indexes.get(server);
  if (!known) {
    known = {
      byController: new IndexBy(server, coreV1.Pod, (pod) => controllerOf(pod)?.uid),
      orphans: new IndexBy(server, coreV1.Pod, (pod) => (controllerOf(pod) ? undefined : pod.metadata.namespace)),
      byNode: new IndexBy(server, coreV1.Pod, ({ spec }) => spec?.nodeName || undefined),
    };
    indexes.set(server, known);
  }
  return known;
}
