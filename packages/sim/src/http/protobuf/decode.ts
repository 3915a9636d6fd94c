/**
 * Objects out of protobuf: what kubectl and other programs in Go send when they create something, and what they cannot be
 * talked out of. They do take JSON as an answer, so nothing is ever written in protobuf here.
 *
 * Go's structs within structs are messages within messages, but no objects within objects in JSON: the schema tells which.
 */
import { define, type JsonObject } from "../../api/json.ts";
import { badRequest, Refusal, unsupportedMediaType } from "../../api/refusal.ts";
import { schemaNamed } from "../../schema/builtin-schemas.ts";
import type { SchemaNode } from "../../schema/schema.ts";
import { type MessageField, messageNamed } from "./messages.ts";
import { Malformed, type WireValue, wireFields } from "./wire.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const MAGIC = Buffer.from("k8s\0");
const META = "apimachinery.pkg.apis.meta.v1";
const DEEPEST = 200;

/** The object in a body. */
export function fromProtobuf(body: Uint8Array): JsonObject {
  if (!MAGIC.equals(body.subarray(0, MAGIC.length))) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  try {
    const envelope = new Map(wireFields(body.subarray(MAGIC.length)));
    const type = new Map(wireFields(bytesOf(envelope.get(1))));
    const [apiVersion, kind] = [textOf(type.get(1)), textOf(type.get(2))];
    const name = messageName(apiVersion, kind);
    const schema = messageNamed(name) && schemaOf(name);
    if (!schema) throw unsupportedMediaType(`${apiVersion} ${kind} is not understood in protobuf; send it as JSON`);
    return { apiVersion, kind, ...object(bytesOf(envelope.get(2)), name, schema, 0) };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof Malformed || error instanceof SyntaxError) {
      throw badRequest(`error decoding the body of the request: ${error.message}`);
    }
    throw error;
  }
}

/** "api.rbac.v1.Role" for "rbac.authorization.k8s.io/v1" and "Role". */
function messageName(apiVersion: string, kind: string): string {
  if (kind === "DeleteOptions") return `${META}.DeleteOptions`;
  const [version = "", group = "core"] = apiVersion.split("/").reverse();
  return ["api", group.split(".")[0], version, kind].join(".");
}

/** There are messages that JSON has no objects for. */
function schemaOf(name: string): SchemaNode | undefined {
  try {
    return schemaNamed(`io.k8s.${name}`);
  } catch {
    return undefined;
  }
}

function object(bytes: Uint8Array, name: string, schema: SchemaNode | undefined, depth: number): JsonObject {
  if (depth > DEEPEST) throw new Malformed("exceeded max depth");
  const message = messageNamed(name);
  const fields = schema?.fields;
  const result: JsonObject = {};
  for (const [number, wire] of wireFields(bytes)) {
    const field = message?.get(number);
    if (!field) continue; // of a newer version than ours
    const key = fields ? (nameIn(fields, field.name) ?? undefined) : field.name;
    if (key === undefined) {
      if (isMessage(field.type)) Object.assign(result, object(bytesOf(wire), field.type, schema, depth + 1));
      continue;
    }
    const node = fields?.[key];
    if (field.map) addEntry(result, key, wire, field, node?.element, depth);
    else if (field.repeated) addItem(result, key, value(wire, field.type, node?.element, depth));
    else define(result, key, value(wire, field.type, node, depth));
  }
  return result;
}

/** What JSON calls a field: the same but for the first letter, or nothing at all. */
function nameIn(fields: Readonly<Record<string, SchemaNode>>, name: string): string | undefined {
  if (name in fields) return name;
  const small = name.charAt(0).toLowerCase() + name.slice(1);
  return small in fields ? small : undefined;
}

function addItem(result: JsonObject, key: string, item: unknown): void {
  const present = result[key];
  if (Array.isArray(present)) present.push(item);
  else result[key] = [item];
}

function addEntry(
  result: JsonObject,
  key: string,
  wire: WireValue,
  { type }: MessageField,
  element: SchemaNode | undefined,
  depth: number,
): void {
  const entry = new Map(wireFields(bytesOf(wire)));
  const map = (result[key] ?? {}) as JsonObject;
  result[key] = map;
  const given = entry.get(2) ?? (isMessage(type) || type === "string" || type === "bytes" ? new Uint8Array() : 0n);
  define(map, textOf(entry.get(1)), value(given, type, element, depth));
}

const isMessage = (type: string) => type.includes(".");

function value(wire: WireValue, type: string, schema: SchemaNode | undefined, depth: number): unknown {
  switch (type) {
    case "string":
      return textOf(wire);
    case "bytes":
      return Buffer.from(bytesOf(wire)).toString("base64");
    case "bool":
      return numberOf(wire) !== 0;
    case "int32":
    case "int64":
      return numberOf(wire);
    case "double":
      return Buffer.from(bytesOf(wire)).readDoubleLE(0);
    case `${META}.Time`:
      return timeOf(wire, 0);
    case `${META}.MicroTime`:
      return timeOf(wire, 6);
    case "apimachinery.pkg.api.resource.Quantity":
      return textOf(new Map(wireFields(bytesOf(wire))).get(1));
    case "apimachinery.pkg.util.intstr.IntOrString": {
      const parts = new Map(wireFields(bytesOf(wire)));
      return numberOf(parts.get(1) ?? 0n) === 0 ? numberOf(parts.get(2) ?? 0n) : textOf(parts.get(3));
    }
    case "apimachinery.pkg.runtime.RawExtension":
    case `${META}.FieldsV1`: {
      const raw = textOf(new Map(wireFields(bytesOf(wire))).get(1));
      return raw === "" ? null : JSON.parse(raw);
    }
  }
  const inner = object(bytesOf(wire), type, schema, depth + 1);
  // A list that is a message, since a map cannot have lists as values.
  return type.endsWith(".ExtraValue") ? (inner.items ?? []) : inner;
}

function bytesOf(wire: WireValue | undefined): Uint8Array {
  if (wire === undefined) return new Uint8Array();
  if (typeof wire === "bigint") throw new Malformed("wrong wireType = 0");
  return wire;
}

const textOf = (wire: WireValue | undefined) => Buffer.from(bytesOf(wire)).toString("utf8");

function numberOf(wire: WireValue): number {
  if (typeof wire !== "bigint") throw new Malformed("wrong wireType = 2");
  return Number(BigInt.asIntN(64, wire));
}

/** Nothing, for the beginning of time. */
function timeOf(wire: WireValue, digits: number): string | null {
  const parts = new Map(wireFields(bytesOf(wire)));
  const [seconds, nanos] = [numberOf(parts.get(1) ?? 0n), numberOf(parts.get(2) ?? 0n)];
  if (seconds === 0 && nanos === 0) return null;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw new Malformed("a time is out of range");
  const fraction = digits === 0 ? "" : `.${String(Math.floor(nanos / 1000)).padStart(digits, "0")}`;
  return date.toISOString().replace(/\.\d+Z$/, `${fraction}Z`);
}
