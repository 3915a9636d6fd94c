/** Which objects a list or a watch is about, and what their changes look like to somebody who sees no others. */
import { FieldSelector, LabelSelector } from "@berth/kube";
import type { Change } from "../storage/collection.ts";
import type { AnyObject } from "./json.ts";
import { type Query, text } from "./parameters.ts";
import { badRequest, type Refusal } from "./refusal.ts";
import type { Resource } from "./resource.ts";

export interface Selection {
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  /** Whether the namespace is all there is to it. */
  readonly everything: boolean;
  matches(object: AnyObject): boolean;
}

export function selectionOf(resource: Resource, namespace: string | undefined, query: Query, name?: string): Selection {
  const labels = parsed(() => LabelSelector.parse(text(query, "labelSelector")));
  const fields = parsed(() => FieldSelector.parse(text(query, "fieldSelector")));
  for (const { field } of fields.requirements) {
    if (!isSelectable(field, resource)) throw unknownField(field, resource);
  }
  const everything = labels.requirements.length === 0 && fields.requirements.length === 0 && name === undefined;
  return {
    namespace,
    everything,
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (everything ||
        ((name === undefined || object.metadata.name === name) &&
          labels.matches(object.metadata.labels) &&
          (fields.requirements.length === 0 || fields.matches(fieldReader(object, resource))))),
  };
}

export type WatchedChange = { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: AnyObject };

/** A change as a watch of these objects tells it: what comes into the selection is ADDED, what leaves it DELETED. */
export function seenBy({ matches }: Selection, { version, before, after, last }: Change): WatchedChange | undefined {
  const was = before !== undefined && matches(before);
  if (after && matches(after)) return { type: was ? "MODIFIED" : "ADDED", object: after };
  if (!was) return undefined;
  const object = last ?? { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
  return { type: "DELETED", object };
}

function fieldReader(object: AnyObject, { rules, conversion }: Resource): (field: string) => string {
  let others: Readonly<Record<string, string>> | undefined;
  return (field) => {
    if (field === "metadata.name") return object.metadata.name ?? "";
    if (field === "metadata.namespace") return object.metadata.namespace ?? "";
    others ??= rules.fields?.(conversion ? conversion.fromStored(object) : object) ?? {};
    return others[field] ?? "";
  };
}

const NOTHING: AnyObject = { metadata: {} };

/** A kind tells of any object, also of an empty one, which fields it can be selected by. */
function isSelectable(field: string, { rules }: Resource): boolean {
  if (field === "metadata.name" || field === "metadata.namespace") return true;
  return Object.hasOwn(rules.fields?.(NOTHING) ?? {}, field);
}

/** Kinds that have fields of their own to select by word it in their own way. */
function unknownField(field: string, { rules, custom }: Resource): Refusal {
  if (rules.fields || custom) return badRequest(`field label not supported: ${field}`);
  const known = 'only "metadata.name", "metadata.namespace"';
  return badRequest(`${JSON.stringify(field)} is not a known field selector: ${known}`);
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(String(error instanceof Error ? error.message : error));
  }
}
