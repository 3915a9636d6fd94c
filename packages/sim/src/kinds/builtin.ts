/** Kubernetes' own resources, as the server serves them: what was generated, with the rules and columns of each kind. */
import type { Conversion, Resource, Subresource } from "../api/resource.ts";
import { definitionRules } from "../custom/definition-rules.ts";
import { readGenerated, schemaNamed } from "../schema/builtin-schemas.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { columns } from "./columns.ts";
import { eventConversion } from "./event-conversion.ts";
import { rules } from "./rules.ts";

/** A resource as discovery tells of it. */
interface StoredResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly string[];
  readonly schema: string;
  readonly subresources: readonly (Subresource & { readonly schema?: string })[];
}

let known: readonly StoredResource[] | undefined;

function storedResources(): readonly StoredResource[] {
  known ??= readGenerated<readonly StoredResource[]>("resources");
  return known;
}

/** Two names of the same objects: those of the second are stored as the first has them. */
const otherNames: Readonly<Record<string, { readonly storage: string; readonly conversion: Conversion }>> = {
  "events.k8s.io/events": { storage: "/events", conversion: eventConversion },
};

/**
 * The old version of what autoscaling/v2 has. The two differ in more than names, and nobody needs the old one: kubectl
 * asks for the new one.
 */
const NOT_SERVED = "autoscaling/v1 HorizontalPodAutoscaler";

/** Everything that a server serves before it has any custom resources. */
export function builtinResources(): Resource[] {
  return storedResources()
    .filter(({ apiVersion, kind }) => `${apiVersion} ${kind}` !== NOT_SERVED)
    .map(resourceOf);
}

/** The schema of a built-in kind, also of one that only subresources have: Binding, Eviction, Scale, TokenRequest. */
export function schemaOfKind(apiVersion: string, kind: string): SchemaNode | undefined {
  for (const resource of storedResources()) {
    for (const each of [resource, ...resource.subresources]) {
      if (each.kind === kind && each.apiVersion === apiVersion && each.schema) return schemaNamed(each.schema);
    }
  }
  return undefined;
}

function resourceOf({ apiVersion, kind, plural, schema, subresources, ...names }: StoredResource): Resource {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const id = `${group}/${plural}`;
  const { shortNames = [], categories = [], singular, namespaced, verbs } = names;
  return {
    group,
    version,
    apiVersion,
    kind,
    plural,
    singular,
    namespaced,
    shortNames,
    categories,
    verbs,
    subresources: subresources.map((each) => ({
      name: each.name,
      kind: each.kind,
      apiVersion: each.apiVersion,
      verbs: each.verbs,
    })),
    hasStatus: subresources.some(({ name }) => name === "status"),
    schema: schemaNamed(schema),
    rules: id === "apiextensions.k8s.io/customresourcedefinitions" ? definitionRules : (rules[id] ?? {}),
    columns: columns[id] ?? [],
    storage: id,
    ...otherNames[id],
  };
}
