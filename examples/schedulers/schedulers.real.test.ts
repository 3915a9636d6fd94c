/** FIFO in every language on a real control plane, one after the other. */
import { type Berth, startBerth } from "@berth/cli";
import { BerthClient } from "@berth/sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cleanUpLanguages, languages, prepareLanguages, SchedulerProcess } from "./testing/languages.ts";
import { jobsOf, type Shape, submit, untilCompleted } from "./testing/workload.ts";

/** On four slots: the third has to wait, and so has the fourth, though there would be room for it. */
const shapes: readonly Shape[] = [
  { executors: { preferred: 2 }, seconds: 1 },
  { executors: {}, seconds: 1 },
  { executors: { min: 3 }, seconds: 1 },
  { executors: { preferred: 1 }, seconds: 1 },
  { executors: { preferred: 4 }, seconds: 1 },
];

let berth: Berth;

beforeAll(async () => {
  await prepareLanguages();
  berth = await startBerth({ cluster: "local", nodes: 2, slotsPerNode: 2 });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  cleanUpLanguages();
});

it.for(languages)("$title", async (language) => {
  const client = new BerthClient({ url: berth.url });
  const prefix = language.title.toLowerCase().replace(" ", "-");
  await submit(client, shapes, prefix);
  await using scheduler = new SchedulerProcess(language, berth.url);
  await Promise.race([untilCompleted(client, shapes.length, prefix), scheduler.died()]);
  await scheduler.end("SIGTERM");
  const jobs = await jobsOf(client, prefix);
  expect(jobs.map(({ history }) => history.map(({ outcome, slots }) => `${outcome} ${slots?.length}`))).toEqual(
    shapes.map(({ executors: { preferred, min } }) => [`Completed ${preferred ?? min ?? 1}`]),
  );
  expect(await decided(client, prefix)).toEqual(jobs.map(({ name }) => name));
});

/** Which jobs were given slots, in this order. */
async function decided(client: BerthClient, prefix: string): Promise<string[]> {
  const { items } = await client.schedulings({ limit: 500 });
  const turns = items.toSorted((a, b) => (a.turn ?? 0) - (b.turn ?? 0));
  return turns.flatMap(({ jobs }) => jobs.map(({ name }) => name)).filter((name) => name.startsWith(`${prefix}-`));
}
