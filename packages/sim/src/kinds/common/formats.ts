/** What ports, keys, headers, percentages and the like may look like, worded as the API server words it. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems, qualifiedNameProblems } from "../../api/names.ts";

export const INT32 = 2 ** 31 - 1;

export const within = (low: number, high: number) => `must be between ${low} and ${high}, inclusive`;

/** What a lower-case label must look like: the names of containers, volumes, ports. */
export function checkLabel(value: string, field: string, errors: FieldErrors): void {
  for (const problem of nameProblems(value, "label")) errors.invalid(field, value, problem);
}

/** What the name of an object must look like, where somebody refers to it. */
export function checkSubdomain(value: string, field: string, errors: FieldErrors): void {
  for (const problem of nameProblems(value, "subdomain")) errors.invalid(field, value, problem);
}

/** What the key of a label must look like: "name" or "example.org/name". */
export function checkQualified(value: string, field: string, errors: FieldErrors): void {
  for (const problem of qualifiedNameProblems(value)) errors.invalid(field, value, problem);
}

export function checkNotNegative(value: number | undefined, field: string, errors: FieldErrors): void {
  if (value !== undefined && value < 0) errors.invalid(field, value, "must be greater than or equal to 0");
}

export function checkPositive(value: number | undefined, field: string, errors: FieldErrors): void {
  if ((value ?? 0) <= 0) errors.invalid(field, value ?? 0, "must be greater than zero");
}

/** One of a few texts; nothing is taken for "". */
export function checkOneOf(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!supported.includes(value ?? "")) errors.notSupported(field, value ?? "", supported);
}

/** The same for a field that must be there. */
export function checkChoice(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!value) errors.required(field);
  else if (!supported.includes(value)) errors.notSupported(field, value, supported);
}

/** A field that must be what it was. */
export function checkUnchanged(same: boolean, value: unknown, field: string, errors: FieldErrors): void {
  if (!same) errors.invalid(field, value ?? null, "field is immutable");
}

export const isPort = (port: number) => port >= 1 && port <= 65535;

export function checkPort(port: number | undefined, field: string, errors: FieldErrors): void {
  if (!isPort(port ?? 0)) errors.invalid(field, port ?? 0, within(1, 65535));
}

/** The number of a port, or the name that a container gives it. */
export function checkPortOrName(port: number | string | undefined, field: string, errors: FieldErrors): void {
  if (typeof port !== "string") checkPort(port, field, errors);
  else for (const problem of portNameProblems(port)) errors.invalid(field, port, problem);
}

const PORT_NAME = /^[-a-z0-9]+$/;
const A_LETTER = /[a-z]/;

export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!PORT_NAME.test(name)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!A_LETTER.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const CONFIG_KEY_WORDS =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** A key of a ConfigMap or Secret. */
export function configKeyProblems(key: string): string[] {
  const problems: string[] = [];
  if (key.length > 253) problems.push("must be no more than 253 characters");
  if (!CONFIG_KEY.test(key)) problems.push(CONFIG_KEY_WORDS);
  if (key === "." || key === "..") problems.push(`must not be '${key}'`);
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

const PRINTABLE = /^[\x20-\x7e]*$/;

/** The name of an environment variable. */
export function variableProblems(name: string): string[] {
  if (name === "") return ["environment variable name must be non-empty"];
  if (PRINTABLE.test(name) && !name.includes("=")) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const HEADER = /^[-A-Za-z0-9]+$/;

export function headerProblems(name: string): string[] {
  if (HEADER.test(name)) return [];
  return [
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for " +
      "validation is '[-A-Za-z0-9]+')",
  ];
}

const PERCENT = /^[0-9]+%$/;
const PERCENT_WORDS =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for " +
  "validation is '[0-9]+%')";

/** A number that is not negative, or a percentage: how many pods may be away, or more than wanted. */
export function checkCountOrPercent(value: number | string, field: string, errors: FieldErrors): void {
  if (typeof value === "number") checkNotNegative(value, field, errors);
  else if (!PERCENT.test(value)) errors.invalid(field, value, PERCENT_WORDS);
}

/** What a percentage says, or `undefined` of what is none. */
export function percentOf(value: number | string | undefined): number | undefined {
  return typeof value === "string" && PERCENT.test(value) ? Number(value.slice(0, -1)) : undefined;
}
