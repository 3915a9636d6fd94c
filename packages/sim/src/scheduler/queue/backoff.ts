/** How long a pod waits before it is tried again. Pure. */

/** Waits end at whole seconds, so that within one the more important goes first. */
export const WINDOW_MS = 1000;

export function windowOf(time: number): number {
  return Math.floor(time / WINDOW_MS) * WINDOW_MS;
}

/** @param count - How often it was in vain. */
export function backoffMs(count: number, initialMs: number, maxMs: number): number {
  if (count === 0) return 0;
  return Math.min(maxMs, initialMs * 2 ** (count - 1));
}
