/** Who owns which field: what server-side apply decides by, and what `metadata.managedFields` shows. */
import type { AnyObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import type { Part } from "../api/write.ts";

/** Who wrote, how and when. */
export interface Manager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly subresource?: string;
  readonly time: string;
}

export interface ManagedFieldsEntry extends Manager {
  readonly apiVersion: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: object;
}

/**
 * Remembers writes, and works out who owns what only when somebody asks: most objects are never applied, and whoever looks
 * at `managedFields` is a person.
 */
export class FieldOwnership {
  /** Takes note of a write that was not an apply; quick, since every write comes here. */
  wrote(_before: AnyObject | undefined, _after: AnyObject, _manager: Manager): void {}

  /** What an object is to be after somebody applied a configuration; refuses if others own what it changes. */
  merged(
    _before: AnyObject,
    _applied: object,
    _resource: Resource,
    _manager: Manager,
    _force: boolean,
    _part: Part,
  ): AnyObject {
    throw new Error("not yet");
  }

  /** Takes note that an object was applied. */
  applied(
    _before: AnyObject | undefined,
    _after: AnyObject,
    _applied: object,
    _resource: Resource,
    _manager: Manager,
  ): void {}

  /** What `metadata.managedFields` would be. */
  managedFields(_object: AnyObject, _resource: Resource): readonly ManagedFieldsEntry[] {
    return [];
  }
}
