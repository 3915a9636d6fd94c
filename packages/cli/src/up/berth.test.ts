/** Everything together, in virtual time: the schedulers that come along place the demonstration's jobs. */
import { VirtualClock } from "@berth/kube";
import { schedulers } from "@berth/schedulers";
import { BerthClient, runScheduler } from "@berth/sdk";
import { describe, expect, it } from "vitest";
import { workload } from "../demo/workload.ts";
import { startBerth } from "./berth.ts";

/** Which runs went wrong, and which slots were used. */
async function played(scheduler: string): Promise<{ outcomes: string[]; seconds: number }> {
  const clock = new VirtualClock();
  await using berth = await startBerth({ clock });
  const client = new BerthClient({ url: berth.url });
  const decide = schedulers[scheduler]?.decide;
  if (!decide) throw new Error("there is no such scheduler");
  for (const { manifest } of workload(berth.kinds)) await client.submit(manifest);
  const stop = new AbortController();
  const begun = clock.now();
  const running = runScheduler({
    ...{ url: berth.url, testbed: "main", name: scheduler, decide, signal: stop.signal },
    onTurn: (state) => {
      if (state.queue.length + state.running.length === 0) stop.abort();
    },
    onError: (error) => {
      throw error;
    },
  });
  await running;
  const { items } = await client.jobs();
  const outcomes = items.map(({ name, kind, history }) => `${name} ${kind} ${history.map(({ outcome }) => outcome)}`);
  return { outcomes, seconds: (clock.now() - begun) / 1000 };
}

describe("Berth in one process", () => {
  it.each(Object.keys(schedulers))("runs all jobs of the demonstration by %s, once each", async (scheduler) => {
    const { outcomes } = await played(scheduler);
    expect(outcomes).toEqual([
      "backup job Completed",
      "clickstream flink Completed",
      "fraud flink Completed",
      "invoices job Completed",
      "k-means spark Completed",
      "page-rank spark Completed",
      "pi job Completed",
      "report spark Completed",
      "terasort spark Completed",
      "thumbnails job Completed",
      "transcode job Completed",
      "wordcount spark Completed",
    ]);
  });

  it("waits for the first scheduler without letting time pass", async () => {
    const clock = new VirtualClock();
    await using berth = await startBerth({ clock, nodes: 1 });
    const client = new BerthClient({ url: berth.url });
    const begun = clock.now();
    for (const { manifest } of workload(berth.kinds)) await client.submit(manifest);
    const { time } = await client.turn("late", { testbed: "main" });
    expect([clock.now(), time]).toEqual([begun, 0]);
  });

  it("gets through sooner if small jobs may overtake", async () => {
    const [strict, overtaking] = [await played("fifo"), await played("backfill")];
    expect(overtaking.seconds).toBeLessThanOrEqual(strict.seconds);
  });
});
