/** Whether a configuration is of its kind's form, as far as server-side apply has to know: in the words of the real one. */
import { isObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { goSyntax, goText, goType } from "./go-text.ts";
import { fieldElement, shownPath } from "./path-element.ts";
import {
  fieldNode,
  formOf,
  ItemError,
  itemElement,
  type ListShape,
  type MapShape,
  type ScalarShape,
  shapeOf,
} from "./shape.ts";

/** What is wrong with a configuration; `undefined` if nothing is. */
export function problemOf(configuration: unknown, node: SchemaNode): string | undefined {
  const problems = [...check(configuration, node, "")];
  if (problems.length < 2) return problems[0];
  return ["errors:", ...problems.map((problem) => `  ${problem}`)].join("\n");
}

function* check(value: unknown, node: SchemaNode, path: string): Generator<string> {
  const form = formOf(shapeOf(node), value);
  const say = (problem: string) => (path === "" ? problem : `${path}: ${problem}`);
  if (value === null) return;
  if (typeof form === "string") {
    const problem = scalarProblem(form, value);
    if (problem !== undefined) yield say(problem);
  } else if (form.kind === "map") {
    if (isObject(value)) yield* checkFields(form, value, path);
    else yield say(`expected map, got ${goValue(value)}`);
  } else if (Array.isArray(value)) yield* checkItems(form, value, path);
  else yield say(`expected list, got ${goValue(value)}`);
}

function* checkFields(form: MapShape, object: object, path: string): Generator<string> {
  const sorted = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of sorted) {
    const node = fieldNode(form, name);
    const place = path + shownPath([fieldElement(name)]);
    if (value === undefined) continue;
    if (node) yield* check(value, node, place);
    else {
      yield `${place}: field not declared in schema`;
      return; // no more of this object is looked at
    }
  }
}

function* checkItems(form: ListShape, list: readonly unknown[], path: string): Generator<string> {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (form.type === "atomic") {
      yield* check(item, form.element, `${path}[${index}]`);
      continue;
    }
    try {
      const element = itemElement(form, item);
      if (seen.has(element)) yield `${path}: duplicate entries for key ${shownPath([element])}`;
      seen.add(element);
      yield* check(item, form.element, path + shownPath([element]));
    } catch (error) {
      if (!(error instanceof ItemError)) throw error;
      yield `${path}: element ${index}: ${error.message}`;
      return;
    }
  }
}

function scalarProblem(form: ScalarShape, value: unknown): string | undefined {
  switch (form) {
    case "numeric":
      return typeof value === "number" ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got ${goValue(value)}`;
    default:
      return typeof value === "object" ? `expected any scalar, got ${goValue(value)}` : undefined;
  }
}

/** As Go prints a wrapped value: in braces, since it does not look into it. */
function goValue(value: unknown): string {
  return `&{${goText(value)}}`;
}
