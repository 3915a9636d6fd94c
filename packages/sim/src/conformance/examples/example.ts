/** Examples of objects, and where they go. */
import type { Kind } from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";

/** An object as a client sends it. */
export interface Example {
  readonly title: string;
  readonly kind: Kind;
  readonly object: JsonObject;
}

/** Where objects of a kind are found: "/api/v1/namespaces/n/pods". */
export function collectionOf({ group, version, namespaced, plural }: Kind, namespace: string): string {
  const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${base}${namespaced ? `/namespaces/${namespace}` : ""}/${plural}`;
}

/** Stands for the namespace that the object is in. */
export const HERE = "$here";

export const container = { name: "c", image: "busybox" };
export const labels = { a: "b" };
export const selector = { matchLabels: labels };
export const template = { metadata: { labels }, spec: { containers: [container] } };
