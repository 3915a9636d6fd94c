/**
 * How server-side apply sees a place in an object: as one value, as a map of fields, or as a list whose items are known by
 * their keys. It follows from the kind's schema; where that allows anything, from the value that is there.
 */
import { isObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { keyElement, type PathElement, valueElement } from "./path-element.ts";

/** What a place may be; more than one of them only where the schema allows anything. */
export interface Shape {
  readonly scalar?: ScalarShape;
  readonly map?: MapShape;
  readonly list?: ListShape;
}

export type ScalarShape = "string" | "numeric" | "boolean" | "untyped";

export interface MapShape {
  readonly kind: "map";
  /** It is owned as a whole. */
  readonly atomic: boolean;
  readonly fields: Readonly<Record<string, SchemaNode>>;
  /** What other fields there may be; none if `undefined`. */
  readonly element: SchemaNode | undefined;
}

export interface ListShape {
  readonly kind: "list";
  readonly type: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  readonly element: SchemaNode;
}

/** Anything, of which each field has its own owners. */
export const ANYTHING: SchemaNode = { type: "any" };

const ANYTHING_AS_A_WHOLE: SchemaNode = { type: "any", mapType: "atomic" };

const shapes = new WeakMap<SchemaNode, Shape>();

export function shapeOf(node: SchemaNode): Shape {
  let shape = shapes.get(node);
  if (!shape) {
    shape = makeShape(node);
    shapes.set(node, shape);
  }
  return shape;
}

function makeShape(node: SchemaNode): Shape {
  switch (node.type) {
    case "object":
    case "map":
      return { map: mapShape(node) };
    case "array":
      return { list: listShape(node) };
    case "string":
      return { scalar: node.format === undefined || node.format === "byte" ? "string" : "untyped" };
    case "integer":
    case "number":
      return { scalar: "numeric" };
    case "boolean":
      return { scalar: "boolean" };
    case "intOrString":
      // Of a custom resource it is not known to be a scalar.
      return node.format === undefined ? shapeOf(ANYTHING) : { scalar: "untyped" };
    case "any":
      // The one thing that is owned as a whole although its schema does not say so.
      if (node.name?.endsWith(".RawExtension")) return shapeOf(ANYTHING_AS_A_WHOLE);
      return { scalar: "untyped", map: mapShape(node), list: listShape(node) };
  }
}

function mapShape(node: SchemaNode): MapShape {
  const fields = node.fields ?? {};
  const open = node.type !== "object" || node.preserveUnknown || Object.keys(fields).length === 0;
  return {
    kind: "map",
    atomic: node.mapType === "atomic",
    fields: node.embedded ? { ...fields, apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META } : fields,
    element: open ? (node.element ?? (node.mapType === "atomic" ? node : ANYTHING)) : undefined,
  };
}

/** Where the schema says nothing of server-side apply, what it says of strategic merge patches counts. */
function listShape(node: SchemaNode): ListShape {
  const merged = node.patchStrategy?.includes("merge") ?? false;
  const type = node.listType ?? (merged ? (node.patchMergeKey === undefined ? "set" : "map") : "atomic");
  const keys = node.mapKeys ?? (node.patchMergeKey === undefined ? [] : [node.patchMergeKey]);
  return { kind: "list", type, keys: type === "map" ? keys : [], element: node.element ?? ANYTHING };
}

/** The one thing that a place is, given what is there. `null` may be anything: then it is whatever comes first. */
export function formOf({ scalar, map, list }: Shape, value: unknown): MapShape | ListShape | ScalarShape {
  if (map && isObject(value)) return map;
  if (list && Array.isArray(value)) return list;
  if (scalar && value !== null && typeof value !== "object") return scalar;
  return map ?? scalar ?? (list as ListShape);
}

/** The schema of a field; `undefined` if there is no such field. */
export function fieldNode({ fields, element }: MapShape, name: string): SchemaNode | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : element;
}

/** An item of a list that cannot be told from others. */
export class ItemError extends Error {}

/**
 * By what an item of a list is known.
 *
 * @throws `ItemError`
 */
export function itemElement({ type, keys, element }: ListShape, item: unknown): PathElement {
  if (type === "set" || keys.length === 0) {
    if (isObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
    if (Array.isArray(item)) throw new ItemError("not supported: associative list with lists as elements");
    if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
    return valueElement(item);
  }
  if (item === null) throw new ItemError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new ItemError("associative list with keys may not have non-map elements");
  const found: [string, unknown][] = [];
  for (const key of keys) {
    if (Object.hasOwn(item, key)) found.push([key, item[key]]);
    else {
      const otherwise = element.fields?.[key]?.default;
      if (otherwise !== undefined) found.push([key, otherwise]);
    }
  }
  if (found.length === 0) {
    const names = keys.map((key) => JSON.stringify(key)).join(" ");
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(found);
}

const TEXT: SchemaNode = { type: "string" };
const TEXTS: SchemaNode = { type: "map", element: TEXT };

/** `metadata` is the same for all kinds, whatever the definition of a custom one says of it. */
export const OBJECT_META: SchemaNode = {
  type: "object",
  fields: {
    annotations: TEXTS,
    creationTimestamp: { type: "string", format: "date-time" },
    deletionGracePeriodSeconds: { type: "integer" },
    deletionTimestamp: { type: "string", format: "date-time" },
    finalizers: { type: "array", listType: "set", patchStrategy: ["merge"], element: TEXT },
    generateName: TEXT,
    generation: { type: "integer" },
    labels: TEXTS,
    managedFields: { type: "array", listType: "atomic", element: ANYTHING },
    name: TEXT,
    namespace: TEXT,
    ownerReferences: {
      type: "array",
      listType: "map",
      mapKeys: ["uid"],
      patchStrategy: ["merge"],
      patchMergeKey: "uid",
      element: {
        type: "object",
        mapType: "atomic",
        required: ["apiVersion", "kind", "name", "uid"],
        fields: {
          apiVersion: TEXT,
          blockOwnerDeletion: { type: "boolean" },
          controller: { type: "boolean" },
          kind: TEXT,
          name: TEXT,
          uid: { type: "string", default: "" },
        },
      },
    },
    resourceVersion: TEXT,
    selfLink: TEXT,
    uid: TEXT,
  },
};

const roots = new WeakMap<SchemaNode, SchemaNode>();

/** The schema of a resource's objects, with what every object has. */
export function rootOf({ schema }: Pick<Resource, "schema">): SchemaNode {
  let root = roots.get(schema);
  if (!root) {
    const { type, preserveUnknown } = schema;
    const fields = { ...schema.fields, apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META };
    root = { type: "object", fields, preserveUnknown: type === "any" || preserveUnknown };
    roots.set(schema, root);
  }
  return root;
}
