/**
 * Whether the schema in a definition is one that the server can work with. The real server checks it twice: whether it is
 * structural (every value has one place and one type), and what of OpenAPI and of Kubernetes' own keywords it uses how.
 */
import type { FieldErrors } from "../api/field-errors.ts";
import { equal, isObject } from "../api/json.ts";
import { checkDefaults } from "./defaults-check.ts";
import type { JsonSchema } from "./definition.ts";
import { checkKeywords } from "./keywords-check.ts";
import { checkRuleTexts } from "./rules-check.ts";
import { itemsOf } from "./schema-node.ts";
import { structuralProblems } from "./structural-check.ts";

/** What may stand at the root of a schema if the status is written apart from the rest. */
const AT_ROOT = [
  ...[
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
  ],
  ...["MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties"],
  ...["ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"],
];
const KEYWORDS_AT_ROOT = new Set([
  ...AT_ROOT.map((name) => name.charAt(0).toLowerCase() + name.slice(1)),
  ...["x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"],
]);

const UNSUPPORTED = [
  "id",
  "$schema",
  "$ref",
  "additionalItems",
  "patternProperties",
  "definitions",
  "dependencies",
] as const;

/** Adds what is wrong. @param path - Of `openAPIV3Schema`. */
export function checkSchema(schema: JsonSchema, hasStatus: boolean, path: string, errors: FieldErrors): void {
  if (hasStatus) checkRoot(schema, path, errors);
  if (schema.nullable) errors.forbidden(`${path}.nullable`, "nullable cannot be true at the root");
  const before = errors.causes.length;
  const structural = isReadable(schema) ? structuralProblems(schema, path) : [];
  if (structural.length > 0) errors.causes.push(...structural);
  else if (isReadable(schema)) checkDefaults(schema, path, errors);
  checkKeywords(schema, path, errors);
  if (errors.causes.length === before) checkRuleTexts(schema, path, errors);
}

/** What is not supported at all makes the real server give up on the rest, and tell of that only. */
function isReadable(schema: JsonSchema): boolean {
  if (UNSUPPORTED.some((keyword) => schema[keyword]) || Array.isArray(schema.items)) return false;
  const { properties = {}, additionalProperties, not, allOf = [], anyOf = [], oneOf = [] } = schema;
  const values = typeof additionalProperties === "object" ? [additionalProperties] : [];
  const items = itemsOf(schema);
  const parts = [...Object.values(properties), ...values, ...(items ? [items] : []), ...allOf, ...anyOf, ...oneOf];
  return [...parts, ...(not ? [not] : [])].every(isReadable);
}

function checkRoot(schema: JsonSchema, path: string, errors: FieldErrors): void {
  if (schema.type && schema.type !== "object") {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.invalid(`${path}.type`, schema.type, why);
    return;
  }
  const isSet = (value: unknown) => value !== undefined && value !== false && !(isObject(value) && equal(value, {}));
  const stray = Object.entries(schema).some(([keyword, value]) => isSet(value) && !KEYWORDS_AT_ROOT.has(keyword));
  if (!stray) return;
  const why = `only [${AT_ROOT.join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`;
  errors.invalid(path, schema, why);
}
