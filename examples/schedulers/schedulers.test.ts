/** FIFO in every language, on an embedded cluster in virtual time: the same decisions, and so the same placement. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startBerth } from "@berth/cli";
import { VirtualClock } from "@berth/kube";
import { BerthClient } from "@berth/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CutLine } from "./testing/cut-line.ts";
import {
  cleanUpLanguages,
  type Language,
  languages,
  prepareLanguages,
  pythonEnv,
  SchedulerProcess,
} from "./testing/languages.ts";
import { jobsOf, placement, type Shape, submit, untilCompleted, untilHeardOf } from "./testing/workload.ts";

/** On eight slots. The third has to wait, and so has everybody after it, though there would be room for the fourth. */
const shapes: readonly Shape[] = [
  { executors: { preferred: 3 }, seconds: 7 },
  { executors: { preferred: 4 }, seconds: 12 },
  { executors: { preferred: 2 }, seconds: 5 },
  { executors: {}, seconds: 3 },
  { executors: { min: 2 }, seconds: 9 },
  { executors: { preferred: 8 }, seconds: 2 },
  { executors: { preferred: 1 }, seconds: 20 },
  { executors: { min: 1, preferred: 5 }, seconds: 4 },
  { executors: { preferred: 2 }, seconds: 6 },
  { executors: { preferred: 6 }, seconds: 3 },
  { executors: {}, seconds: 1 },
  { executors: { preferred: 7 }, seconds: 8 },
];

/** In which slots they run, each once, whatever the scheduler is written in. */
const placements = [
  "job-00: 0,1,2",
  "job-01: 3,4,5,6",
  "job-02: 0,1",
  "job-03: 2",
  "job-04: 2,7",
  "job-05: 0,1,2,3,4,5,6,7",
  "job-06: 0",
  "job-07: 1,2,3,4,5",
  "job-08: 6,7",
  "job-09: 1,2,3,4,5,6",
  "job-10: 7",
  "job-11: 1,2,3,4,5,6,7",
];

beforeAll(prepareLanguages);
afterAll(cleanUpLanguages);

interface World extends AsyncDisposable {
  readonly url: string;
  readonly client: BerthClient;
  /** Lets time pass as soon as there is a scheduler, and until so many jobs have completed. */
  passUntil(completed: number): Promise<void>;
}

/** Everything is submitted before there is a scheduler: from then on it is the same every time. */
async function startWithJobs(): Promise<World> {
  const clock = new VirtualClock();
  const berth = await startBerth({ clock, nodes: 4, slotsPerNode: 2 });
  // While nobody looks the clock would run through days, and keep a core busy with it.
  let goOn = clock.hold();
  const client = new BerthClient({ url: berth.url });
  await submit(client, shapes);
  return {
    ...{ url: berth.url, client },
    passUntil: async (completed) => {
      await untilHeardOf(client, "fifo");
      goOn();
      await untilCompleted(client, completed);
      goOn = clock.hold();
    },
    [Symbol.asyncDispose]: async () => {
      goOn();
      await berth[Symbol.asyncDispose]();
    },
  };
}

/** All jobs complete under a scheduler, which is then told to end. */
async function runToEnd({ client, passUntil }: World, language: Language, url: string, signal: "SIGTERM" | "SIGINT") {
  await using scheduler = new SchedulerProcess(language, url);
  await Promise.race([passUntil(shapes.length), scheduler.died()]);
  await scheduler.end(signal);
  const jobs = await jobsOf(client);
  const starts = jobs.map(({ history }) => history[0]?.started ?? Number.NaN);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(placement(jobs)).toEqual(placements);
}

describe.concurrent.each(languages)("a scheduler in $title", (language) => {
  it("starts jobs in the order of submission, in the same slots as in any language", async () => {
    await using world = await startWithJobs();
    await runToEnd(world, language, world.url, "SIGTERM");
  });

  it("asks again for answers that got lost, and nothing is done twice", async () => {
    await using world = await startWithJobs();
    await using line = await CutLine.to(world.url, [1, 3, 4]);
    await runToEnd(world, language, line.url, "SIGINT");
    expect(line.cuts).toBe(3);
  });
});

const restarted = languages.filter(({ title }) => title === "Python" || title === "Bash");

it.concurrent.for(restarted)("killed and started again, $title goes on, and nothing runs twice", async (language) => {
  await using world = await startWithJobs();
  const { client, passUntil } = world;
  await using first = new SchedulerProcess(language, world.url);
  await Promise.race([passUntil(2), first.died()]);
  await first.end("SIGKILL");
  const completed = (await jobsOf(client)).filter(({ phase }) => phase === "Completed");
  expect(completed.length).toBeLessThan(shapes.length);
  await using second = new SchedulerProcess(language, world.url);
  await Promise.race([passUntil(shapes.length), second.died()]);
  const outcomes = (await jobsOf(client)).map(({ history }) => history.map(({ outcome }) => outcome));
  expect(outcomes).toEqual(shapes.map(() => ["Completed"]));
});

it("twenty lines are enough, and the README shows them", () => {
  const text = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
  for (const file of ["fifo.py", "fifo-plain.py", "fifo.ts"]) {
    const code = text(file).slice(text(file).indexOf("\nimport "));
    expect(code.split("\n").filter((line) => line.trim() !== "").length, file).toBeLessThanOrEqual(20);
  }
  expect(text("README.md")).toContain(text("fifo.py").trimEnd());
  expect(text("README.md")).toContain(text("fifo-plain.py").trimEnd());
});

it("the Python client passes its own tests", async () => {
  const cwd = join(import.meta.dirname, "../../clients/python");
  await promisify(execFile)("python3", ["-W", "error", "-m", "unittest"], { cwd, env: pythonEnv });
});
