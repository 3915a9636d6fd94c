/** Objects as they leave the server: with `managedFields`, which are worked out only for those that do. */
import type { AnyObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import type { FieldOwnership } from "../patch/ownership.ts";

export class Outgoing {
  readonly #ownership: FieldOwnership;
  /** What is stored never changes, so neither does what it looks like outside. */
  readonly #known = new WeakMap<AnyObject, AnyObject>();

  constructor(ownership: FieldOwnership) {
    this.#ownership = ownership;
  }

  /** The object with its `managedFields`, if it is a stored one. */
  object(object: AnyObject, resource: Resource): AnyObject {
    // What has no uid was never stored: answers, bookmarks.
    if (object.metadata?.uid === undefined) return object;
    let complete = this.#known.get(object);
    if (!complete) {
      const managedFields = this.#ownership.managedFields(object, resource);
      const { apiVersion, kind, metadata, ...rest } = object;
      complete = {
        ...(kind !== undefined && { kind }),
        ...(apiVersion !== undefined && { apiVersion }),
        metadata: managedFields.length > 0 ? { ...metadata, managedFields } : metadata,
        ...rest,
      };
      this.#known.set(object, complete);
    }
    return complete;
  }

  /** An object, or the objects of a list, each of which says what it is: as they stand in the rows of tables. */
  whole(shown: AnyObject, isList: boolean, resource: Resource): AnyObject {
    if (!isList) return this.object(shown, resource);
    const items = shown.items as readonly AnyObject[];
    return { ...shown, items: items.map((item) => this.object(item, resource)) };
  }

  list(list: AnyObject, resource: Resource): AnyObject {
    const { apiVersion, kind, metadata, items } = list;
    const complete = Array.isArray(items) ? items.map((item) => this.#item(item, resource)) : [];
    return { kind, apiVersion, metadata, items: complete } as AnyObject;
  }

  /** What the items of a list are is said once, unless they are custom ones. */
  #item(item: AnyObject, resource: Resource): AnyObject {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = this.object(item, resource);
    return resource.custom ? this.object(item, resource) : rest;
  }
}
