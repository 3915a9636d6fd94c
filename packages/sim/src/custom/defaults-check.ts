/** Whether the defaults in a definition's schema are what the schema itself asks for. */
import type { FieldErrors } from "../api/field-errors.ts";
import { equal, isObject } from "../api/json.ts";
import type { Cause } from "../schema/causes.ts";
import { check } from "../schema/openapi-check.ts";
import { pruned } from "../schema/prune.ts";
import type { SchemaNode } from "../schema/schema.ts";
import type { JsonSchema } from "./definition.ts";
import { itemsOf, schemaNode } from "./schema-node.ts";

/** Adds what is wrong. Of metadata nothing is checked here: there must be no defaults there at all. */
export function checkDefaults(schema: JsonSchema, path: string, errors: FieldErrors, isRoot = true): void {
  if (schema.default !== undefined && schema.default !== null) checkDefault(schema, `${path}.default`, errors);
  const items = itemsOf(schema);
  if (items) checkDefaults(items, `${path}.items`, errors, false);
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (isRoot && ["metadata", "apiVersion", "kind"].includes(key)) continue;
    checkDefaults(field, `${path}.properties[${key}]`, errors, false);
  }
}

function checkDefault(schema: JsonSchema, path: string, errors: FieldErrors): void {
  const node = schemaNode(schema);
  const value = schema.default;
  if (!equal(withoutUnknown(value, node), value)) errors.invalid(path, value, "must not have unknown fields");
  const found: Cause[] = [];
  check(value, node, { path: "" }, found);
  for (const { field, ...cause } of found) {
    errors.causes.push({ ...cause, field: field === "" || field === "<nil>" ? path : `${path}.${field}` });
  }
}

/** Pruning is for objects; a value is put into one. */
function withoutUnknown(value: unknown, node: SchemaNode): unknown {
  const fields: Record<string, SchemaNode> = Object.create(null);
  fields.value = node;
  const result = pruned({ value }, { type: "object", fields }, []);
  return isObject(result) ? result.value : undefined;
}
