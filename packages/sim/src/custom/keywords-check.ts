/** Whether a definition's schema uses the keywords of OpenAPI, and Kubernetes' own, as the server allows. */
import type { FieldErrors } from "../api/field-errors.ts";
import type { JsonSchema } from "./definition.ts";
import { isFieldPath } from "./field-path.ts";
import { itemsOf } from "./schema-node.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const META_FIELDS = ["metadata", "kind", "apiVersion"];
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

interface Where {
  readonly isRoot: boolean;
  /** Why there must be no defaults. */
  readonly noDefaults?: string;
  readonly isMeta?: boolean;
}

/** Adds what is wrong. */
export function checkKeywords(
  schema: JsonSchema,
  path: string,
  errors: FieldErrors,
  where: Where = { isRoot: true },
): void {
  checkSupported(schema, path, errors, where);
  if (schema.uniqueItems) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.forbidden(`${path}.uniqueItems`, why);
  }
  const { additionalProperties: values, properties = {} } = schema;
  const inside: Where = { ...where, isRoot: false };
  if (values !== undefined && values !== true && Object.keys(properties).length > 0) {
    const why = "additionalProperties and properties are mutual exclusive";
    errors.forbidden(`${path}.additionalProperties`, why);
  }
  if (typeof values === "object") {
    const why = "inside additionalProperties applying to object metadata";
    const how = where.isMeta ? { ...inside, noDefaults: why } : inside;
    checkKeywords(values, `${path}.additionalProperties`, errors, how);
  }
  for (const [key, field] of Object.entries(properties)) {
    const isMeta = (where.isRoot || schema["x-kubernetes-embedded-resource"] === true) && META_FIELDS.includes(key);
    const how = isMeta ? { ...inside, isMeta, ...(where.isRoot && { noDefaults: `in top-level ${key}` }) } : inside;
    checkKeywords(field, `${path}.properties[${key}]`, errors, how);
  }
  for (const [name, alternatives] of [
    ["allOf", schema.allOf],
    ["oneOf", schema.oneOf],
    ["anyOf", schema.anyOf],
  ] as const) {
    for (const [index, each] of alternatives?.entries() ?? [])
      checkKeywords(each, `${path}.${name}[${index}]`, errors, inside);
  }
  if (schema.not) checkKeywords(schema.not, `${path}.not`, errors, inside);
  const items = itemsOf(schema);
  if (items) checkKeywords(items, `${path}.items`, errors, inside);
  checkExtensions(schema, path, errors);
  checkRuleForms(schema, path, errors);
}

function checkSupported(schema: JsonSchema, path: string, errors: FieldErrors, { noDefaults, isMeta }: Where): void {
  if (schema.type && !TYPES.includes(schema.type)) errors.notSupported(`${path}.type`, schema.type, TYPES);
  if (schema.default !== undefined && noDefaults) errors.forbidden(`${path}.default`, `must not be set ${noDefaults}`);
  for (const keyword of [
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
  ] as const) {
    if (schema[keyword]) errors.forbidden(`${path}.${keyword}`, `${keyword} is not supported`);
  }
  if (schema.type === "null") {
    errors.forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative");
  }
  if (Array.isArray(schema.items)) errors.forbidden(`${path}.items`, "items must be a schema object and not an array");
  if (isMeta && schema["x-kubernetes-embedded-resource"]) {
    errors.forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta");
  }
}

function checkExtensions(schema: JsonSchema, path: string, errors: FieldErrors): void {
  const { type = "" } = schema;
  const [listType, mapType] = [schema["x-kubernetes-list-type"], schema["x-kubernetes-map-type"]];
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined");
  }
  const needsType = (wanted: string, extension: string) => {
    const why = `must be ${wanted} if ${extension} is specified`;
    if (type === "") errors.required(`${path}.type`, why);
    else if (type !== wanted) errors.invalid(`${path}.type`, type, why);
  };
  if (mapType !== undefined) {
    needsType("object", "x-kubernetes-map-type");
    if (!["atomic", "granular"].includes(mapType)) {
      errors.notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]);
    }
  }
  if (listType === undefined) {
    if (schema["x-kubernetes-list-map-keys"]?.length) {
      const why = "must be map if x-kubernetes-list-map-keys is non-empty";
      errors.required(`${path}.x-kubernetes-list-type`, why);
    }
    return;
  }
  needsType("array", "x-kubernetes-list-type");
  if (listType === "set" && type === "array") checkSetItems(schema, path, errors);
  if (!["atomic", "set", "map"].includes(listType)) {
    errors.notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]);
  }
  checkListMap(schema, listType, path, errors);
}

/** What is in a set is compared as a whole, so it must be written as a whole. */
function checkSetItems(schema: JsonSchema, path: string, errors: FieldErrors): void {
  const items = itemsOf(schema);
  const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const itemList = items?.["x-kubernetes-list-type"];
  if (items?.type === "array" && itemList !== undefined && itemList !== "atomic") {
    errors.invalid(`${path}.items.x-kubernetes-list-type`, itemList, why);
  }
  if (items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    errors.invalid(`${path}.items.x-kubernetes-map-type`, itemList ?? null, why);
  }
}

function checkListMap(schema: JsonSchema, listType: string, path: string, errors: FieldErrors): void {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const items = itemsOf(schema);
  if (keys.length > 0 && listType !== "map") {
    const why = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.invalid(`${path}.x-kubernetes-list-type`, listType, why);
  }
  if (listType === "map") {
    const field = `${path}.x-kubernetes-list-map-keys`;
    if (keys.length === 0) errors.required(field, "must not be empty if x-kubernetes-list-type is map");
    if (!schema.items) errors.required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map");
    if (items && items.type !== "object") {
      const why = "must be object if parent array's x-kubernetes-list-type is map";
      errors.invalid(`${path}.items.type`, items.type ?? "", why);
    }
    for (const [index, key] of items?.type === "object" ? keys.entries() : []) {
      const property = items?.properties?.[key];
      if (!property) errors.invalid(field, keys, "entries must all be names of item properties");
      else if (property.type === "array" || property.type === "object") {
        const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.invalid(`${path}.items.properties[${key}].type`, items.type, why);
      }
      if (keys.indexOf(key) < index) errors.invalid(field, keys, "must not contain duplicate entries");
    }
  }
  if (!items || !["set", "map"].includes(listType)) return;
  if (items.nullable) {
    errors.forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  }
  if (listType === "map") checkMapKeys(items, keys, path, errors);
}

function checkMapKeys(items: JsonSchema, keys: readonly string[], path: string, errors: FieldErrors): void {
  for (const key of keys) {
    const property = items.properties?.[key];
    if (!property) continue;
    const isGiven = items.required?.includes(key) || property.default !== undefined;
    const why = "this property is in x-kubernetes-list-map-keys, so it";
    if (!isGiven) {
      errors.required(
        `${path}.items.properties[${key}].default`,
        `${why} must have a default or be a required property`,
      );
    }
    if (property.nullable) errors.forbidden(`${path}.items.properties[${key}].nullable`, `${why} cannot be nullable`);
  }
}

function checkRuleForms(schema: JsonSchema, path: string, errors: FieldErrors): void {
  for (const [index, rule] of schema["x-kubernetes-validations"]?.entries() ?? []) {
    const place = `${path}.x-kubernetes-validations[${index}]`;
    const text = rule.rule.trim();
    const message = rule.message?.trim() ?? "";
    if (text === "") errors.required(`${place}.rule`, "rule is not specified");
    else if (rule.message && message === "") {
      errors.invalid(`${place}.message`, rule.message, "must be non-empty if specified");
    } else if (hasLines(message)) errors.invalid(`${place}.message`, rule.message, "must not contain line breaks");
    else if (hasLines(text) && message === "") {
      errors.required(`${place}.message`, "message must be specified if rule contains line breaks");
    }
    if (rule.messageExpression && rule.messageExpression.trim() === "") {
      errors.required(`${place}.messageExpression`, "messageExpression must be non-empty if specified");
    }
    if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
      errors.notSupported(`${place}.reason`, rule.reason, REASONS);
    }
    if (!rule.fieldPath) continue;
    if (rule.fieldPath.trim() === "") {
      errors.invalid(`${place}.fieldPath`, rule.fieldPath, "must be non-empty if specified");
    }
    if (hasLines(rule.fieldPath)) errors.invalid(`${place}.fieldPath`, rule.fieldPath, "must not contain line breaks");
    if (!isFieldPath(rule.fieldPath, schema))
      errors.invalid(`${place}.fieldPath`, rule.fieldPath, "must be a valid path");
  }
}

const hasLines = (text: string) => /[\r\n]/.test(text);
