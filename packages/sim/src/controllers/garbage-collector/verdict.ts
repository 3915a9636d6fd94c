/** What becomes of an object whose owners come and go. Pure. */
import type { OwnerReference } from "@berth/kube";
import { FOREGROUND, ORPHAN } from "../../api/deletion.ts";
import type { AnyObject } from "../../api/json.ts";

/** How things stand with an owner: it is there, it is gone, or it goes as soon as its dependents have gone. */
export type OwnerState = "present" | "absent" | "waiting";

export type Verdict =
  | { readonly action: "keep" }
  /** These owners do not count any more. */
  | { readonly action: "unlink"; readonly uids: readonly string[] }
  | { readonly action: "delete"; readonly policy: "Foreground" | "Background" | "Orphan" };

const KEEP: Verdict = { action: "keep" };

/** @param hasDependents - Whether others belong to the object in turn. */
export function verdict(
  object: AnyObject,
  stateOf: (reference: OwnerReference) => OwnerState,
  hasDependents: boolean,
): Verdict {
  const { ownerReferences = [], finalizers = [], deletionTimestamp } = object.metadata;
  if (ownerReferences.length === 0 || deletionTimestamp !== undefined) return KEEP;
  const owners = ownerReferences.map((reference) => ({ uid: reference.uid, state: stateOf(reference) }));
  const leaving = owners.filter(({ state }) => state !== "present");
  if (leaving.length === 0) return KEEP;
  if (leaving.length < owners.length) return { action: "unlink", uids: leaving.map(({ uid }) => uid) };
  const isAwaited = owners.some(({ state }) => state === "waiting");
  if (isAwaited && hasDependents) return { action: "delete", policy: "Foreground" };
  const policy = finalizers.includes(ORPHAN) ? "Orphan" : finalizers.includes(FOREGROUND) ? "Foreground" : "Background";
  return { action: "delete", policy };
}

/** Whether an object waits for its dependents to go. */
export function awaitsDependents({ metadata }: AnyObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FOREGROUND) ?? false);
}

/** Whether an object leaves its dependents behind, and has not done so yet. */
export function orphansDependents({ metadata }: AnyObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(ORPHAN) ?? false);
}

/** Whether an owner has to wait for this dependent. */
export function blocks({ metadata }: AnyObject, owner: string): boolean {
  return metadata.ownerReferences?.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion) ?? false;
}
