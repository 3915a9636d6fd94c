/** Writes that several parts make, and refusals that are no failures: somebody was quicker. */
import { type Client, coreV1, isAlreadyExists, isConflict, isNotFound, keyOf } from "@berth/kube";

/**
 * Whether there is nothing to write. What is stored has its fields in an order of the API server's, and none that are
 * `undefined`.
 */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key in left) if (!isSame(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** Deletes a pod at once: that one, and no other of its name. */
export async function removePod(client: Client, pod: coreV1.Pod): Promise<void> {
  const { uid } = pod.metadata;
  const options = { gracePeriodSeconds: 0, ...(uid !== undefined && { preconditions: { uid } }) };
  await client.delete(coreV1.Pod, keyOf(pod), options).catch((error) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}

/** For what was to be changed or deleted, and is gone. */
export function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** For what was to be created, and is there. */
export function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
