/**
 * The annotation in which client-side `kubectl apply` keeps what it applied last. Whoever goes over to server-side apply
 * with kubectl keeps it: it grants him the fields it mentions, and it stays up to date.
 */
import { isObject, type JsonObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import { problemOf } from "./checking.ts";
import { compare } from "./comparison.ts";
import { difference, EMPTY, type FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import type { Writer } from "./managers.ts";
import { rootOf } from "./shape.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
/** As of all annotations together. */
const LIMIT = 256 * 1024;

/** The fields that kubectl may change whoever owns them: it applied them, and they are still as they were then. */
export function allowedByLastApplied(object: JsonObject, resource: Resource, { manager }: Writer): FieldSet {
  const text = manager === "kubectl" ? lastApplied(object) : undefined;
  if (text === undefined) return EMPTY;
  const root = rootOf(resource);
  const configuration = parsed(text);
  if (!isObject(configuration) || configuration.apiVersion !== resource.apiVersion) return EMPTY;
  if (problemOf(configuration, root) ?? problemOf(object, root)) return EMPTY;
  const { added, modified, removed } = compare(configuration, object, root);
  return [modified, added, removed].reduce(difference, fieldsOf(configuration, root));
}

/** An object in which kubectl keeps what it applied, with what it applied now. */
export function withLastApplied(object: JsonObject, configuration: JsonObject, { manager }: Writer): JsonObject {
  if (manager !== "kubectl" || lastApplied(object) === undefined) return object;
  const { metadata, ...rest } = configuration;
  const { annotations: applied, ...others } = isObject(metadata) ? metadata : {};
  const kept = isObject(applied) ? { ...applied } : {};
  delete kept[ANNOTATION];
  const hasOthers = Object.keys(kept).length > 0;
  const text = `${sortedJson({ ...rest, metadata: { ...others, ...(hasOthers && { annotations: kept }) } })}\n`;
  const now = object.metadata as JsonObject;
  const annotations: JsonObject = { ...(now.annotations as JsonObject), [ANNOTATION]: text };
  if (sizeOf(annotations) > LIMIT) delete annotations[ANNOTATION];
  return { ...object, metadata: { ...now, annotations } };
}

function lastApplied({ metadata }: JsonObject): string | undefined {
  const annotations = isObject(metadata) ? metadata.annotations : undefined;
  const text = isObject(annotations) ? annotations[ANNOTATION] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sizeOf(annotations: JsonObject): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
}

/** As Go writes it: fields in order. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}
