/** Waiting for what is bound to come, on a machine of any speed. */
import { vi } from "vitest";

/** Longer than any busy machine takes, so that running out of it means that the thing never comes. */
const LIMIT_MS = 60_000;

/** Asks again and again until the expectation no longer throws; gives what it returns. */
export function eventually<T>(expectation: () => T | Promise<T>, interval = 5): Promise<T> {
  return vi.waitFor(expectation, { timeout: LIMIT_MS, interval });
}
