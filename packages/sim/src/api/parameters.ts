/** The query of a request, read and checked. */
import type { Parameters } from "@berth/kube";
import { invalidObject } from "./field-errors.ts";
import { badRequest } from "./refusal.ts";
import type { FieldValidation } from "./write.ts";

export type Query = Parameters;

export function text(query: Query, name: string): string {
  const value = query[name];
  if (value === undefined) return "";
  return Array.isArray(value) ? String(value[0] ?? "") : String(value);
}

export function flag(query: Query, name: string): boolean {
  return ["true", "1"].includes(text(query, name));
}

/** `undefined` if it is not given. */
export function wholeNumber(query: Query, name: string): number | undefined {
  const given = text(query, name);
  if (given === "") return undefined;
  if (!/^-?\d+$/.test(given)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(given)}: invalid syntax`);
  return Number(given);
}

/** Nothing given counts as 0: any version will do. */
export function version(given: string): number {
  if (/^\d*$/.test(given)) return Number(given);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(given)}: invalid syntax`,
  );
}

/** Whether only to pretend; anything but "All" is refused. */
export function dryRun(asked: unknown, options: string): boolean {
  const values = (Array.isArray(asked) ? asked : [asked]).filter((each) => each !== undefined && each !== "");
  const wrong = values.filter((each) => each !== "All");
  if (wrong.length > 0) {
    const list = wrong.map((each) => JSON.stringify(each)).join(", ");
    throw invalidObject({ group: "meta.k8s.io", kind: options }, "", [
      {
        reason: "FieldValueNotSupported",
        message: `Unsupported value: [${list}]: supported values: "All"`,
        field: "dryRun",
      },
    ]);
  }
  return values.length > 0;
}

export function fieldValidation(query: Query, otherwise: FieldValidation): FieldValidation {
  const given = text(query, "fieldValidation");
  if (given === "") return otherwise;
  if (given === "Strict" || given === "Warn" || given === "Ignore") return given;
  throw invalidObject({ group: "meta.k8s.io", kind: "CreateOptions" }, "", [
    {
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(given)}: supported values: "", "Ignore", "Strict", "Warn"`,
      field: "fieldValidation",
    },
  ]);
}
