/** Jobs for a scheduler to schedule, and what became of them. */
import { sleep, WallClock } from "@berth/kube";
import type { BerthClient, JobView } from "@berth/sdk";

/** How many executors a job wants, and for how long it runs. */
export interface Shape {
  readonly executors: { readonly preferred?: number; readonly min?: number };
  readonly seconds: number;
}

const wall = new WallClock();

/** Submits jobs, one after the other: their names are in the order of submission. */
export async function submit(client: BerthClient, shapes: readonly Shape[], prefix = "job"): Promise<void> {
  for (const [index, { executors, seconds }] of shapes.entries()) {
    const annotations = { "berth.dev/run-time": `${seconds}s` };
    const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } };
    const name = `${prefix}-${String(index).padStart(2, "0")}`;
    await client.submit({ kind: "BatchJob", metadata: { name }, spec: { executors, jobSpec: { template } } });
  }
}

/** Waits until so many jobs have completed, and nobody has them any more. */
export async function untilCompleted(client: BerthClient, count: number, prefix = "job"): Promise<readonly JobView[]> {
  for (;;) {
    const jobs = await jobsOf(client, prefix);
    if (jobs.filter(({ phase, scheduling }) => phase === "Completed" && !scheduling).length >= count) return jobs;
    await sleep(wall, 20);
  }
}

/** Waits until a scheduler has asked for its first turn. */
export async function untilHeardOf(client: BerthClient, scheduler: string, testbed = "main"): Promise<void> {
  while ((await client.testbed(testbed)).scheduler !== scheduler) await sleep(wall, 20);
}

/** By name, which is in the order of submission. */
export async function jobsOf(client: BerthClient, prefix = "job"): Promise<readonly JobView[]> {
  const { items } = await client.jobs({ limit: 500 });
  const ours = items.filter(({ name }) => name.startsWith(`${prefix}-`));
  return ours.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** "job-02: 0,1" for a job that has run once, in these slots; how a run ended is said if it was not well. */
export function placement(jobs: readonly JobView[]): string[] {
  return jobs.map(({ name, history }) =>
    [name, ...history.map(({ outcome, slots }) => `${outcome === "Completed" ? "" : outcome} ${slots}`)].join(":"),
  );
}
