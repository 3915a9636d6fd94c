/** What Kubernetes adds to lists and texts. */
import type { Environment } from "@marcbachmann/cel-js";
import { goRegExp } from "../go-regexp.ts";
import { compared, sameValue } from "./values.ts";

/** Sets are lists as well. */
type List = Iterable<unknown>;

export function registerCollections(env: Environment): void {
  registerLists(env);
  registerOrder(env);
  registerTexts(env);
  env
    .registerConstant("sets", "sets.Sets", new Sets())
    .registerFunction("sets.Sets.contains(list, list): bool", (_: Sets, all: List, some: List) => isSubset(some, all))
    .registerFunction(
      "sets.Sets.equivalent(list, list): bool",
      (_: Sets, a: List, b: List) => isSubset(a, b) && isSubset(b, a),
    )
    .registerFunction("sets.Sets.intersects(list, list): bool", (_: Sets, a: List, b: List) =>
      [...a].some((each) => includes(b, each)),
    );
}

class Sets {}

function registerLists(env: Environment): void {
  env.registerType("sets.Sets", { ctor: Sets, fields: {} });
  env.registerFunction("list.isSorted(): bool", (list: List) =>
    [...list].every((item, index, items) => index === 0 || compared(items[index - 1], item) <= 0),
  );
  for (const type of ["int", "double"]) {
    env.registerFunction(`list<${type}>.sum(): ${type}`, (list: List) =>
      ([...list] as bigint[]).reduce((a, b) => a + b, (type === "int" ? 0n : 0) as bigint),
    );
  }
  for (const type of ["int", "double", "string", "bool"]) {
    env.registerFunction(`list<${type}>.min(): ${type}`, (list: List) => extreme(list, "min"));
    env.registerFunction(`list<${type}>.max(): ${type}`, (list: List) => extreme(list, "max"));
  }
  env.registerFunction("list.indexOf(dyn): int", (list: List, item: unknown) =>
    BigInt([...list].findIndex((each) => sameValue(each, item))),
  );
  env.registerFunction("list.lastIndexOf(dyn): int", (list: List, item: unknown) =>
    BigInt([...list].findLastIndex((each) => sameValue(each, item))),
  );
}

function registerOrder(env: Environment): void {
  env.registerFunction("list<T>.reverse(): list<T>", (list: List) => [...list].reverse());
  env.registerFunction("list<T>.sort(): list<T>", (list: List) => [...list].sort(compared));
  env.registerFunction("list<T>.distinct(): list<T>", (list: List) =>
    [...list].filter((item, index, items) => items.findIndex((other) => sameValue(item, other)) === index),
  );
  env.registerFunction("list<T>.slice(int, int): list<T>", (list: List, start: bigint, end: bigint) => {
    const items = [...list];
    if (start < 0n || end > BigInt(items.length) || start > end) {
      throw new Error(`cannot slice(${start}, ${end}), negative indexes not supported`);
    }
    return items.slice(Number(start), Number(end));
  });
}

function extreme(list: List, which: "min" | "max"): unknown {
  const items = [...list];
  if (items.length === 0) throw new Error(`${which} called on empty list`);
  return items.reduce((a, b) => (compared(a, b) < 0 === (which === "min") ? a : b));
}

const includes = (list: List, item: unknown) => [...list].some((each) => sameValue(each, item));
const isSubset = (some: List, all: List) => [...some].every((item) => includes(all, item));

function registerTexts(env: Environment): void {
  env.registerFunction(
    "string.find(string): string",
    (text: string, pattern: string) => matchesOf(text, pattern)[0] ?? "",
  );
  env.registerFunction("string.findAll(string): list<string>", matchesOf);
  env.registerFunction("string.findAll(string, int): list<string>", (text: string, pattern: string, limit: bigint) => {
    const found = matchesOf(text, pattern);
    return limit < 0n ? found : found.slice(0, Number(limit));
  });
  env.registerFunction("string.charAt(int): string", (text: string, index: bigint) => {
    const letters = [...text];
    if (index < 0n || index > BigInt(letters.length)) throw new Error(`index out of range: ${index}`);
    return letters[Number(index)] ?? "";
  });
  env.registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
  env.registerFunction(
    "string.replace(string, string, int): string",
    (text: string, from: string, to: string, limit: bigint) => {
      if (limit < 0n) return text.replaceAll(from, () => to);
      let left = limit;
      return text.replaceAll(from, (found) => (left-- > 0n ? to : found));
    },
  );
  env.registerFunction("string.format(list): string", (text: string, values: List) => formatted(text, [...values]));
}

function matchesOf(text: string, pattern: string): string[] {
  const expression = goRegExp(pattern);
  if (!expression) throw new Error(`Illegal regex: error parsing regexp: ${pattern}`);
  const all = new RegExp(expression.source, `${expression.flags}g`);
  return [...text.matchAll(all)].map(([found]) => found);
}

/** `"%s has %d".format([…])`, with %s, %d, %f, %x, %b, %o and %%. */
function formatted(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replaceAll(/%(?:\.(\d+))?([a-zA-Z%])/g, (whole, digits: string | undefined, letter: string) => {
    if (letter === "%") return "%";
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    const value = values[next++];
    switch (letter) {
      case "s":
        return shown(value);
      case "d":
        if (typeof value === "bigint" || typeof value === "number") return String(value);
        break;
      case "f":
        if (typeof value === "number" || typeof value === "bigint") return Number(value).toFixed(Number(digits ?? 6));
        break;
      case "x":
        if (typeof value === "bigint") return value.toString(16);
        if (typeof value === "string") return Buffer.from(value).toString("hex");
        break;
      case "b":
        if (typeof value === "bigint") return value.toString(2);
        if (typeof value === "boolean") return value ? "1" : "0";
        break;
      case "o":
        if (typeof value === "bigint") return value.toString(8);
        break;
    }
    throw new Error(`could not parse formatting clause: unrecognized formatting clause "${whole.slice(1)}"`);
  });
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, each]) => `${shown(key)}: ${shown(each)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  return value instanceof Date ? value.toISOString().replace(/\.?0*Z$/, "Z") : String(value);
}
