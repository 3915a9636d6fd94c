/**
 * From a zod schema to the structural schema of a custom resource definition.
 *
 * What Kubernetes cannot check in the same way is an error, with its path and what to write instead: a schema that is
 * silently weaker in the cluster than in the program is worse than one that does not exist.
 */
import { z } from "zod";
import { KubeError } from "../errors.ts";
import type { ValidationRule } from "../kinds/apiextensions-v1.ts";

/** The part of OpenAPI 3.0 that a custom resource definition may use. */
export interface StructuralSchema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  description?: string;
  format?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, StructuralSchema>;
  required?: string[];
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: { type: "integer" | "string" }[];
  "x-kubernetes-int-or-string"?: true;
  "x-kubernetes-preserve-unknown-fields"?: true;
  "x-kubernetes-embedded-resource"?: true;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: ValidationRule[];
}

/** Names the field, and what Kubernetes has against it. */
export function notStructural(path: string, message: string): KubeError {
  return new KubeError("KUBE_SCHEMA_NOT_STRUCTURAL", `${path || "the schema"}: ${message}`);
}

/** A number or a text, as Kubernetes' ports and percentages are: `8080` or `"http"`. */
export function intOrString() {
  return z.union([z.int(), z.string()]).meta({ "x-kubernetes-int-or-string": true });
}

/** Translates a zod schema; throws KUBE_SCHEMA_NOT_STRUCTURAL for whatever has no counterpart. */
export function toStructural(schema: z.ZodType, path: string): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input", // what people write, before defaults are filled in
    reused: "inline",
    cycles: "ref", // refused below, with a path
    unrepresentable: "any",
    override: ({ zodSchema, path: steps }) => checkZod(zodSchema, joined(path, steps)),
  }) as JsonSchema;
  return structural(json, path);
}

type JsonSchema = Record<string, unknown>;

/** Refuses what zod checks in the program, and leaves out of its JSON schema without a word. */
function checkZod(schema: z.core.$ZodTypes, path: string): void {
  const { def } = schema._zod;
  const refuse = (what: string, instead: string): never => {
    throw notStructural(path, `${what} cannot be checked by Kubernetes; ${instead}`);
  };
  const checks = "checks" in def ? (def.checks ?? []) : [];
  if (checks.some((check) => check._zod.def.check === "custom")) {
    refuse("a refinement", 'write a CEL rule instead: .meta({ "x-kubernetes-validations": [{ rule, message }] })');
  }
  switch (def.type) {
    case "pipe":
    case "transform":
    case "catch":
      refuse("a transformation", "keep what people write, and transform it in the program");
      break;
    case "record":
      if (def.keyType._zod.def.type !== "string" || (def.keyType._zod.def.checks?.length ?? 0) > 0) {
        refuse("a restriction of a map's keys", "write a CEL rule instead");
      }
      break;
    case "bigint":
    case "date":
    case "map":
    case "set":
    case "symbol":
    case "undefined":
    case "void":
    case "never":
    case "nan":
    case "function":
    case "promise":
    case "file":
      refuse(`the type ${def.type}`, "only what JSON has can be stored");
  }
}

/** Keywords that mean the same in a custom resource definition. */
const KEPT = [
  ...["type", "description", "format", "nullable", "default", "enum", "required"],
  ...["minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minItems", "maxItems", "minProperties", "maxProperties"],
];
const EXTENSIONS = [
  ...["int-or-string", "preserve-unknown-fields", "embedded-resource", "list-type", "list-map-keys", "map-type"],
  "validations",
].map((name) => `x-kubernetes-${name}`);

function structural(json: JsonSchema, path: string): StructuralSchema {
  if (json["x-kubernetes-int-or-string"]) return intOrStringSchema(json);
  const result: JsonSchema = {};
  for (const [keyword, value] of Object.entries(json)) {
    if (KEPT.includes(keyword) || EXTENSIONS.includes(keyword)) result[keyword] = value;
    else if (!TRANSLATED.includes(keyword)) refuseKeyword(keyword, path);
  }
  if (typeof json.pattern === "string") checkPattern(json.pattern, path);
  if (json.type === "integer") useInt64(result);
  if (json.items !== undefined) result.items = structural(json.items as JsonSchema, `${path}[]`);
  if (json.properties !== undefined) {
    const entries = Object.entries(json.properties as Record<string, JsonSchema>);
    result.properties = Object.fromEntries(entries.map(([key, value]) => [key, structural(value, `${path}.${key}`)]));
  }
  useAdditionalProperties(json, result, path);
  if (json.type === undefined) useAnything(json, result, path);
  return result as StructuralSchema;
}

/** Translated below, or of no consequence; definitions are refused where something refers to them. */
const TRANSLATED = ["properties", "additionalProperties", "items", "$schema", "id", "title", "definitions", "$defs"];

function refuseKeyword(keyword: string, path: string): never {
  const instead: Record<string, string> = {
    anyOf: "make the alternatives optional fields, with a CEL rule that exactly one is set",
    oneOf: "make the alternatives optional fields, with a CEL rule that exactly one is set",
    allOf: "write one object that has all fields",
    $ref: "a schema cannot contain itself; let that part be z.unknown()",
    not: "write a CEL rule instead",
  };
  throw notStructural(path, `"${keyword}" is not structural; ${instead[keyword] ?? "leave it out"}`);
}

function intOrStringSchema(json: JsonSchema): StructuralSchema {
  const { description } = json as { description?: string };
  return {
    ...(description !== undefined && { description }),
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  };
}

/** zod limits whole numbers to those that JavaScript can count; Kubernetes has 64 bits and says so with a format. */
function useInt64(result: JsonSchema): void {
  if (result.minimum === Number.MIN_SAFE_INTEGER) delete result.minimum;
  if (result.maximum === Number.MAX_SAFE_INTEGER) delete result.maximum;
  const is32 = result.minimum === -(2 ** 31) && result.maximum === 2 ** 31 - 1;
  if (is32) {
    delete result.minimum;
    delete result.maximum;
  }
  result.format = is32 ? "int32" : "int64";
}

function useAdditionalProperties(json: JsonSchema, result: JsonSchema, path: string): void {
  const extra = json.additionalProperties;
  // Unknown fields are dropped by the API server, or refused if the client asks for it: `false` says nothing new.
  if (extra === undefined || extra === false) return;
  if (isEmpty(extra)) result["x-kubernetes-preserve-unknown-fields"] = true;
  else if (json.properties !== undefined && !isEmpty(json.properties)) {
    throw notStructural(path, "a map cannot have named fields as well; put the map into a field of its own");
  } else {
    delete result.properties;
    result.additionalProperties = structural(extra as JsonSchema, `${path}[*]`);
  }
}

/** `z.unknown()` and `z.any()`: whatever it is, it is kept as it is. */
function useAnything(json: JsonSchema, result: JsonSchema, path: string): void {
  const says = Object.keys(json).filter(
    (keyword) => !["description", "default", "nullable", "$schema"].includes(keyword),
  );
  if (says.some((keyword) => !keyword.startsWith("x-kubernetes-"))) {
    throw notStructural(path, `it has no type, only ${says.join(", ")}; use one type for all values`);
  }
  result["x-kubernetes-preserve-unknown-fields"] = true;
}

/** Kubernetes' regular expressions are Go's, which know neither look-around nor references back. */
function checkPattern(pattern: string, path: string): void {
  const strange = pattern.match(/\(\?<?[=!]|\\[1-9]|\\k</)?.[0];
  if (strange)
    throw notStructural(path, `the pattern ${pattern} has "${strange}", which Go's regular expressions lack`);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** "spec" + ["properties", "slots", "items"] → "spec.slots[]". */
function joined(root: string, steps: readonly (string | number)[]): string {
  let path = root;
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index];
    if (step === "properties") path += `.${steps[++index]}`;
    else if (step === "items") path += "[]";
    else if (step === "additionalProperties") path += "[*]";
  }
  return path;
}
