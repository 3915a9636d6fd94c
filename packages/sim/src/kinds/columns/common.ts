/** What the columns of many kinds have in common. Pure. */
import { type AnyObject, isObject } from "../../api/json.ts";
import { at, itemsAt, mapAt, textAt, textsAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { since } from "./ages.ts";

type Cell = Column["cell"];

/** A column that is always shown. */
export function column(name: string, cell: Cell, type = "string"): Column {
  return { name, type, cell };
}

/** A column of whole numbers. */
export const numbers = (name: string, cell: Cell): Column => column(name, cell, "integer");

/** A column that is shown with `-o wide`. */
export function wide(name: string, cell: Cell): Column {
  return { name, type: "string", priority: 1, cell };
}

/** The first column; kubectl writes its resource before the name if several are shown. */
export function nameColumn(cell: Cell = ({ metadata }) => metadata.name ?? ""): Column {
  return { name: "Name", type: "string", format: "name", description: "The name of the object.", cell };
}

export const name = nameColumn();

export const age: Column = {
  name: "Age",
  type: "string",
  description: "How long ago the object was created.",
  cell: ({ metadata }, now) => since(metadata.creationTimestamp, now),
};

/** What kinds show for which nobody has thought of anything better. */
export const createdAt: Column = {
  name: "Created At",
  type: "date",
  description: "When the object was created.",
  cell: ({ metadata }) => metadata.creationTimestamp ?? "",
};

/** The names and images of a pod template's containers, for `-o wide`. */
export function containerColumns(...template: readonly string[]): Column[] {
  const joined = (object: AnyObject, field: string) =>
    itemsAt(object, ...template, "spec", "containers")
      .map((container) => textAt(container, field))
      .join(",");
  return [wide("Containers", (object) => joined(object, "name")), wide("Images", (object) => joined(object, "image"))];
}

/** "app=web,tier=front", or "<none>". */
export function labelsText(labels: unknown): string {
  const entries = Object.entries(isObject(labels) ? labels : {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, value]) => `${key}=${value}`).join(",") || "<none>";
}

/** A selector as it would be typed: "app=web,tier in (a,b),!old"; "" for none. */
export function selectorText(selector: unknown): string {
  const equalities = Object.entries(mapAt(selector, "matchLabels")).map(([key, value]) => [key, `${key}=${value}`]);
  const expressions = itemsAt(selector, "matchExpressions").map((expression) => {
    const [key, operator] = [textAt(expression, "key"), textAt(expression, "operator")];
    const values = textsAt(expression, "values").sort().join(",");
    switch (operator) {
      case "In":
        return [key, `${key} in (${values})`];
      case "NotIn":
        return [key, `${key} notin (${values})`];
      case "DoesNotExist":
        return [key, `!${key}`];
      default:
        return [key, key];
    }
  });
  return [...equalities, ...expressions]
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

/** The selector of a controller, for `-o wide`. */
export const selectorColumn = (...path: readonly string[]): Column =>
  wide("Selector", (object) => selectorText(at(object, ...path)) || "<none>");

/** The first of a long list, and how many more there are. */
export function some(list: readonly string[], most: number): string {
  const shown = list.slice(0, most).join(",");
  return list.length > most ? `${shown} + ${list.length - most} more...` : shown;
}
