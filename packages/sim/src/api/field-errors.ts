/** What is wrong with an object, field by field, worded as the real API server words it. */
import type { Kind, StatusCause } from "@berth/kube";
import { Refusal } from "./refusal.ts";

/** Collects what is wrong, so that somebody hears of everything at once. */
export class FieldErrors {
  readonly causes: { reason: string; message: string; field: string }[] = [];

  get found(): boolean {
    return this.causes.length > 0;
  }

  /** A field that must be there is not. */
  required(field: string, why = ""): void {
    this.#add("FieldValueRequired", field, `Required value${why && `: ${why}`}`);
  }

  /** A field must not have this value. */
  invalid(field: string, value: unknown, why: string): void {
    this.#add("FieldValueInvalid", field, `Invalid value: ${shown(value)}: ${why}`);
  }

  /** The same where the value would say nothing. */
  invalidValue(field: string, why: string): void {
    this.#add("FieldValueInvalid", field, `Invalid value: ${why}`);
  }

  /** A field has none of the values that it may have. */
  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    const list = supported.map((each) => JSON.stringify(each)).join(", ");
    this.#add("FieldValueNotSupported", field, `Unsupported value: ${shown(value)}: supported values: ${list}`);
  }

  /** A field must not be there, or not be changed. */
  forbidden(field: string, why: string): void {
    this.#add("FieldValueForbidden", field, `Forbidden: ${why}`);
  }

  duplicate(field: string, value: unknown, why = ""): void {
    this.#add("FieldValueDuplicate", field, `Duplicate value: ${shown(value)}${why && `: ${why}`}`);
  }

  tooLong(field: string, limit: number): void {
    this.#add("FieldValueTooLong", field, `Too long: may not be more than ${limit} ${limit === 1 ? "byte" : "bytes"}`);
  }

  tooMany(field: string, count: number, limit: number): void {
    this.#add(
      "FieldValueTooMany",
      field,
      `Too many: ${count}: must have at most ${limit} ${limit === 1 ? "item" : "items"}`,
    );
  }

  /** A field refers to what is not there. */
  notFound(field: string, value: unknown, why = ""): void {
    this.#add("FieldValueNotFound", field, `Not found: ${shown(value)}${why && `: ${why}`}`);
  }

  /** A field has a value of another type than it must have. */
  typeInvalid(field: string, value: unknown, why: string): void {
    this.#add("FieldValueTypeInvalid", field, `Invalid value: ${shown(value)}: ${why}`);
  }

  /** Something could not even be checked. */
  internal(field: string, why: string): void {
    this.#add("InternalError", field, `Internal error: ${why}`);
  }

  /** Refuses the object if anything is wrong with it. */
  throwIfAny(kind: Pick<Kind, "group" | "kind">, name: string): void {
    if (this.found) throw invalidObject(kind, name, this.causes);
  }

  #add(reason: string, field: string, message: string): void {
    this.causes.push({ reason, message, field });
  }
}

/** `Pod "x" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: must be 2]` */
export function invalidObject(
  { group, kind }: Pick<Kind, "group" | "kind">,
  name: string,
  causes: readonly StatusCause[],
): Refusal {
  const each = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const list = each.length === 1 ? each[0] : `[${each.join(", ")}]`;
  const message = `${group ? `${kind}.${group}` : kind} ${JSON.stringify(name)} is invalid: ${list}`;
  const details = { ...(name && { name }), ...(group && { group }), kind, causes };
  return new Refusal(422, "Invalid", message, { details });
}

/** As Go prints a value with %#v in these messages: text quoted, objects as JSON. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return typeof value === "object"
    ? JSON.stringify(value)
    : typeof value === "string"
      ? JSON.stringify(value)
      : `${value}`;
}
