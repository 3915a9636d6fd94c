/** The part of kubectl's JSONPath that printer columns and selectable fields use: fields, indexes, `[*]` and filters. Pure. */
import { isObject } from "../api/json.ts";

type Step =
  | { readonly field: string }
  | { readonly index: number }
  | { readonly every: true }
  | { readonly filter: Filter };

interface Filter {
  readonly path: readonly Step[];
  readonly operator?: string;
  readonly value?: unknown;
}

/** Finds what a path leads to. */
export type JsonPath = (object: unknown) => unknown[];

/** `undefined` if it is no path that we know. */
export function jsonPath(text: string): JsonPath | undefined {
  const steps = parsed(text);
  return steps && ((object) => found([object], steps));
}

const STEP =
  /^\.?\[(?<number>-?\d+)\]|^\.?\[(?<every>\*)\]|^\.(?<star>\*)|^\.?\['(?<quoted>(?:[^'\\]|\\.)*)'\]|^\.?\["(?<double>(?:[^"\\]|\\.)*)"\]|^\.(?<field>(?:[^.[\]\\]|\\.)+)/;
const FILTER =
  /^\.?\[\?\(\s*(?<path>@[^=!<>]*?)\s*(?:(?<operator>==|!=|<=|>=|<|>)\s*(?<value>"[^"]*"|'[^']*'|[^\s)]+)\s*)?\)\]/;

function parsed(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith("$") ? text.slice(1) : text;
  while (rest !== "" && rest !== ".") {
    const filter = rest.match(FILTER);
    const match = filter ?? rest.match(STEP);
    const step = filter?.groups ? filterStep(filter.groups) : match?.groups && plainStep(match.groups);
    if (!match || !step) return undefined;
    steps.push(step);
    rest = rest.slice(match[0].length);
  }
  return steps;
}

function plainStep(groups: Record<string, string | undefined>): Step {
  const { number, every, star, quoted, double, field } = groups;
  if (number !== undefined) return { index: Number(number) };
  if (every !== undefined || star !== undefined) return { every: true };
  return { field: (quoted ?? double ?? field ?? "").replaceAll(/\\(.)/g, "$1") };
}

function filterStep({ path = "", operator, value }: Record<string, string | undefined>): Step | undefined {
  const steps = parsed(path.slice(1));
  if (!steps) return undefined;
  if (operator === undefined || value === undefined) return { filter: { path: steps } };
  return { filter: { path: steps, operator, value: literal(value) } };
}

function literal(text: string): unknown {
  if (/^(["']).*\1$/.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function found(values: readonly unknown[], steps: readonly Step[]): unknown[] {
  return steps.reduce<unknown[]>((current, step) => current.flatMap((value) => taken(value, step)), [...values]);
}

function taken(value: unknown, step: Step): unknown[] {
  if ("field" in step) return isObject(value) && Object.hasOwn(value, step.field) ? [value[step.field]] : [];
  if ("index" in step) {
    const item = Array.isArray(value) ? value.at(step.index) : undefined;
    return item === undefined ? [] : [item];
  }
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return "every" in step ? items : items.filter((item) => passes(item, step.filter));
}

function passes(item: unknown, { path, operator, value }: Filter): boolean {
  const [left] = found([item], path);
  if (operator === undefined) return left !== undefined;
  if (left === undefined) return false;
  switch (operator) {
    case "==":
      return left === value;
    case "!=":
      return left !== value;
    default: {
      if (typeof left !== typeof value || (typeof left !== "number" && typeof left !== "string")) return false;
      const right = value as typeof left;
      if (operator === "<") return left < right;
      if (operator === "<=") return left <= right;
      return operator === ">" ? left > right : left >= right;
    }
  }
}
