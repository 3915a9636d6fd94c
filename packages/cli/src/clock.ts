/** The world's time, for commands that need nothing else: the clock of a cluster brings all of Kubernetes along. */

/** In seconds since 1970. */
export function now(): number {
  return Date.now() / 1000;
}
