/** All resources that the server has, built-in and custom, by the names that requests call them by. */
import type { Kind } from "@berth/kube";
import type { Resource } from "./resource.ts";

export class Registry {
  readonly #byPath = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #listeners = new Set<() => void>();

  /** Serves a resource from now on, in the place of any of the same name. */
  add(resource: Resource): void {
    this.#byPath.set(pathOf(resource), resource);
    this.#byKind.set(`${resource.apiVersion} ${resource.kind}`, resource);
    for (const listener of this.#listeners) listener();
  }

  remove(resource: Resource): void {
    this.#byPath.delete(pathOf(resource));
    this.#byKind.delete(`${resource.apiVersion} ${resource.kind}`);
    for (const listener of this.#listeners) listener();
  }

  /** By group, version and plural, as in URLs. */
  find(kind: Pick<Kind, "group" | "version" | "plural">): Resource | undefined {
    return this.#byPath.get(pathOf(kind));
  }

  /** By apiVersion and kind, as in objects. */
  findKind(apiVersion: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${apiVersion} ${kind}`);
  }

  /** In whatever version; for rules and controllers that look at other objects. */
  findAny({ group, plural }: Pick<Kind, "group" | "plural">): Resource | undefined {
    for (const resource of this.#byPath.values()) {
      if (resource.group === group && resource.plural === plural) return resource;
    }
    return undefined;
  }

  all(): readonly Resource[] {
    return [...this.#byPath.values()];
  }

  /** Told whenever a resource comes or goes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

const pathOf = ({ group, version, plural }: Pick<Kind, "group" | "version" | "plural">) =>
  `${group}/${version}/${plural}`;
