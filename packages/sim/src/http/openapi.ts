/**
 * OpenAPI documents, one for each group and version, made of the resources' schemas. `kubectl explain` shows them, `kubectl
 * apply` merges by them, and by their paths it finds out that the server checks fields itself.
 */
import type { Resource } from "../api/resource.ts";
import { schemaNamed } from "../schema/builtin-schemas.ts";
import type { CelRule, SchemaNode, Validation } from "../schema/schema.ts";
import type { GroupVersion } from "./discovery.ts";
import { VERSION } from "./version.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

type Schema = Record<string, unknown>;

/** Definitions that many places refer to; each is added when it is first met. */
class Components {
  readonly schemas: Record<string, Schema> = Object.create(null);

  /** A place that may refer to a definition. */
  schemaOf(node: SchemaNode): Schema {
    if (node.name === undefined) return this.inline(node);
    if (!(node.name in this.schemas)) {
      this.schemas[node.name] = {}; // it may contain itself
      this.schemas[node.name] = this.inline({ ...plain(node), name: undefined });
    }
    return this.#reference(node, node.name);
  }

  /** What is said of the place stands beside the reference, and so the reference in a list of one. */
  #reference(node: SchemaNode, name: string): Schema {
    const extras = { ...described(node), ...merging(node) };
    const $ref = `#/components/schemas/${name}`;
    const hasDefault = node.default !== undefined && { default: node.default };
    return Object.keys(extras).length > 0 || hasDefault ? { ...hasDefault, allOf: [{ $ref }], ...extras } : { $ref };
  }

  /** The whole of it, here. */
  inline(node: SchemaNode): Schema {
    return {
      ...described(node),
      ...this.#typed(node),
      ...(node.format !== undefined && node.format !== "quantity" && { format: formatOf(node.format) }),
      ...(node.enum && { enum: node.enum }),
      ...(node.default !== undefined && { default: node.default }),
      ...(node.nullable && { nullable: true }),
      ...(node.preserveUnknown && { "x-kubernetes-preserve-unknown-fields": true }),
      ...(node.embedded && { "x-kubernetes-embedded-resource": true }),
      ...merging(node),
      ...(node.validation && this.#limits(node.validation)),
    };
  }

  #typed({ type, fields, element, required, preserveUnknown }: SchemaNode): Schema {
    switch (type) {
      case "object":
        return {
          type: "object",
          ...(fields && { properties: this.#properties(fields) }),
          ...(required && required.length > 0 && { required }),
        };
      case "map":
        return { type: "object", ...(element && { additionalProperties: this.schemaOf(element) }) };
      case "array":
        return { type: "array", ...(element && { items: this.schemaOf(element) }) };
      case "intOrString":
        return { "x-kubernetes-int-or-string": true, oneOf: [{ type: "integer" }, { type: "string" }] };
      case "any":
        return preserveUnknown ? { type: "object" } : {};
      default:
        return { type };
    }
  }

  #properties(fields: Readonly<Record<string, SchemaNode>>): Record<string, Schema> {
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, this.schemaOf(field)]));
  }

  #limits({ allOf, anyOf, oneOf, not, rules, ...bounds }: Validation): Schema {
    const all = (nodes: readonly SchemaNode[]) => nodes.map((node) => this.#alternative(node));
    return {
      ...bounds,
      ...(allOf && { allOf: all(allOf) }),
      ...(anyOf && { anyOf: all(anyOf) }),
      ...(oneOf && { oneOf: all(oneOf) }),
      ...(not && { not: this.#alternative(not) }),
      ...(rules && { "x-kubernetes-validations": rules.map((rule: CelRule) => ({ ...rule })) }),
    };
  }

  /** Inside of alternatives nothing says again of which type it is. */
  #alternative(node: SchemaNode): Schema {
    const { type, ...rest } = this.inline(node);
    return node.type === "any" ? rest : { ...(type !== undefined && type !== "object" && { type }), ...rest };
  }
}

/** The fields of a node as a plain object: some are computed when they are asked for. */
function plain(node: SchemaNode): SchemaNode {
  const { type, fields, element, required, enum: values, format, nullable, preserveUnknown, embedded } = node;
  const { listType, mapKeys, mapType, validation } = node;
  const shape = { type, fields, element, required, enum: values, format, nullable, preserveUnknown, embedded };
  const description = schemaNamed(node.name as string).description;
  return { ...shape, listType, mapKeys, mapType, validation, description };
}

function described({ description }: SchemaNode): Schema {
  return description ? { description } : {};
}

function merging({ listType, mapKeys, mapType, patchStrategy, patchMergeKey }: SchemaNode): Schema {
  return {
    ...(listType && { "x-kubernetes-list-type": listType }),
    ...(mapKeys && { "x-kubernetes-list-map-keys": mapKeys }),
    ...(mapType && { "x-kubernetes-map-type": mapType }),
    ...(patchStrategy && { "x-kubernetes-patch-strategy": patchStrategy.join(",") }),
    ...(patchMergeKey && { "x-kubernetes-patch-merge-key": patchMergeKey }),
  };
}

const formatOf = (format: string) => (format === "micro-time" ? "date-time" : format);

/** The document of a group and version. */
export function openApiDocument({ group, version, resources }: GroupVersion): object {
  const components = new Components();
  const paths: Record<string, object> = {};
  for (const resource of resources) {
    const name = definitionName(resource);
    components.schemas[name] = resourceSchema(resource, components);
    if (resource.verbs.includes("list")) components.schemas[`${name}List`] = listSchema(resource, name, components);
    Object.assign(paths, pathsOf(resource, name));
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: VERSION.gitVersion },
    paths: { [`${prefixOf(group, version)}/`]: {}, ...paths },
    components: { schemas: components.schemas },
  };
}

const prefixOf = (group: string, version: string) => (group ? `/apis/${group}/${version}` : `/api/${version}`);

/** "io.k8s.api.apps.v1.Deployment", or "org.example.v1.Thing". */
function definitionName({ schema, group, version, kind }: Resource): string {
  return schema.name ?? [...group.split(".").reverse(), version, kind].join(".");
}

function resourceSchema(resource: Resource, components: Components): Schema {
  const { group, version, kind, schema } = resource;
  const whole = schema.name === undefined ? schema : plain(schema);
  const made = components.inline({ ...whole, name: undefined });
  const properties = made.properties as Record<string, Schema> | undefined;
  const metadata = { allOf: [{ $ref: `#/components/schemas/${OBJECT_META}` }], ...metadataDescription(properties) };
  components.schemaOf(schemaNamed(OBJECT_META));
  return {
    ...made,
    type: "object",
    properties: { ...standardFields(), ...properties, metadata },
    "x-kubernetes-group-version-kind": [{ group, kind, version }],
  };
}

const STANDARD =
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

function metadataDescription(properties: Record<string, Schema> | undefined): Schema {
  const description = properties?.metadata?.description ?? STANDARD;
  return { description };
}

/** What every object has, also one whose definition does not mention it. */
function standardFields(): Record<string, Schema> {
  return {
    apiVersion: {
      type: "string",
      description:
        "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
    },
    kind: {
      type: "string",
      description:
        "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
    },
  };
}

function listSchema({ group, version, kind }: Resource, name: string, components: Components): Schema {
  const text = { type: "string" };
  const fields = { continue: text, remainingItemCount: { type: "integer", format: "int64" }, resourceVersion: text };
  components.schemas[LIST_META] = { type: "object", properties: fields };
  return {
    type: "object",
    required: ["items"],
    properties: {
      ...standardFields(),
      metadata: { allOf: [{ $ref: `#/components/schemas/${LIST_META}` }] },
      items: { type: "array", items: { $ref: `#/components/schemas/${name}` } },
    },
    "x-kubernetes-group-version-kind": [{ group, kind: `${kind}List`, version }],
  };
}

const query = (name: string, type = "string") => ({ name, in: "query", schema: { type, uniqueItems: true } });
const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"].map((name) => query(name));
const LIST_PARAMETERS = [
  ...["continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"].map((name) =>
    query(name),
  ),
  query("limit", "integer"),
  query("timeoutSeconds", "integer"),
  ...["allowWatchBookmarks", "sendInitialEvents", "watch"].map((name) => query(name, "boolean")),
];
const PATCH_TYPES = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];

/** The paths of a resource, and what can be done at each of them. */
function pathsOf(resource: Resource, name: string): Record<string, object> {
  const { group, version, kind, plural, namespaced, verbs, custom, subresources } = resource;
  const gvk = { "x-kubernetes-group-version-kind": { group, version, kind } };
  const $ref = `#/components/schemas/${name}`;
  const json = (schema: object) => ({ "application/json": { schema } });
  const answer = (schema: object) => ({ responses: { "200": { description: "OK", content: json(schema) } } });
  const body = { requestBody: { content: { "*/*": { schema: { $ref } } }, required: true } };
  // Custom resources have no strategy to merge by.
  const patchTypes = custom ? PATCH_TYPES : [...PATCH_TYPES, "application/strategic-merge-patch+json"];
  const patchBody = {
    requestBody: { content: Object.fromEntries(patchTypes.map((type) => [type, { schema: { type: "object" } }])) },
  };
  const operation = (action: string, more: object) => ({
    "x-kubernetes-action": action,
    ...gvk,
    ...answer({ $ref }),
    ...more,
  });
  const operations = (supported: readonly string[]) => ({
    ...(supported.includes("get") && { get: operation("get", {}) }),
    ...(supported.includes("update") && { put: operation("put", { parameters: WRITE_PARAMETERS, ...body }) }),
    ...(supported.includes("patch") && {
      patch: operation("patch", { parameters: [...WRITE_PARAMETERS, query("force", "boolean")], ...patchBody }),
    }),
    ...(supported.includes("delete") && { delete: operation("delete", { parameters: [query("dryRun")] }) }),
  });
  const collection = `${prefixOf(group, version)}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}`;
  const list = { $ref: `${$ref}List` };
  return {
    [collection]: {
      ...(verbs.includes("list") && {
        get: operation("list", { parameters: LIST_PARAMETERS, ...answer(list) }),
      }),
      ...(verbs.includes("create") && { post: operation("post", { parameters: WRITE_PARAMETERS, ...body }) }),
      ...(verbs.includes("deletecollection") && {
        delete: operation("deletecollection", { parameters: LIST_PARAMETERS }),
      }),
    },
    ...(verbs.includes("get") && { [`${collection}/{name}`]: operations(verbs) }),
    ...Object.fromEntries(
      subresources
        .filter((each) => each.name === "status")
        .map((each) => [`${collection}/{name}/${each.name}`, operations(each.verbs)]),
    ),
  };
}

/** At "/openapi/v3": where the documents are. A changed document has another address, so that it can be kept for long. */
export function openApiPaths(entries: readonly { readonly path: string; readonly hash: string }[]): object {
  return {
    paths: Object.fromEntries(
      entries.map(({ path, hash }) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
    ),
  };
}
