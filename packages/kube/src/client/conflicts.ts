/** Writing where others write too. */

import type { ObjectKey } from "../objects/key.ts";
import type { KubernetesObject, WritableKind } from "../objects/meta.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../transport/api-error.ts";
import type { Client } from "./client.ts";
import type { GetOptions, WriteOptions } from "./options.ts";

const ATTEMPTS = 5;

/** Tries again, with what is there now, when somebody else was faster. What is tried must read anew each time. */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      // Changed, created or deleted by somebody else since it was read.
      const overtaken = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (left <= 1 || !overtaken) throw error;
    }
  }
}

/**
 * Makes an object as it should be, whether it exists or not. Writes nothing if it is so already.
 *
 * @param mutate - Gets the object as it is, `undefined` if there is none, and returns it as it should be: the same object if
 * nothing is to be changed. It must not change the one that it gets.
 */
export async function createOrUpdate<T extends KubernetesObject>(
  client: Client,
  kind: WritableKind<T>,
  key: ObjectKey,
  mutate: (present: T | undefined) => T,
  options: WriteOptions = {},
): Promise<{ object: T; operation: "created" | "updated" | "unchanged" }> {
  let read: GetOptions = options.signal ? { signal: options.signal } : {};
  return retryOnConflict(async () => {
    const present = await client.find(kind, key, read);
    read = { ...read, resourceVersion: "" }; // if that came from a cache that is behind, the next one shall not
    const wanted = mutate(present);
    if (!present) return { object: await client.create(kind, wanted, options), operation: "created" };
    if (wanted === present) return { object: present, operation: "unchanged" };
    return { object: await client.update(kind, wanted, options), operation: "updated" };
  });
}
