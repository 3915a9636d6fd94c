/** What `kubectl get` shows of a custom resource. */
import type { apiextensionsV1 } from "@berth/kube";
import type { Column } from "../api/resource.ts";
import { since } from "../kinds/columns/ages.ts";
import { nameColumn } from "../kinds/columns/common.ts";
import { momentOf } from "../schema/scalars.ts";
import { type JsonPath, jsonPath } from "./json-path.ts";

type ColumnDefinition = apiextensionsV1.CustomResourceColumnDefinition;

const AGE: ColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "When the object was created.",
};

/** The name, and what the definition wants to be shown; if it says nothing, the age. */
export function columnsOf(definitions: readonly ColumnDefinition[] | undefined): Column[] {
  const wanted = definitions?.length ? definitions : [AGE];
  return [nameColumn(), ...wanted.map(columnOf)];
}

function columnOf({ name, type, format, description, priority, jsonPath: path }: ColumnDefinition): Column {
  const find = jsonPath(path) ?? (() => []);
  return {
    name,
    type,
    ...(format && { format }),
    description: description || `Custom resource definition column (in JSONPath format): ${path}`,
    ...(priority && { priority }),
    cell: (object, now) => cellOf(find, object, type, now),
  };
}

/** Only the first thing that a path leads to is shown, and nothing if it is of another type than the column. */
function cellOf(find: JsonPath, object: unknown, type: string, now: number): unknown {
  const [value] = find(object);
  if (value === undefined || value === null) return null;
  switch (type) {
    case "string":
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      if (typeof value !== "string") return null;
      return value !== "" && Number.isNaN(momentOf(value)) ? "<invalid>" : since(value, now);
    default:
      return null;
  }
}
