/** Changes to an object without the whole of it. */
import type { ApiRequest } from "../transport/transport.ts";

/** A change, in one of three languages. */
export type Patch =
  /** RFC 6902: a list of operations, `test` among them. */
  | { readonly json: readonly JsonPatchOperation[] }
  /** RFC 7386: fields as they shall be; `null` takes one away; lists are replaced. */
  | { readonly merge: object }
  /** Kubernetes' own: as merge, but lists of built-in kinds are merged by the keys of their items. */
  | { readonly strategic: object };

/** One step of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/**
 * The merge patch from one state of an object to another.
 *
 * @param optimistic - Refuse the patch if somebody else has written since `from`. Default: no.
 */
export function mergeFrom<T extends { metadata: { resourceVersion?: string } }>(
  from: T,
  to: T,
  { optimistic = false }: { optimistic?: boolean } = {},
): Patch {
  const merge = (difference(from, to) ?? {}) as { metadata?: object };
  if (!optimistic) return { merge };
  return { merge: { ...merge, metadata: { ...merge.metadata, resourceVersion: from.metadata.resourceVersion } } };
}

/** `undefined` if there is none. */
function difference(from: unknown, to: unknown): unknown {
  if (!isObject(from) || !isObject(to)) return same(from, to) ? undefined : to;
  const changes: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[key], to[key]];
    if (after === undefined) {
      if (before !== undefined) changes.push([key, null]);
    } else {
      const change = difference(before, after);
      if (change !== undefined) changes.push([key, change]);
    }
  }
  return changes.length > 0 ? Object.fromEntries(changes) : undefined;
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (isObject(a) && isObject(b)) return difference(a, b) === undefined;
  return a === b;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @internal As it travels. */
export function patchBody(patch: Patch): Pick<ApiRequest, "patchType" | "body"> {
  if ("json" in patch) return { patchType: "json", body: patch.json };
  if ("merge" in patch) return { patchType: "merge", body: patch.merge };
  return { patchType: "strategic", body: patch.strategic };
}
