/** Objects of no real kind, for tests of what is true of all kinds. */

import type { ObjectKey } from "../objects/key.ts";
import { type KubernetesObject, kindOf, type ObjectMeta } from "../objects/meta.ts";
import type { WatchEvent } from "./selection.ts";
import { ApiFailure, type Status } from "./status.ts";

export interface Thing extends KubernetesObject {
  spec?: { size?: number; colour?: string };
  status?: { ready?: boolean; seen?: number };
}

export const Thing = kindOf<Thing>("test.io/v1", "Thing", "things");
/** Has no namespaces. */
export const Zone = kindOf("v1", "Zone", "zones", "Cluster");

export function thing(name: string, more: Partial<Thing> = {}): Thing {
  return { ...more, metadata: { namespace: "default", ...more.metadata, name } };
}

export function at(name: string): ObjectKey {
  return { namespace: "default", name };
}

export function namesOf(list: { readonly items: readonly KubernetesObject[] }): (string | undefined)[] {
  return list.items.map(({ metadata }) => metadata.name);
}

/** "ADDED a@2" */
export function inShort({ type, object }: WatchEvent): string {
  const { name, resourceVersion }: ObjectMeta = type === "ERROR" ? {} : object.metadata;
  return `${type} ${name}@${resourceVersion}`;
}

/** The `Status` that the model refuses something with. */
export function refusal(action: () => unknown): Status {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiFailure) return error.status;
    throw error;
  }
  throw new Error("it was not refused");
}
