/** Writes that several parts make, and refusals that are no failures: somebody was quicker. */
import { isDeepStrictEqual } from "node:util";
import { type Client, coreV1, isAlreadyExists, isConflict, isNotFound, keyOf } from "@berth/kube";

/** Whether there is nothing to write: what is stored has its fields in an order of the API server's. */
export function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b);
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
