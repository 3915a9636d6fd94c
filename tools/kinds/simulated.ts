/** What the simulated API server has to know of Kubernetes' kinds: pure, from what the real one says to the text of files. */
import type { StoredNode } from "../../packages/sim/src/schema/definitions.ts";
import { summary } from "./doc-comment.ts";
import type { FindStruct, GoField } from "./go-structs.ts";
import { apiVersionOf, type GroupVersion, type Schema, schemaNamesOf, schemasOf, targetOf } from "./openapi.ts";

const MACHINERY = "io.k8s.apimachinery.pkg";
const EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const DELETE_OPTIONS = `${MACHINERY}.apis.meta.v1.DeleteOptions`;

const jsonSchema: StoredNode = { ref: `${EXTENSIONS}.JSONSchemaProps` };

/** What has a form of its own in JSON, which OpenAPI cannot or does not describe. */
const ownForms: Readonly<Record<string, StoredNode>> = {
  [`${MACHINERY}.api.resource.Quantity`]: { type: "string", format: "quantity" },
  [`${MACHINERY}.util.intstr.IntOrString`]: { type: "intOrString", format: "int-or-string" },
  [`${MACHINERY}.apis.meta.v1.Time`]: { type: "string", format: "date-time" },
  [`${MACHINERY}.apis.meta.v1.MicroTime`]: { type: "string", format: "micro-time" },
  [`${MACHINERY}.apis.meta.v1.FieldsV1`]: { type: "any" },
  [`${MACHINERY}.runtime.RawExtension`]: { type: "any" },
  [`${EXTENSIONS}.JSON`]: { type: "any" },
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`]: {
    type: "any",
    alternatives: { object: jsonSchema, array: { type: "array", element: jsonSchema } },
  },
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`]: { type: "any", alternatives: { object: jsonSchema } },
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`]: {
    type: "any",
    alternatives: { object: jsonSchema, array: { type: "array", element: { type: "string" } } },
  },
};

/** File → text: what is served, what its objects look like, and what is said of them. */
export function simulatedFiles(groupVersions: readonly GroupVersion[], findStruct: FindStruct): Map<string, string> {
  const schemas = schemasOf(groupVersions);
  const resources = resourcesOf(groupVersions);
  const roots = resources.flatMap(({ schema, subresources }) => [schema, ...subresources.map((each) => each.schema)]);
  const names = reachable([...roots, DELETE_OPTIONS], schemas);
  const definitions = names.map((name) => [name, definition(name, schemas.get(name) ?? {}, findStruct)] as const);
  const descriptions = names.map((name) => [name, descriptionsOf(schemas.get(name) ?? {})] as const);
  return new Map([
    ["resources.json", `[\n${resources.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`],
    ["schemas.json", linesOf(definitions)],
    ["descriptions.json", linesOf(descriptions.filter(([, texts]) => Object.keys(texts).length > 0))],
  ]);
}

/** One line for each, so that changes can be read. */
function linesOf(entries: readonly (readonly [string, unknown])[]): string {
  return `{\n${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",\n")}\n}\n`;
}

function resourcesOf(groupVersions: readonly GroupVersion[]) {
  const schemaNames = schemaNamesOf(groupVersions);
  return groupVersions.flatMap(({ discovery: { groupVersion, resources } }) =>
    resources
      .filter(({ name }) => !name.includes("/"))
      .map(({ name: plural, kind, namespaced, verbs, singularName, shortNames, categories }) => ({
        apiVersion: groupVersion,
        kind,
        plural,
        singular: singularName,
        namespaced,
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
        verbs,
        schema: schemaNames.get(`${groupVersion} ${kind}`),
        subresources: resources
          .filter(({ name }) => name.startsWith(`${plural}/`))
          .map((each) => {
            const apiVersion = each.version === undefined ? groupVersion : apiVersionOf(each.group, each.version);
            const schema = schemaNames.get(`${apiVersion} ${each.kind}`);
            const name = each.name.slice(plural.length + 1);
            return { name, kind: each.kind, apiVersion, verbs: each.verbs, ...(schema && { schema }) };
          }),
      })),
  );
}

/** In the order of their names. */
function reachable(roots: readonly (string | undefined)[], schemas: ReadonlyMap<string, Schema>): string[] {
  const seen = new Set(roots.filter((root) => root !== undefined));
  // A set that grows while it is walked through is walked through to its end.
  for (const name of seen) for (const target of referencesIn(schemas.get(name) ?? {})) seen.add(target);
  return [...seen].sort();
}

function referencesIn({ $ref, properties = {}, items, additionalProperties, allOf = [] }: Schema): string[] {
  const parts = [...Object.values(properties), items, additionalProperties, ...allOf];
  const inside = parts.flatMap((part) => (part ? referencesIn(part) : []));
  return $ref === undefined ? inside : [targetOf($ref), ...inside];
}

function definition(name: string, schema: Schema, findStruct: FindStruct): StoredNode {
  const own = ownForms[name];
  if (own) return own;
  const { properties = {}, required } = schema;
  const struct = findStruct(name);
  if (!struct) throw new Error(`there is no struct "${name}" in Kubernetes' source`);
  const fields = Object.entries(properties).map(([key, field]) => {
    const go = struct.get(key);
    if (!go) throw new Error(`the struct "${name}" has no field "${key}"`);
    const node = nodeOf(field);
    const empty = emptyOf(node, go);
    return [key, { ...node, ...(empty && { empty }) }];
  });
  const mapType = schema["x-kubernetes-map-type"];
  return {
    type: "object",
    fields: Object.fromEntries(fields),
    ...(required && { required }),
    ...(mapType && { mapType }),
  };
}

/** What becomes of a field that holds nothing. */
function emptyOf({ type, ref }: StoredNode, { pointer, omitEmpty, omitZero }: GoField): StoredNode["empty"] {
  if (pointer) return omitEmpty ? undefined : "null";
  // What is no scalar, list or map is a struct, which Go's `omitempty` does not leave out.
  const isStruct = ref !== undefined && type === undefined;
  return omitZero || (omitEmpty && !isStruct) ? "dropped" : "zero";
}

function nodeOf(schema: Schema): StoredNode {
  const { $ref, allOf, type, items, additionalProperties, enum: values, format, default: value } = schema;
  const [listType, mapKeys] = [schema["x-kubernetes-list-type"], schema["x-kubernetes-list-map-keys"]];
  const [mapType, mergeKey] = [schema["x-kubernetes-map-type"], schema["x-kubernetes-patch-merge-key"]];
  const strategy = schema["x-kubernetes-patch-strategy"]?.split(",") as StoredNode["patchStrategy"];
  const target = $ref ?? allOf?.[0]?.$ref;
  // Structs have an empty object as their default, which says no more than that they are no pointers.
  const isMarker = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return {
    ...(target !== undefined ? { ref: targetOf(target) } : typed(type, items, additionalProperties)),
    ...(values && { enum: values }),
    ...(format && { format }),
    ...(value !== undefined && !isMarker && { default: value }),
    ...(listType && { listType }),
    ...(mapKeys && { mapKeys }),
    ...(mapType && { mapType }),
    ...(strategy && { patchStrategy: strategy }),
    ...(mergeKey && { patchMergeKey: mergeKey }),
  };
}

function typed(type: Schema["type"], items: Schema = {}, values?: Schema): StoredNode {
  if (type === "array") return { type, element: nodeOf(items) };
  if (type === "object") return values ? { type: "map", element: nodeOf(values) } : { type: "any" };
  return { type: type ?? "any" };
}

function descriptionsOf({ description, properties = {} }: Schema): Record<string, string> {
  const texts = Object.entries(properties).map(([key, field]) => [key, summary(field.description)]);
  return Object.fromEntries([["", summary(description)], ...texts].filter(([, text]) => text));
}
