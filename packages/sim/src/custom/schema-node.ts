/** From the schema in a definition to the one that the server works with. */
import { isKnownFormat } from "../schema/formats.ts";
import type { CelRule, SchemaNode, Validation } from "../schema/schema.ts";
import type { JsonSchema } from "./definition.ts";

const known = new WeakMap<JsonSchema, SchemaNode>();

/** The same schema always gives the same node: what is compiled for it is compiled once. */
export function schemaNode(schema: JsonSchema): SchemaNode {
  let node = known.get(schema);
  if (!node) {
    node = translated(schema);
    known.set(schema, node);
  }
  return node;
}

function translated(schema: JsonSchema): SchemaNode {
  const type = typeOf(schema);
  const { properties, required, description, enum: values, nullable } = schema;
  const element = type === "map" ? valuesOf(schema) : itemsOf(schema);
  const format = formatOf(schema);
  const validation = validationOf(schema);
  const fields = properties && translatedFields(properties);
  return {
    type,
    ...(fields && { fields }),
    ...(element && { element: schemaNode(element) }),
    ...(required && { required }),
    ...(description && { description }),
    ...(values && { enum: values }),
    ...(format && { format }),
    ...(schema.default !== undefined && schema.default !== null && { default: schema.default }),
    ...(nullable && { nullable }),
    ...(schema["x-kubernetes-preserve-unknown-fields"] && { preserveUnknown: true }),
    ...(schema["x-kubernetes-embedded-resource"] && { embedded: true }),
    ...(schema["x-kubernetes-list-type"] && { listType: schema["x-kubernetes-list-type"] as "atomic" }),
    ...(schema["x-kubernetes-list-map-keys"] && { mapKeys: schema["x-kubernetes-list-map-keys"] }),
    ...(schema["x-kubernetes-map-type"] && { mapType: schema["x-kubernetes-map-type"] as "atomic" }),
    ...(validation && { validation }),
  };
}

function translatedFields(properties: Readonly<Record<string, JsonSchema>>): Record<string, SchemaNode> {
  const fields: Record<string, SchemaNode> = Object.create(null);
  for (const [key, schema] of Object.entries(properties)) fields[key] = schemaNode(schema);
  return fields;
}

function typeOf(schema: JsonSchema): SchemaNode["type"] {
  if (schema["x-kubernetes-int-or-string"]) return "intOrString";
  switch (schema.type) {
    case "object":
      return schema.additionalProperties ? "map" : "object";
    case "array":
    case "string":
    case "integer":
    case "number":
    case "boolean":
      return schema.type;
    default:
      return "any";
  }
}

function valuesOf({ additionalProperties }: JsonSchema): JsonSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** A list of schemas is refused in definitions. */
export function itemsOf({ items }: JsonSchema): JsonSchema | undefined {
  return items && !Array.isArray(items) ? items : undefined;
}

/** Only what the real server checks. */
function formatOf({ type, format }: JsonSchema): string | undefined {
  if (!format) return undefined;
  const isChecked =
    type === "integer"
      ? ["int32", "int64"].includes(format)
      : type === "number"
        ? ["float", "double"].includes(format)
        : (type === "string" || !type) && isKnownFormat(format);
  return isChecked ? format : undefined;
}

const LIMITS = [
  ...(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const),
  ...(["minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"] as const),
  ...(["minProperties", "maxProperties"] as const),
];

function validationOf(schema: JsonSchema): Validation | undefined {
  const limits = LIMITS.filter((limit) => schema[limit] !== undefined).map((limit) => [limit, schema[limit]] as const);
  const { allOf, anyOf, oneOf, not } = schema;
  const rules = schema["x-kubernetes-validations"] as readonly CelRule[] | undefined;
  const validation: Validation = {
    ...Object.fromEntries(limits),
    ...(allOf && { allOf: allOf.map(schemaNode) }),
    ...(anyOf && { anyOf: anyOf.map(schemaNode) }),
    ...(oneOf && { oneOf: oneOf.map(schemaNode) }),
    ...(not && { not: schemaNode(not) }),
    ...(rules && { rules }),
  };
  return Object.keys(validation).length > 0 ? validation : undefined;
}
