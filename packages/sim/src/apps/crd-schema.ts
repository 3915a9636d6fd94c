/** Words to write the schemas of custom resource definitions with. */
import type { apiextensionsV1 } from "@berth/kube";

export type Schema = apiextensionsV1.JSONSchemaProps;

export const text: Schema = { type: "string" };
export const flag: Schema = { type: "boolean" };
export const int32: Schema = { type: "integer", format: "int32" };
export const int64: Schema = { type: "integer", format: "int64" };
/** A moment, or none. */
export const time: Schema = { type: "string", format: "date-time", nullable: true };
export const textMap: Schema = { type: "object", additionalProperties: text };
/** Whatever it is, as long as it is in braces. */
export const anyObject: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
export const anyObjects: Schema = { type: "array", items: anyObject };

export const oneOf = (...values: string[]): Schema => ({ type: "string", enum: values });
export const atLeast = (minimum: number, schema: Schema): Schema => ({ ...schema, minimum });
export const list = (items: Schema): Schema => ({ type: "array", items });

/** These fields, and no others. */
export function closed(properties: Record<string, Schema>, ...required: string[]): Schema {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

/** These fields; others are kept as they are. */
export function open(properties: Record<string, Schema>, ...required: string[]): Schema {
  return { ...closed(properties, ...required), "x-kubernetes-preserve-unknown-fields": true };
}
