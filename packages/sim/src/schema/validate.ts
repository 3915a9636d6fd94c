/**
 * Whether a custom resource's object is as its definition says: types and limits, embedded resources, lists that are sets
 * or maps, and rules in CEL. In the order and in the words of the real server.
 */
import type { FieldErrors } from "../api/field-errors.ts";
import { type AnyObject, isObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import type { Cause } from "./causes.ts";
import { checkRules } from "./cel/check.ts";
import { rulePlan } from "./cel/rules.ts";
import { checkEmbedded } from "./embedded.ts";
import { checkListTypes } from "./list-types.ts";
import { check } from "./openapi-check.ts";

/** What makes rules pointless: they are written for objects of the right shape. */
const BLOCKING = new Set([
  ...[
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
  ],
]);

/** Adds what is wrong. @param before - The object as it was, if this is a change. */
export function validateBySchema(
  object: AnyObject,
  before: AnyObject | undefined,
  { schema, custom }: Resource,
  errors: FieldErrors,
): void {
  const found: Cause[] = [];
  check(object, schema, { path: "", old: before }, found);
  errors.causes.push(...found);
  if (custom?.scale) checkScale(object, custom.scale, errors);
  checkEmbedded(object, schema, "", errors);
  checkListTypes(object, schema, "", errors);
  const plan = rulePlan(schema);
  if (!plan) return;
  if (errors.causes.some(({ reason }) => BLOCKING.has(reason))) {
    const why =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    errors.invalid("<nil>", null, why);
  } else checkRules(object, before, plan, "", errors);
}

function checkScale(object: AnyObject, scale: Readonly<Record<string, string | undefined>>, errors: FieldErrors): void {
  for (const path of [scale.specReplicas, scale.statusReplicas]) {
    if (path === undefined) continue;
    const { value, wrong } = valueAt(object, path);
    const type = wrong ? "map[string]interface{}" : "int64";
    if (wrong || (value !== undefined && !Number.isInteger(value))) {
      errors.invalid(
        path,
        0,
        `${path} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${type}`,
      );
    } else if (Number(value) < 0) errors.invalid(path, value, "should be a non-negative integer");
    else if (Number(value) >= 2 ** 31) errors.invalid(path, value, `should be less than or equal to ${2 ** 31 - 1}`);
  }
}

/** What is at ".spec.replicas"; `wrong` if something on the way there has no fields. */
function valueAt(object: AnyObject, path: string): { readonly value: unknown; readonly wrong?: boolean } {
  let value: unknown = object;
  for (const step of stepsOf(path)) {
    if (value === undefined) return { value };
    if (!isObject(value)) return { value, wrong: true };
    value = Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return { value };
}

const known = new Map<string, readonly string[]>();

/** Few paths, and each again with every write. */
function stepsOf(path: string): readonly string[] {
  let steps = known.get(path);
  if (!steps) {
    steps = path.split(".").slice(1);
    if (known.size < 1000) known.set(path, steps);
  }
  return steps;
}

/** As Go prints it in passing. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const entries = Object.entries(value).map(([key, each]) => `${key}:${goText(each)}`);
  return `map[${entries.sort().join(" ")}]`;
}

function goType(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}
