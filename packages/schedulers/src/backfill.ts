/** Whoever does not fit lets those behind him go first. Simple, and unfair to large jobs. */
import type { Decide, Decision } from "@berth/sdk";
import { wantedBy } from "./wishes.ts";

export const backfill: Decide = (state) => {
  const decisions: Decision[] = [];
  const { queue } = state;
  for (const [place, job] of queue.entries()) {
    const slots = state.take(wantedBy(job));
    const overtaken = place - decisions.length;
    const reason = overtaken > 0 ? `fits, and overtakes ${overtaken}` : "first in the queue";
    if (slots) decisions.push({ job: job.name, slots, reason });
  }
  return decisions;
};
