/** A part of objects that has a life of its own, and its own rights: "status", "scale", "eviction", "token" … */

import { keyOf, type ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject, ObjectMeta } from "../objects/meta.ts";
import type { Applied } from "./client.ts";
import type { ApplyOptions, GetOptions, WriteOptions } from "./options.ts";
import { type Patch, patchBody } from "./patch.ts";
import type { Sender } from "./sender.ts";
import { typed } from "./typed.ts";

/**
 * Most subresources take and give the whole object (`status`); some have types of their own (`scale` a Scale, `eviction`
 * an Eviction), which is why the type of what comes back can be named.
 */
export class SubresourceClient {
  readonly #name: string;
  readonly #sender: Sender;

  /** @internal Use `client.subresource(name)`. */
  constructor(name: string, sender: Sender) {
    this.#name = name;
    this.#sender = sender;
  }

  async get<T extends KubernetesObject, R = T>(kind: Kind<T>, key: ObjectKey, options: GetOptions = {}): Promise<R> {
    const { signal, ...parameters } = options;
    return this.#sender.send({ verb: "get", ...this.#place(kind, key), parameters, signal });
  }

  async create<R = unknown>(kind: Kind, key: ObjectKey, body: object, options: WriteOptions = {}): Promise<R> {
    return this.#sender.write({ verb: "create", ...this.#place(kind, key), body }, options);
  }

  /** Replaces this part of the object, by the object or by what the subresource takes. */
  async update<T extends KubernetesObject, R extends KubernetesObject = T>(
    kind: Kind<T>,
    object: T | R,
    options: WriteOptions = {},
  ): Promise<R> {
    const body = typed(kind, object);
    return this.#sender.write({ verb: "update", ...this.#place(kind, keyOf(object)), body }, options);
  }

  async patch<T extends KubernetesObject, R = T>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<R> {
    return this.#sender.write({ verb: "patch", ...this.#place(kind, key), ...patchBody(patch) }, options);
  }

  async apply<T extends KubernetesObject>(
    kind: Kind<T>,
    object: Applied<T> & { metadata: ObjectMeta },
    { force, ...options }: ApplyOptions = {},
  ): Promise<T> {
    const applied = { patchType: "apply", body: typed(kind, object), parameters: { force } } as const;
    return this.#sender.write({ verb: "patch", ...this.#place(kind, keyOf(object)), ...applied }, options);
  }

  #place(kind: Kind, key: ObjectKey) {
    return { kind, ...this.#sender.place(kind, key), subresource: this.#name };
  }
}
