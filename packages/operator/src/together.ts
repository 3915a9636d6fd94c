/** How many requests are under way at once: there may be thousands to make. */
const AT_ONCE = 64;

/** Does something with each of many. */
export async function together<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < items.length; first += AT_ONCE) {
    await Promise.all(items.slice(first, first + AT_ONCE).map(act));
  }
}
