/** First in, first out, with @berth/sdk. */
import { type Decision, runScheduler } from "@berth/sdk";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

await runScheduler({
  testbed: process.env.BERTH_TESTBED ?? "main",
  name: "fifo",
  signal: stop.signal,
  decide(state) {
    const decisions: Decision[] = [];
    for (const job of state.queue) {
      const slots = state.take(job.executors.preferred ?? job.executors.min ?? 1);
      if (!slots) break; // whoever comes later waits as well
      decisions.push({ job: job.name, slots, reason: "first in the queue" });
    }
    return decisions;
  },
});
