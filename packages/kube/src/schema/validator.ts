/** Checks objects against a structural schema as the API server would, rules in CEL excepted. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { StructuralSchema } from "./structural.ts";

/** One thing that is wrong with an object. */
export interface Violation {
  /** Where: "spec.slots[0].name". */
  readonly path: string;
  readonly message: string;
}

/** What is wrong with a value; empty if nothing is. */
export type Validator = (value: unknown) => Violation[];

/** Compiles a schema. Unknown fields are reported too, as the API server does with `fieldValidation=Strict`. */
export function compileValidator(schema: StructuralSchema): Validator {
  // Compiled when it is first needed: a program that only reads never needs it.
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= new Ajv({ allErrors: true, strict: false, validateFormats: false }).compile(forAjv(schema));
    if (validate(value)) return [];
    return (validate.errors ?? []).map(violation);
  };
}

/** OpenAPI 3.0's dialect in today's JSON Schema. */
function forAjv(schema: StructuralSchema): object {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, properties, items, additionalProperties, ...rest } =
    schema;
  const isClosed = schema.type === "object" && !additionalProperties && !schema["x-kubernetes-preserve-unknown-fields"];
  return {
    ...rest,
    ...(minimum !== undefined && { [exclusiveMinimum ? "exclusiveMinimum" : "minimum"]: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum ? "exclusiveMaximum" : "maximum"]: maximum }),
    ...(items && { items: forAjv(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, forAjv(value)])),
    }),
    ...(additionalProperties && { additionalProperties: forAjv(additionalProperties) }),
    ...(isClosed && { additionalProperties: false }),
  };
}

function violation({ instancePath, message = "is invalid", keyword, params }: ErrorObject): Violation {
  const steps = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keyword === "additionalProperties")
    return { path: pathText([...steps, params.additionalProperty]), message: "is unknown" };
  if (keyword === "required") return { path: pathText([...steps, params.missingProperty]), message: "is required" };
  if (keyword === "enum")
    return { path: pathText(steps), message: `must be one of ${params.allowedValues.join(", ")}` };
  return { path: pathText(steps), message };
}

function pathText(steps: readonly string[]): string {
  return steps.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}
