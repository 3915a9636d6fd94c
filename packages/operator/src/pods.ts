/** What several parts do with pods. */
import { type Client, coreV1, isConflict, isNotFound, keyOf } from "@berth/kube";

/** Deletes a pod at once: that one, and no other of its name. */
export async function removePod(client: Client, pod: coreV1.Pod): Promise<void> {
  const { uid } = pod.metadata;
  const options = { gracePeriodSeconds: 0, ...(uid !== undefined && { preconditions: { uid } }) };
  await client.delete(coreV1.Pod, keyOf(pod), options).catch((error) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}
