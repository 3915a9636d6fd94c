/**
 * Whether a value is as an OpenAPI schema says, in the words of the real server. Its validator is a library for OpenAPI in
 * general, whose errors name paths in their texts too, and tell of some things (alternatives) without any field.
 */
import { equal, isObject, type JsonObject } from "../api/json.ts";
import { type Cause, causes } from "./causes.ts";
import { correlated } from "./correlation.ts";
import { hasFormat } from "./formats.ts";
import { goRegExp } from "./go-regexp.ts";
import type { SchemaNode, Validation } from "./schema.ts";

/** The path of a value, and what was at this place before, if that can be told. */
export interface Place {
  readonly path: string;
  readonly old?: unknown;
}

/**
 * Adds what is wrong with a value, and says how much of it is right: of several alternatives the real server tells of the
 * one that came closest. What is wrong and was wrong before is let be, since people must be able to change the rest.
 */
export function check(value: unknown, node: SchemaNode, place: Place, found: Cause[]): number {
  const known = found.length;
  const right = checkNew(value, node, place, found);
  if (found.length > known && place.old !== undefined && equal(value, place.old)) found.length = known;
  return right;
}

function checkNew(value: unknown, node: SchemaNode, place: Place, found: Cause[]): number {
  const { validation = {} } = node;
  if (value === null) {
    const types = typesOf(node);
    const wrong = types.length > 0 && !node.nullable;
    if (wrong) found.push(causes.type(place.path, types.join(","), "null"));
    if (node.enum) found.push(causes.unsupported(place.path, value, node.enum));
    return wrong ? 0 : 1;
  }
  let right = 1 + checkType(value, node, place.path, found) + checkAlternatives(value, validation, place, found);
  if (typeof value === "string") right += checkString(value, node, validation, place.path, found);
  else if (typeof value === "number") right += checkNumber(value, node, validation, place.path, found);
  else if (Array.isArray(value)) right += checkArray(value, node, validation, place, found);
  else if (isObject(value)) right += checkObject(value, node, validation, place, found);
  if (node.enum && !node.enum.some((each) => equal(each, value))) {
    found.push(causes.unsupported(place.path, value, node.enum));
  }
  return right + 1;
}

/** The types that a value may have; any, if there are none. */
function typesOf({ type }: SchemaNode): readonly string[] {
  if (type === "any") return [];
  if (type === "intOrString") return ["integer", "string"];
  return [type === "map" ? "object" : type];
}

function typeOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return Array.isArray(value) ? "array" : typeof value;
}

function checkType(value: unknown, node: SchemaNode, path: string, found: Cause[]): number {
  const types = typesOf(node);
  const type = typeOf(value);
  if (types.length === 0) return 0;
  if (types.includes(type) || (type === "integer" && types.includes("number"))) return 2;
  const { format } = node;
  if (format !== undefined && type !== "string" && type !== "array") {
    found.push(causes.type(path, format, type === "integer" ? "int64" : type === "number" ? "float64" : ""));
  } else if (format === undefined || types.includes("number") || types.includes("integer")) {
    found.push(causes.type(path, types.join(","), type));
  } else {
    // A format makes the real server forget that a list is no text.
    return 2;
  }
  return 1;
}

function hasAlternatives({ anyOf, oneOf, allOf, not }: Validation): boolean {
  return (anyOf ?? oneOf ?? allOf ?? not) !== undefined;
}

function checkAlternatives(value: unknown, validation: Validation, place: Place, found: Cause[]): number {
  const { anyOf, oneOf, allOf, not } = validation;
  let right = 2;
  if (anyOf?.length) right += checkSome(value, anyOf, place, found, "any");
  if (oneOf?.length) right += checkSome(value, oneOf, place, found, "one");
  if (allOf?.length) {
    const results = allOf.map((each) => attempt(value, each, place));
    for (const result of results) {
      right += result.right;
      add(found, result.found);
    }
    const valid = results.filter((result) => result.found.length === 0).length;
    if (valid < allOf.length) {
      found.push(
        causes.unplaced(
          `${JSON.stringify(place.path)} must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`,
        ),
      );
    }
  }
  if (not && attempt(value, not, place).found.length === 0) {
    found.push(causes.unplaced(`${JSON.stringify(place.path)} must not validate the schema (not)`));
  }
  return right;
}

function checkSome(
  value: unknown,
  alternatives: readonly SchemaNode[],
  place: Place,
  found: Cause[],
  how: "any" | "one",
): number {
  const results = alternatives.map((each) => attempt(value, each, place));
  const valid = results.filter((result) => result.found.length === 0);
  if (how === "any" ? valid.length > 0 : valid.length === 1) return valid[0]?.right ?? 0;
  const path = JSON.stringify(place.path);
  const number = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  const text = how === "any" ? "at least one schema (anyOf)" : `one and only one schema (oneOf). ${number}`;
  found.push(causes.unplaced(`${path} must validate ${text}`));
  if (valid.length > 0) return 0;
  const best = results.reduce((first, second) => (second.right > first.right ? second : first));
  add(found, best.found);
  return best.right;
}

function attempt(value: unknown, node: SchemaNode, place: Place) {
  const found: Cause[] = [];
  const right = checkNew(value, node, place, found);
  return { found, right };
}

/** Adds what is not there yet. */
function add(found: Cause[], more: readonly Cause[]): void {
  for (const cause of more) {
    if (!found.some(({ field, message }) => field === cause.field && message === cause.message)) found.push(cause);
  }
}

function checkString(value: string, node: SchemaNode, validation: Validation, path: string, found: Cause[]): number {
  const { maxLength, minLength, pattern } = validation;
  const wrong = () => {
    if (maxLength !== undefined && lengthOf(value) > maxLength) return causes.tooLong(path, maxLength);
    if (minLength !== undefined && lengthOf(value) < minLength) {
      return causes.invalid(path, value, `should be at least ${minLength} chars long`);
    }
    if (pattern && goRegExp(pattern)?.test(value) === false) {
      return causes.invalid(path, value, `should match '${pattern}'`);
    }
    return undefined;
  };
  const first = wrong();
  if (first) found.push(first);
  if (node.format === undefined) return 1;
  if (!hasFormat(value, node.format)) found.push(causes.type(path, node.format, value));
  return 2;
}

/** In characters as people count them. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function checkNumber(value: number, node: SchemaNode, validation: Validation, path: string, found: Cause[]): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = validation;
  if (node.type === "integer" && !isInRange(value, node.format)) {
    const format = node.format === undefined ? "(default format)" : `with format ${node.format}`;
    found.push(causes.unplaced(`Checked value must be of type integer ${format} in ${path}`));
  }
  // To the real server whole numbers have whole limits.
  const limit = (given: number) => (Number.isInteger(value) ? Math.trunc(given) : given);
  if (multipleOf !== undefined) checkMultiple(value, limit(multipleOf), path, found);
  if (minimum !== undefined) {
    const least = limit(minimum);
    const isRight = exclusiveMinimum ? value > least : value >= least;
    const than = exclusiveMinimum ? "" : "or equal to ";
    if (!isRight) found.push(causes.invalid(path, value, `should be greater than ${than}${least}`));
  }
  if (maximum !== undefined) {
    const most = limit(maximum);
    const isRight = exclusiveMaximum ? value < most : value <= most;
    const than = exclusiveMaximum ? "" : "or equal to ";
    if (!isRight) found.push(causes.invalid(path, value, `should be less than ${than}${most}`));
  }
  return 2;
}

function checkMultiple(value: number, factor: number, path: string, found: Cause[]): void {
  if (factor <= 0) found.push(causes.badFactor(path, factor));
  else if (!Number.isInteger(factor < 1 ? (1 / factor) * value : value / factor)) {
    found.push(causes.invalid(path, value, `should be a multiple of ${factor}`));
  }
}

function isInRange(value: number, format: string | undefined): boolean {
  return Number.isInteger(value) && (format !== "int32" || (value >= -(2 ** 31) && value < 2 ** 31));
}

function checkArray(value: readonly unknown[], node: SchemaNode, validation: Validation, place: Place, found: Cause[]) {
  const { minItems, maxItems, uniqueItems } = validation;
  const { path } = place;
  let right = 2;
  if (node.element && node.type !== "map") {
    const oldItem = correlated(place.old, node);
    for (const [index, item] of value.entries()) {
      right += check(item, node.element, { path: `${path}[${index}]`, old: oldItem(item) }, found);
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    found.push(causes.invalid(path, value.length, `should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) found.push(causes.tooMany(path, value.length, maxItems));
  if (uniqueItems && value.some((item, index) => value.findIndex((other) => equal(item, other)) < index)) {
    found.push(causes.invalid(path, "", "shouldn't contain duplicates"));
  }
  return right;
}

function checkObject(
  value: JsonObject,
  node: SchemaNode,
  validation: Validation,
  place: Place,
  found: Cause[],
): number {
  const { minProperties, maxProperties } = validation;
  const { path } = place;
  const old = isObject(place.old) ? place.old : undefined;
  const oldField = (key: string) => (old && Object.hasOwn(old, key) ? old[key] : undefined);
  // Of a whole object what is the very same as before may stay so, whatever it is; how much of it is right nobody asks there.
  const isWhole = path === "" && !hasAlternatives(validation);
  let right = 1;
  if (minProperties !== undefined || maxProperties !== undefined) {
    const size = Object.keys(value).length;
    if (minProperties !== undefined && size < minProperties) {
      found.push(causes.invalid(path, size, `should have at least ${minProperties} properties`));
    }
    if (maxProperties !== undefined && size > maxProperties) found.push(causes.tooMany(path, size, maxProperties));
  }
  if (node.type === "map" && node.element) {
    for (const key in value) {
      right += check(value[key], node.element, { path: `${path}.${key}`, old: oldField(key) }, found);
    }
  }
  for (const key in node.fields) {
    if (!Object.hasOwn(value, key)) continue;
    if (isWhole && isObject(value[key]) && value[key] === oldField(key)) continue;
    const field = path === "" ? key : `${path}.${key}`;
    right += check(value[key], node.fields[key] as SchemaNode, { path: field, old: oldField(key) }, found);
  }
  for (const key of node.required ?? []) {
    if (!Object.hasOwn(value, key)) found.push(causes.required(path === "" ? key : `${path}.${key}`));
  }
  return right;
}
