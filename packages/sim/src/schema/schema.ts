/**
 * The shape of a kind's objects, as the server needs to know it: which fields there are, how lists are merged, what is
 * filled in. Built-in kinds have theirs generated, custom ones get theirs from their definition.
 */

/** A place in an object. */
export interface SchemaNode {
  readonly type: "object" | "map" | "array" | "string" | "integer" | "number" | "boolean" | "intOrString" | "any";
  /** Of an object: what fields it has. */
  readonly fields?: Readonly<Record<string, SchemaNode>>;
  /** Of a map: what its values are; of an array: what its items are. */
  readonly element?: SchemaNode;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  /** Fields that are not in `fields` are kept. */
  readonly preserveUnknown?: boolean;
  /** It is an object of its own, with apiVersion, kind and metadata. */
  readonly embedded?: boolean;
  /** How server-side apply sees a list: as one thing, a set, or a map by `mapKeys`. Default: atomic. */
  readonly listType?: "atomic" | "set" | "map";
  readonly mapKeys?: readonly string[];
  /** How server-side apply sees an object or map. Default: granular. */
  readonly mapType?: "atomic" | "granular";
  /** How a strategic merge patch sees a list. Default: replaced. */
  readonly patchStrategy?: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey?: string;
  /** What else a custom resource's definition asks for: bounds, patterns, alternatives, CEL rules … */
  readonly validation?: Validation;
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
