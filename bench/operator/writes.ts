/** What was written, by the API server's own record, and the least that had to be. Pure. */
import type { AuditEvent } from "@berth/cluster";

/** "patch pods", "update slots/status" → how many of them succeeded. */
export type Writes = ReadonlyMap<string, number>;

/** Counts what was done, and what was refused: that is work for nothing. */
export function writesIn(events: readonly AuditEvent[]): { readonly done: Writes; readonly refused: number } {
  const done = new Map<string, number>();
  let refused = 0;
  for (const { verb, objectRef, responseStatus } of events) {
    if ((responseStatus?.code ?? 0) >= 300) {
      refused++;
      continue;
    }
    const { resource = "", subresource } = objectRef ?? {};
    const what = `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
    done.set(what, (done.get(what) ?? 0) + 1);
  }
  return { done, refused };
}

/**
 * The least that there is to write for a job with so many executors, from its claim until its slots are free again: what
 * has to happen, and what people have to be told.
 */
export function leastWrites(executors: number): Writes {
  return new Map([
    ["delete pods", executors], // the ghost goes
    ["patch pods", executors], // the executor is let in
    ["create pods", executors], // the ghost comes back
    ["patch batchjobs", 2], // claimed, released
    ["create jobs", 1],
    ["update batchjobs/status", 3], // begun, running, ended
    ["update slots/status", 2 * executors], // occupied, free
    ["create events", 3], // as its status
  ]);
}

/** All of them together. */
export function total(writes: Writes): number {
  return [...writes.values()].reduce((sum, count) => sum + count, 0);
}
