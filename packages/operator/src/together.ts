/** How many are under way at once: there may be thousands. */
const AT_ONCE = 32;

/**
 * Does something with each of many: the next one begins as soon as one has ended. After a failure nothing more is begun, and when
 * all that was under way has ended, it is thrown.
 */
export async function together<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const failures: unknown[] = [];
  const worker = async () => {
    for (const item of left) {
      if (failures.length > 0) return;
      await act(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
