/** Whether a schema is structural: every value in it has one place with one type, whatever alternatives there are. Pure. */
import { FieldErrors } from "../api/field-errors.ts";
import { equal } from "../api/json.ts";
import { goRegExp } from "../schema/go-regexp.ts";
import type { JsonSchema } from "./definition.ts";
import { itemsOf } from "./schema-node.ts";

type Level = "root" | "item" | "field";

/** What keeps a schema from being structural, in the order of the real server. */
export function structuralProblems(schema: JsonSchema, path: string): FieldErrors["causes"] {
  const errors = new FieldErrors();
  checkPlace(schema, "root", path, errors);
  const text = ({ field, message }: FieldErrors["causes"][number]) => `${field}: ${message}`;
  return errors.causes.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

function checkPlace(schema: JsonSchema, level: Level, path: string, errors: FieldErrors): void {
  const { type = "", properties = {}, additionalProperties } = schema;
  const items = itemsOf(schema);
  if (type === "array" && !items) errors.required(`${path}.items`, "must be specified");
  if (items) checkPlace(items, "item", `${path}.items`, errors);
  for (const [key, field] of Object.entries(properties)) {
    checkPlace(field, "field", `${path}.properties[${key}]`, errors);
  }
  if (additionalProperties !== undefined) {
    if (level === "root") errors.forbidden(`${path}.additionalProperties`, "must not be used at the root");
    if (typeof additionalProperties === "object") {
      checkPlace(additionalProperties, "field", `${path}.additionalProperties`, errors);
    }
  }
  checkExtensions(schema, path, errors);
  checkAlternatives(schema, isIntOrString(schema), isIntOrString(schema.allOf?.[0] ?? {}), path, errors);
  checkType(schema, level, path, errors);
  if (level === "root" || schema["x-kubernetes-embedded-resource"]) checkMetaFields(schema, path, errors);
  if (level === "root" && properties.metadata)
    checkMetadata(properties.metadata, `${path}.properties[metadata]`, errors);
}

/** The one form in which alternatives may be of different types. */
function isIntOrString({ anyOf }: JsonSchema): boolean {
  return equal(anyOf, [{ type: "integer" }, { type: "string" }]);
}

function checkExtensions(schema: JsonSchema, path: string, errors: FieldErrors): void {
  if (!schema["x-kubernetes-int-or-string"]) return;
  for (const extension of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[extension]) {
      errors.invalid(`${path}.${extension}`, true, "must be false if x-kubernetes-int-or-string is true");
    }
  }
}

function checkType(schema: JsonSchema, level: Level, path: string, errors: FieldErrors): void {
  const { type = "", additionalProperties, properties = {} } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"];
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"];
  if (isEmbedded && type !== "object") {
    const why = "must be object if x-kubernetes-embedded-resource is true";
    if (type === "") errors.required(`${path}.type`, why);
    else errors.invalid(`${path}.type`, type, why);
  } else if (type === "" && !schema["x-kubernetes-int-or-string"] && !keepsUnknown) {
    const where = { root: "at the root", item: "for specified array items", field: "for specified object fields" };
    errors.required(`${path}.type`, `must not be empty ${where[level]}`);
  }
  if (isEmbedded && additionalProperties !== undefined) {
    errors.forbidden(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set");
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.invalid(`${path}.type`, type, "must be object at the root");
  }
  if (isEmbedded && !keepsUnknown && Object.keys(properties).length === 0) {
    const why =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.required(`${path}.properties`, why);
  }
}

function checkMetaFields({ properties = {} }: JsonSchema, path: string, errors: FieldErrors): void {
  for (const [key, wanted] of [
    ["kind", "string"],
    ["apiVersion", "string"],
    ["metadata", "object"],
  ] as const) {
    const field = properties[key];
    if (field && field.type !== wanted) {
      errors.invalid(`${path}.properties[${key}].type`, field.type ?? "", `must be ${wanted}`);
    }
  }
}

/** Everybody knows what metadata is; a definition may only say more about names. */
function checkMetadata(schema: JsonSchema, path: string, errors: FieldErrors): void {
  const { type: _type, default: _default, properties = {}, ...others } = schema;
  const isMore = Object.keys(properties).some((key) => key !== "name" && key !== "generateName");
  if (!isMore && Object.keys(others).length === 0) return;
  const why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  errors.forbidden(path, why);
}

function checkAlternatives(
  { anyOf = [], allOf = [], oneOf = [], not, pattern }: JsonSchema,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (!skipsAnyOf)
    for (const [index, each] of anyOf.entries()) checkNested(each, false, `${path}.anyOf[${index}]`, errors);
  for (const [index, each] of allOf.entries()) {
    checkNested(each, skipsFirstAllOf && index === 0, `${path}.allOf[${index}]`, errors);
  }
  for (const [index, each] of oneOf.entries()) checkNested(each, false, `${path}.oneOf[${index}]`, errors);
  if (not) checkNested(not, false, `${path}.not`, errors);
  if (pattern && !goRegExp(pattern)) {
    const why = `must be a valid regular expression, but isn't: error parsing regexp: \`${pattern}\``;
    errors.invalid(`${path}.pattern`, pattern, why);
  }
}

/** What an alternative may not say, since it would say it only for some values. */
const NOT_NESTED = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
] as const;

function checkNested(schema: JsonSchema, skipsAnyOf: boolean, path: string, errors: FieldErrors): void {
  checkAlternatives(schema, skipsAnyOf, false, path, errors);
  const items = itemsOf(schema);
  if (items) checkNested(items, false, `${path}.items`, errors);
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    checkNested(field, false, `${path}.properties[${key}]`, errors);
  }
  for (const [keyword, why] of NOT_NESTED) if (schema[keyword]) errors.forbidden(`${path}.${keyword}`, why);
  if (schema.properties?.metadata) {
    errors.forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context");
  }
}
