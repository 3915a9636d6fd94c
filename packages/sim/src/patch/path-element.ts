/**
 * One step of a path into an object, as text: "f:name" is a field, `k:{"name":"a"}` the item of a list with these keys,
 * `v:"a"` the item of a list that is this value, "i:0" the item at this index. It is the form that `fieldsV1` has, and two
 * elements are the same if their texts are.
 */
import { isObject } from "../api/json.ts";

export type PathElement = string;
export type Path = readonly PathElement[];

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: unknown): PathElement {
  return `v:${jsonText(value)}`;
}

/** @param keys - Names and values. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  const sorted = keys.length < 2 ? keys : [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${sorted.map(([name, value]) => `${jsonText(name)}:${jsonText(value)}`).join(",")}}`;
}

/** The name of the field, if the element is one. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/**
 * An element in the form that all others have; `undefined` if it is of a kind that we do not know.
 *
 * @throws A `SyntaxError` if it is none at all.
 */
export function parsedElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new SyntaxError("key must be 2 characters long:");
  if (text[1] !== ":") throw new SyntaxError(`missing colon: ${text}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case "f":
      return text;
    case "v":
      return valueElement(JSON.parse(rest));
    case "k": {
      const keys: unknown = JSON.parse(rest);
      if (!isObject(keys)) throw new SyntaxError(`expected keys and values: ${rest}`);
      return keyElement(Object.entries(keys));
    }
    case "i":
      if (!/^[+-]?\d+$/.test(rest)) throw new SyntaxError(`strconv.Atoi: parsing ${JSON.stringify(rest)}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

/** A path as people read it: `.spec.containers[name="a"].image` */
export function shownPath(path: Path): string {
  return path.map(shownElement).join("");
}

function shownElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "v":
      return `[=${shownValue(JSON.parse(rest))}]`;
    case "k": {
      const keys = Object.entries(JSON.parse(rest) as object);
      return `[${keys.map(([name, value]) => `${name}=${shownValue(value)}`).join(",")}]`;
    }
    default:
      return `[${rest}]`;
  }
}

function shownValue(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

const KINDS = "fkvi";

/** The order in which the real server has elements: fields, then keys, values, indices. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = a.charAt(0);
  if (kind !== b.charAt(0)) return KINDS.indexOf(kind) - KINDS.indexOf(b.charAt(0));
  const [left, right] = [a.slice(2), b.slice(2)];
  if (kind === "f") return left < right ? -1 : 1;
  if (kind === "i") return Number(left) - Number(right);
  if (kind === "v") return compareValues(JSON.parse(left), JSON.parse(right));
  const [leftKeys, rightKeys] = [Object.entries(JSON.parse(left)), Object.entries(JSON.parse(right))];
  for (const [index, [name, value]] of leftKeys.entries()) {
    const other = rightKeys[index];
    if (!other) return 1;
    if (name !== other[0]) return name < other[0] ? -1 : 1;
    const order = compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return leftKeys.length - rightKeys.length;
}

const RANKS: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2 };

/** Numbers before texts before booleans before everything else. */
function compareValues(a: unknown, b: unknown): number {
  const ranks = (RANKS[typeof a] ?? 3) - (RANKS[typeof b] ?? 3);
  if (ranks !== 0) return ranks;
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a), String(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

const SPECIAL = /[<>&\u2028\u2029]/;

/** JSON as Go writes it: what has a meaning in HTML is escaped. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (!SPECIAL.test(text)) return text;
  return text.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
