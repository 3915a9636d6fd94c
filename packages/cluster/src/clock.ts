/**
 * The time of this package. Operating-system processes live in real time, so this clock is the wall's alone; it is a
 * module of its own because nothing else here may ask for the time (see `tools/architecture`).
 */
import { setTimeout as timer } from "node:timers/promises";

/** Milliseconds since an arbitrary moment; never goes back. For measuring how long something took. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => performance.now() - start;
}

/** The moment as written on calendars. For people and certificates, not for measuring. */
export function today(): Date {
  return new Date();
}

/** Waits. Rejects with the signal's reason when it is aborted. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await timer(milliseconds, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error;
  });
}

/** Calls `tick` every so often until the returned function is called. Does not keep the process alive. */
export function every(milliseconds: number, tick: () => void): () => void {
  const handle = setInterval(tick, milliseconds);
  handle.unref();
  return () => clearInterval(handle);
}

/** A signal that is aborted after the given time. */
export function timeout(milliseconds: number): AbortSignal {
  return AbortSignal.timeout(milliseconds);
}

export interface PollOptions {
  /** How long to go on. */
  timeoutMs: number;
  /** Pause between two attempts. Default: 50. */
  intervalMs?: number;
  signal?: AbortSignal | undefined;
}

/** Asks again and again until the answer is not `undefined`. Answers `undefined` when the time is up. */
export async function poll<T>(
  attempt: () => Promise<T | undefined> | T | undefined,
  { timeoutMs, intervalMs = 50, signal }: PollOptions,
): Promise<T | undefined> {
  const elapsed = stopwatch();
  for (;;) {
    signal?.throwIfAborted();
    const answer = await attempt();
    if (answer !== undefined) return answer;
    if (elapsed() > timeoutMs) return undefined;
    await sleep(intervalMs, signal);
  }
}
