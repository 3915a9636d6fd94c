/** How many are under way at once: there may be thousands. */
const AT_ONCE = 32;

/** Does something with each of many: the next one begins as soon as one has ended. */
export async function together<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
}
