/** Plays the demonstration: jobs come, a scheduler that comes with Berth places them, and those that have ended come again. */
import { type Clock, sleep } from "@berth/kube";
import { schedulers } from "@berth/schedulers";
import { BerthClient, BerthError, runScheduler } from "@berth/sdk";
import { workload } from "./workload.ts";

export interface PlayOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Kinds of applications that the cluster can run. */
  readonly kinds: readonly string[];
  /** Of the schedulers that come with Berth. */
  readonly scheduler: string;
  readonly testbed: string;
  /** Whether jobs come one after the other, and again after a while; otherwise all of them are there at once, and then no more. */
  readonly forever: boolean;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

const REST_SECONDS = 20;

/** Until the signal is aborted. */
export async function play(options: PlayOptions): Promise<void> {
  const { url, testbed, scheduler, signal, onError } = options;
  const decide = schedulers[scheduler]?.decide;
  if (!decide) throw new Error(`there is no scheduler ${scheduler}: ${Object.keys(schedulers).join(", ")}`);
  const placing = runScheduler({ url, testbed, name: scheduler, decide, signal, onError }).catch((error: unknown) => {
    // Somebody tries a scheduler of his own under the same name: that is what this is for.
    if (!(error instanceof BerthError) || error.code !== "BERTH_SCHEDULER_REPLACED") throw error;
  });
  const coming = submitAll(options).catch((error: unknown) => {
    if (!signal.aborted) onError(error);
  });
  await Promise.all([placing, coming]);
}

async function submitAll({ url, clock, kinds, forever, signal }: PlayOptions): Promise<void> {
  const client = new BerthClient({ url });
  let now = 0;
  for (const { at, manifest } of workload(kinds)) {
    if (forever && at > now) await sleep(clock, (at - now) * 1000, signal);
    now = at;
    await client.submit(manifest);
  }
  while (forever) {
    await sleep(clock, REST_SECONDS * 1000, signal);
    const { items } = await client.jobs();
    const idle = items.filter(({ phase, scheduling }) => scheduling === undefined && /Completed|Failed/.test(phase));
    for (const { name } of idle) {
      await client.retry(name).catch((error: unknown) => {
        if (!(error instanceof BerthError)) throw error; // somebody was quicker
      });
    }
  }
}
