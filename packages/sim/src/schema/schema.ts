/**
 * The shape of a kind's objects, as the server needs to know it: which fields there are, how lists are merged, what is
 * filled in. Built-in kinds have theirs generated, custom ones get theirs from their definition.
 */

/** A place in an object. */
export interface SchemaNode {
  readonly type: "object" | "map" | "array" | "string" | "integer" | "number" | "boolean" | "intOrString" | "any";
  /** What OpenAPI calls it, if many places share it: "io.k8s.api.core.v1.Container". Only such a thing can contain itself. */
  readonly name?: string | undefined;
  /** Of an object: what fields it has. It inherits from nothing: there is no "constructor" unless it is a field. */
  readonly fields?: Readonly<Record<string, SchemaNode>> | undefined;
  /** Of a map: what its values are; of an array: what its items are. */
  readonly element?: SchemaNode | undefined;
  readonly required?: readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  /** As in OpenAPI; beside that "quantity", and "micro-time" for a time to the microsecond. */
  readonly format?: string | undefined;
  readonly default?: unknown;
  readonly nullable?: boolean | undefined;
  /** Fields that are not in `fields` are kept. */
  readonly preserveUnknown?: boolean | undefined;
  /** It is an object of its own, with apiVersion, kind and metadata. */
  readonly embedded?: boolean | undefined;
  /** Of a value of any type: what it is if it happens to be an object or an array. Default: whatever it is. */
  readonly alternatives?: { readonly object?: SchemaNode; readonly array?: SchemaNode } | undefined;
  /**
   * Of a field of a built-in kind: what becomes of nothing, as of "", 0, false, [] and {}. It is dropped, or the field is
   * always there and holds zero or null then. Default: the field may be left out, and what is given is kept.
   */
  readonly empty?: "dropped" | "zero" | "null" | undefined;
  /** Of an object of a built-in kind: the fields that are always there. */
  readonly always?: readonly string[] | undefined;
  /** How server-side apply sees a list: as one thing, a set, or a map by `mapKeys`. Default: atomic. */
  readonly listType?: "atomic" | "set" | "map" | undefined;
  readonly mapKeys?: readonly string[] | undefined;
  /** How server-side apply sees an object or map. Default: granular. */
  readonly mapType?: "atomic" | "granular" | undefined;
  /** How a strategic merge patch sees a list. Default: replaced. */
  readonly patchStrategy?: readonly ("merge" | "replace" | "retainKeys")[] | undefined;
  readonly patchMergeKey?: string | undefined;
  /** What else a custom resource's definition asks for: bounds, patterns, alternatives, CEL rules … */
  readonly validation?: Validation | undefined;
}

/** The limits of OpenAPI's schemas, and the rules of CEL. */
export interface Validation {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly not?: SchemaNode;
  readonly rules?: readonly CelRule[];
}

/** One of `x-kubernetes-validations`. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}
