/** Which objects a list or a watch is about, and what their changes look like to somebody who sees no others. */
import type { KubernetesObject } from "../objects/meta.ts";
import { FieldSelector, fieldOf, LabelSelector } from "../values/selectors.ts";
import type { Change, StoredObject } from "./history.ts";
import { badRequest, type Status } from "./status.ts";

export interface SelectionOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** By metadata.name and metadata.namespace alone, as for custom resources. */
  readonly fieldSelector?: string | undefined;
}

export type Selection = (object: StoredObject) => boolean;

/** An object that changed, or a word from the server itself. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: KubernetesObject }
  | { readonly type: "ERROR"; readonly object: Status };

const FIELDS = ["metadata.name", "metadata.namespace"];

export function selection({ namespace, labelSelector = "", fieldSelector = "" }: SelectionOptions): Selection {
  const labels = parsed(() => LabelSelector.parse(labelSelector));
  const fields = parsed(() => FieldSelector.parse(fieldSelector));
  const unknown = fields.requirements.find(({ field }) => !FIELDS.includes(field));
  if (unknown) throw badRequest(`field label not supported: ${unknown.field}`);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels.matches(object.metadata.labels) &&
    fields.matches((field) => fieldOf(object, field));
}

/**
 * A change as a watch of these objects tells it. An object that comes into the selection is ADDED, one that leaves it
 * DELETED. What goes is told as it last was, but with the version of the change: a watch can go on from there.
 */
export function eventOf({ version, before, after }: Change, selected: Selection): WatchEvent | undefined {
  const was = before && selected(before) ? before : undefined;
  if (after && selected(after)) return { type: was ? "MODIFIED" : "ADDED", object: after };
  return was && { type: "DELETED", object: { ...was, metadata: { ...was.metadata, resourceVersion: `${version}` } } };
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(String(error instanceof Error ? error.message : error));
  }
}
