/** How many executors a job gets. */
import type { QueuedJob } from "@berth/sdk";

/** What it prefers, or the least that it can do with, or one. */
export function wantedBy({ executors: { preferred, min } }: QueuedJob): number {
  return preferred ?? min ?? 1;
}
