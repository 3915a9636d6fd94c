/** What the fields of an event are made of, within the limits that the API server sets. */
import type { ObjectReference } from "../kinds/core-v1.ts";
import type { KubernetesObject } from "../objects/meta.ts";

/** At most so many bytes of UTF-8, which is what the API server counts; no character is cut in two. */
export function cut(text: string, bytes: number, mark = ""): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes - Buffer.byteLength(mark)));
  return text.slice(0, read) + mark;
}

/**
 * What an event's name begins with. Some kinds allow names that an event cannot have, such as "system:Node"; what remains
 * of them need only be valid, since people find an event by what it is about.
 */
export function eventNames(name: string): string {
  const allowed = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
  return `${allowed.slice(0, 200) || "event"}-`;
}

/** Tells objects apart; by name only those that do not come from the API server, as they should. */
export function identityOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubernetesObject): string {
  return uid ?? JSON.stringify([apiVersion, kind, namespace, name]);
}

export function referenceTo(object: KubernetesObject): ObjectReference {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}
