/** First in, first out: strictly in the order of submission. */
import type { Decide, Decision } from "@berth/sdk";
import { wantedBy } from "./wishes.ts";

export const fifo: Decide = (state) => {
  const decisions: Decision[] = [];
  for (const job of state.queue) {
    const slots = state.take(wantedBy(job));
    if (!slots) break;
    decisions.push({ job: job.name, slots, reason: "first in the queue" });
  }
  return decisions;
};
