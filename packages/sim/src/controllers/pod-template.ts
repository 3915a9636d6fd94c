/** From a template to the pod that a controller makes, and to the hash that tells templates apart. Pure. */
import type { coreV1, Kind, KubernetesObject, ObjectMeta } from "@berth/kube";
import { referenceTo } from "./parents.ts";

/** @param more - What the pod's metadata has beside the template's; a name, instead of a generated one. */
export function podFrom(
  template: coreV1.PodTemplateSpec | undefined,
  owner: KubernetesObject,
  kind: Kind,
  more: Partial<ObjectMeta> = {},
): coreV1.Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  const { namespace, name = "" } = owner.metadata;
  return {
    metadata: {
      ...(more.name === undefined && { generateName: `${name}-` }),
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [referenceTo(owner, kind)],
      ...more,
    },
    spec: template?.spec ?? { containers: [] },
  };
}

/** Without vowels and without what looks alike, as in generated names. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** A short text that equal values have in common, and others most likely not. @param salt - To get another one. */
export function hashOf(value: unknown, salt: number | undefined): string {
  let hash = 0x811c9dc5;
  const text = canonical(value) + (salt === undefined ? "" : `#${salt}`);
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return [...String(hash >>> 0)].map((digit) => LETTERS[digit.charCodeAt(0) % LETTERS.length]).join("");
}

/** JSON with the fields of objects in order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const inOrder = fields.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${inOrder.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`;
}
