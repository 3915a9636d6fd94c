/** What the API server says of its kinds: the parts of its OpenAPI and discovery documents that types are made from. */

export interface Schema {
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly default?: unknown;
  readonly oneOf?: readonly Schema[];
  /** Always one reference: so a description and a default can stand beside it. */
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** Several are separated by commas. */
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `/openapi/v3/apis/GROUP/VERSION`. */
export interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** `/apis/GROUP/VERSION`. */
export interface Discovery {
  /** "v1", "apps/v1". */
  readonly groupVersion: string;
  readonly resources: readonly DiscoveredResource[];
}

export interface DiscoveredResource {
  /** "pods"; of a subresource "pods/eviction". */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs?: readonly string[];
  readonly singularName?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Both only if they are not those of the document, as for "pods/eviction", which is of policy/v1. */
  readonly group?: string;
  readonly version?: string;
}

export interface GroupVersion {
  readonly openApi: OpenApi;
  readonly discovery: Discovery;
}

/** A kind that the server has a schema of. */
export interface DiscoveredKind {
  /** The full name of its schema: "io.k8s.api.core.v1.Pod". */
  readonly schema: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** As in URLs; `undefined` if there are only subresources of this kind, as of Eviction. */
  readonly plural: string | undefined;
}

/** All schemas by their full names. One that stands in several documents is the same in all of them. */
export function schemasOf(groupVersions: readonly GroupVersion[]): ReadonlyMap<string, Schema> {
  return new Map(groupVersions.flatMap(({ openApi }) => Object.entries(openApi.components.schemas)));
}

/** The full names of the kinds' schemas, by apiVersion and kind: "v1 Pod". */
export function schemaNamesOf(groupVersions: readonly GroupVersion[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of schemasOf(groupVersions)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      names.set(`${apiVersionOf(group, version)} ${kind}`, name);
    }
  }
  return names;
}

/** The kinds that objects and subresources are of. What is only called, as "pods/exec" is, has no schema. */
export function kindsOf(groupVersions: readonly GroupVersion[]): DiscoveredKind[] {
  const schemaNames = schemaNamesOf(groupVersions);
  const kinds = new Map<string, DiscoveredKind>();
  for (const { groupVersion, resources } of groupVersions.map(({ discovery }) => discovery)) {
    for (const { name, kind, namespaced, group, version } of resources) {
      const apiVersion = version === undefined ? groupVersion : apiVersionOf(group, version);
      const schema = schemaNames.get(`${apiVersion} ${kind}`);
      const plural = name.includes("/") ? undefined : name;
      if (schema === undefined || (plural === undefined && kinds.has(schema))) continue;
      kinds.set(schema, { schema, apiVersion, kind, namespaced, plural });
    }
  }
  return [...kinds.values()];
}

/** "v1", "apps/v1". */
export function apiVersionOf(group: string | undefined, version: string): string {
  return group ? `${group}/${version}` : version;
}

/** "io.k8s.api.core.v1.Pod" for "#/components/schemas/io.k8s.api.core.v1.Pod". */
export function targetOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}
