/**
 * A lock between processes. SQLite holds it as a lock of the operating system, which ends with the process that took
 * it: a crash leaves no stale lock behind, and there is no file whose age has to be guessed at.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sleep } from "../clock.ts";

const SQLITE_BUSY = 5;

/** Takes the lock if it is free; the returned function gives it back. */
export function tryLock(file: string): (() => void) | undefined {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    database.exec("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

/** Runs `work` while holding the lock; waits for it as long as it takes. `onWait` is told once, if there is a wait. */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  { onWait, signal }: { onWait?: (() => void) | undefined; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  let release = tryLock(file);
  if (!release) onWait?.();
  while (!release) {
    await sleep(20, signal);
    release = tryLock(file);
  }
  try {
    return await work();
  } finally {
    release();
  }
}
