/** In the order of submission, on the nodes with the most free slots: neighbours are few. */
import type { Decide, Decision } from "@berth/sdk";
import { wantedBy } from "./wishes.ts";

export const spread: Decide = (state) => {
  const decisions: Decision[] = [];
  for (const job of state.queue) {
    const wanted = wantedBy(job);
    const slots: number[] = [];
    while (slots.length < wanted) {
      const free = new Map<string, number>();
      for (const { node } of state.free) free.set(node, (free.get(node) ?? 0) + 1);
      const slot = state.take(1, (a, b) => (free.get(b.node) ?? 0) - (free.get(a.node) ?? 0) || a.id - b.id);
      if (!slot) return decisions; // this one has to wait, and nobody overtakes
      slots.push(...slot);
    }
    decisions.push({ job: job.name, slots, reason: "on the emptiest nodes" });
  }
  return decisions;
};
