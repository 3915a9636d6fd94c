/** Texts, numbers and truth values as the real server reads them, and in the form in which it writes them again. Pure. */
import { kubernetesTime, Quantity } from "@berth/kube";
import type { SchemaNode } from "./schema.ts";

/** What a client sent cannot be read at all. In the words of Go, since it is Go that the real server's clients hear. */
export class Unreadable extends Error {}

/** Says that a value is of another type than it must be. */
export const WRONG_TYPE = Symbol("wrong type");

/** What a value is as a scalar of a schema: `undefined` if it is nothing, since what is empty may count as nothing. */
export function scalarIn(value: unknown, { type, format, empty }: SchemaNode): unknown {
  switch (type) {
    case "string":
      if (format === "quantity") return quantityIn(value);
      if (typeof value !== "string") return WRONG_TYPE;
      if (format === "date-time") return timeIn(value);
      if (format === "micro-time") return microTimeIn(value);
      if (format === "byte") return bytesIn(value) || (empty ? undefined : "");
      return value === "" && empty === "dropped" ? undefined : value;
    case "integer":
      if (typeof value !== "number" || !isWhole(value, format)) return WRONG_TYPE;
      return value === 0 && empty === "dropped" ? undefined : value;
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value)) return WRONG_TYPE;
      return value === 0 && empty === "dropped" ? undefined : value;
    case "boolean":
      if (typeof value !== "boolean") return WRONG_TYPE;
      return value || empty !== "dropped" ? value : undefined;
    case "intOrString":
      return typeof value === "string" || isWhole(value, "int32") ? value : WRONG_TYPE;
    default:
      return WRONG_TYPE;
  }
}

function isWhole(value: unknown, format: string | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  const number = value as number;
  return format === "int32" ? number >= -(2 ** 31) && number < 2 ** 31 : number >= -(2 ** 63) && number <= 2 ** 63;
}

/** Nearly all that come are canonical already: small whole numbers, a suffix or none. */
const CANONICAL = /^(0|[1-9]\d{0,2}(m|k|M|G|Ki|Mi|Gi)?)$/;

/** The same few come again and again. */
const quantities = new Map<string, string>();

function quantityIn(value: unknown): string {
  // Whatever it is, Go looks at how it is written.
  const text = typeof value === "object" ? JSON.stringify(value) : String(value).trim();
  if (CANONICAL.test(text)) return text;
  const known = quantities.get(text);
  if (known !== undefined) return known;
  const canonical = keepsForm(text) ? text : canonicalQuantity(text);
  if (quantities.size < 10_000) quantities.set(text, canonical);
  return canonical;
}

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_EXPONENTS: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const QUANTITY = /^[+-]?0*(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([a-zA-Z]*))$/;

/**
 * Whether the real server writes a quantity again as it was given. It takes a quick look at whether it is canonical, which
 * lets some pass that are not: "+3", "007", "1.500".
 */
function keepsForm(text: string): boolean {
  const [, whole = "", fraction = "", power, suffix = ""] = text.match(QUANTITY) ?? [];
  const digits = `${whole || "0"}${fraction}`;
  const binary = BINARY_EXPONENTS[suffix];
  if (binary !== undefined) {
    const fits = 15 - digits.length - Math.trunc((binary * 3) / 10) - 1 >= 0;
    return fraction === "" && fits && (Number(digits) & 7) !== 0;
  }
  const exponent = power === undefined ? DECIMAL_EXPONENTS[suffix] : Number(power);
  if (exponent === undefined || !QUANTITY.test(text) || digits.length > 18) return false;
  const scale = exponent - fraction.length;
  return scale >= -9 && scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

function canonicalQuantity(text: string): string {
  try {
    return Quantity.parse(text).toString();
  } catch {
    const form = "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    throw new Unreadable(`quantities must match the regular expression ${form}`);
  }
}

const TIME = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;
/** The beginning of time, which in Go is no time at all. */
const NO_TIME = "0001-01-01T00:00:00Z";

/** What moment a text is, if it is one as the real server reads them; otherwise NaN. */
export function momentOf(text: string): number {
  return TIME.test(text) && hasDay(text) ? Date.parse(text.replace(",", ".")) : Number.NaN;
}

/** Canonical times that came before: whoever changes a status sends most of its times again. */
const times = new Set<string>();

/** To the second, in universal time. */
function timeIn(text: string): string | undefined {
  if (times.has(text)) return text;
  const milliseconds = momentOf(text);
  if (Number.isNaN(milliseconds)) throw noTime(text, "2006-01-02T15:04:05Z07:00");
  const time = text.length === NO_TIME.length ? text : kubernetesTime(milliseconds);
  if (time === NO_TIME) return undefined;
  if (times.size >= 1000) times.clear();
  times.add(time);
  return time;
}

/** JavaScript takes the 30th of February for the 1st of March. */
function hasDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day <= 28 || day <= new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
}

const MICRO_TIME = /^(\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d)\.(\d{6})(Z|[+-]\d\d:\d\d)$/;

/** To the microsecond, no more and no less. */
function microTimeIn(text: string): string | undefined {
  const [, seconds, micro, zone] = text.match(MICRO_TIME) ?? [];
  const milliseconds = seconds === undefined ? Number.NaN : Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds) || !hasDay(text)) throw noTime(text, "2006-01-02T15:04:05.000000Z07:00");
  if (zone === "Z") return text;
  return kubernetesTime(milliseconds).replace("Z", `.${micro}Z`);
}

function noTime(text: string, layout: string): Unreadable {
  return new Unreadable(`parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse it`);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Line breaks are allowed in there, and go. */
function bytesIn(text: string): string {
  const joined = text.replaceAll(/[\r\n]/g, "");
  if (!BASE64.test(joined)) throw new Unreadable("illegal base64 data at input byte 0");
  // The last bits before padding mean nothing, so there are several ways to write the same.
  return joined.endsWith("=") ? Buffer.from(joined, "base64").toString("base64") : joined;
}
