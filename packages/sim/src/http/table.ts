/** Objects as rows of a table, which is what `kubectl get` asks for. Pure. */
import type { AnyObject } from "../api/json.ts";
import { badRequest } from "../api/refusal.ts";
import type { Column, Resource } from "../api/resource.ts";
import { defaultColumns } from "../kinds/columns.ts";

/** How much of its object comes with each row. */
export type IncludeObject = "None" | "Metadata" | "Object";

export function includeObject(asked: string | undefined): IncludeObject {
  if (asked === undefined || asked === "") return "Metadata";
  if (asked === "None" || asked === "Metadata" || asked === "Object") return asked;
  const why = "must be 'Metadata', 'Object', 'None', or empty";
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(asked)}: ${why}`,
  );
}

export interface TableOptions {
  readonly version: string;
  readonly include: IncludeObject;
  readonly now: number;
  /** Whether what the columns are is said, too. Default: yes. */
  readonly headers?: boolean;
}

/** A list, or one object, as a table. */
export function tableOf(shown: AnyObject, resource: Resource, options: TableOptions): AnyObject {
  const columns = resource.columns.length > 0 ? resource.columns : defaultColumns;
  const objects: readonly AnyObject[] = Array.isArray(shown.items) ? shown.items : [shown];
  const { resourceVersion, ...others } = shown.metadata;
  const page = Array.isArray(shown.items) ? others : {};
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: { ...(resourceVersion !== undefined && { resourceVersion }), ...page },
    columnDefinitions: options.headers === false ? null : columns.map(definitionOf),
    rows: objects.map((object) => rowOf(object, columns, options)),
  };
}

function definitionOf({ name, type, format = "", description = "", priority = 0 }: Column) {
  return { name, type, format, description, priority };
}

function rowOf(object: AnyObject, columns: readonly Column[], { include, version, now }: TableOptions) {
  const cells = columns.map((column) => column.cell(object, now) ?? null);
  return { cells, object: include === "None" ? null : include === "Object" ? object : partial(object, version) };
}

/** An object of which only the metadata is shown. */
export function partial(object: AnyObject, version: string): AnyObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

export function partialList(list: AnyObject, version: string): AnyObject {
  const items = Array.isArray(list.items) ? list.items : [];
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: list.metadata,
    items: items.map((item) => partial(item, version)),
  };
}
