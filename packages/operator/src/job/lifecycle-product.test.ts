/**
 * What holds of every step in the life of a job: tried with everything that may be stored, in every world there may be.
 *
 * All inputs that make a difference are multiplied, also those that should never come together: whoever starts anew after an
 * outage finds whatever there is.
 */
import { BatchJob, JOB_PHASES, type JobPhase, type JobRun } from "@berth/model";
import { expect, it } from "vitest";
import type { Observation } from "../apps/application.ts";
import { type ApplicationView, isFinal, type JobStep, type JobWorld, nextStep } from "./lifecycle.ts";

type Status = NonNullable<BatchJob["status"]>;

const NOW = Date.UTC(2020, 0, 1);
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString().replace(".000", "");
/** That of a run before, the one that the status is about, and one that came after it. */
const CLAIMS = { before: at(-200), stored: at(-100), newer: at(-50) };
const SLOTS = [3, 4];
/** More rounds than any of them should need until nothing changes any more. */
const ROUNDS = 4;

const application = (claim: string, run: number, attempt: number, isGoing: boolean, observation: Observation) =>
  ({ name: `j-${run}`, uid: `u${run}`, kind: "Job", claim, run, attempt, isGoing, observation }) as const;

/** Histories: none, and one that is full. */
const HISTORIES: readonly JobRun[][] = [
  [],
  Array.from({ length: 20 }, (_, index) => ({
    number: 21 - index,
    outcome: "Completed" as const,
    completionTime: at(-1000 * (index + 1)),
  })),
];

/** Everything that may be stored about a job whose present run has the number 22. */
const UNREMARKABLE = {
  places: [],
  nodeOf: () => undefined,
  lost: [],
  survivesLoss: false,
  waitsFor: undefined,
  neighbours: () => ["n/other"],
};

function* statuses(): Generator<Status | undefined> {
  yield undefined;
  for (const runs of HISTORIES) {
    const run = 22;
    yield { phase: "Ready", run: 21, runs };
    yield { phase: "InQueue", run: 21, runs };
    for (const attempt of [0, 1]) {
      const begun = { run, attempt, claimTime: CLAIMS.stored, runs };
      for (const retryTime of [undefined, at(-5), at(5)]) {
        yield { ...begun, phase: "InQueue", ...(retryTime !== undefined && { retryTime }) };
      }
      const known = {
        ...begun,
        application: { kind: "Job", name: `j-${run}`, uid: `u${run}` },
        executors: { requested: 2, placed: 2, running: 2 },
      };
      for (const phase of ["Submitted", "Scheduled"] as const) yield { ...known, phase };
      yield { ...known, phase: "Running", startTime: at(-20) };
      for (const outcome of ["Completed", "Failed"] as const) {
        const completionTime = at(-10);
        const record = { number: run, outcome, message: "it was so", completionTime };
        const executors = { requested: 2, placed: 0, running: 0 };
        yield { ...known, phase: outcome, executors, completionTime, runs: [record, ...runs].slice(0, 20) };
      }
    }
  }
}

/** Everything that may be there: nothing, the application of a claim in any state, one of an earlier run, or both. */
function* applications(claim: string, attempt: number): Generator<readonly ApplicationView[]> {
  const observations: Observation[] = [
    { phase: "pending" },
    { phase: "running" },
    { phase: "completed", endTime: at(-30) }, // by a clock that is behind
    { phase: "failed", message: "out of luck" },
  ];
  const all = (ofClaim: string, run: number, tried: number) =>
    observations.flatMap((each) => [false, true].map((isGoing) => application(ofClaim, run, tried, isGoing, each)));
  const ours = all(claim, 22, attempt);
  const old = all(CLAIMS.before, 7, 0);
  yield [];
  for (const each of ours) yield [each];
  for (const each of old) yield [each];
  for (const mine of ours) {
    for (const other of old) {
      yield [mine, other];
      yield [other, mine];
    }
  }
}

interface Case {
  readonly job: BatchJob;
  readonly world: JobWorld;
}

function* cases(): Generator<Case> {
  for (const status of statuses()) {
    for (const hasHolder of [false, true]) {
      for (const since of [undefined, CLAIMS.stored, CLAIMS.newer]) {
        const claim = since === undefined ? undefined : { job: "n/j", testbed: "n/t", slots: SLOTS, since };
        for (const limit of [0, 1]) {
          const job: BatchJob = {
            metadata: { name: "j", namespace: "n" },
            spec: {
              jobSpec: {},
              retry: { limit, backoffSeconds: 10 },
              ...(hasHolder && { activeScheduling: { name: "s" } }),
            },
            ...(status && { status }),
          };
          for (const apps of applications(since ?? CLAIMS.stored, status?.attempt ?? 0)) {
            for (const placed of [0, 1, 2]) {
              const executors = { placed, running: placed };
              const world = { claim, applications: apps, executors, ...UNREMARKABLE, now: NOW };
              yield { job, world };
              if (placed > 0 || !claim) continue;
              const lost = ["slot 1 is gone with its node n"];
              yield { job, world: { ...world, lost } };
              yield { job, world: { ...world, lost, survivesLoss: true } };
            }
          }
        }
      }
    }
  }
}

/** What is wrong with a step, in words. */
function* wrongs({ job, world }: Case, { status, action, message }: JobStep): Generator<string> {
  const { status: before = {} } = job;
  const claim = job.spec.activeScheduling ? world.claim : undefined;
  const hasEnded = isFinal(before.phase) && (!job.spec.activeScheduling || before.claimTime === claim?.since);

  if (message.trim() === "") yield "it says nothing";
  if (!JOB_PHASES.includes(status.phase as JobPhase)) yield `${status.phase} is no phase`;

  if (action.type === "create") {
    if (world.applications.length > 0) yield "it creates an application while there is another one";
    if (!claim) yield "it creates an application without slots";
    if (action.run !== status.run || action.attempt !== status.attempt) yield "it creates what its status does not say";
    if (status.claimTime !== claim?.since) yield "it creates for another claim than its status says";
    const isSameRun = before.claimTime === claim?.since;
    if (isSameRun && Date.parse(before.retryTime ?? "") > world.now) yield "it tries again before it is time";
  }
  if (action.type === "wait" && action.until <= world.now) yield "it waits for what has been";
  if (action.type === "remove") {
    const removed = world.applications.find(({ name }) => name === action.name);
    if (removed?.isGoing !== false) yield "it removes what is not there, or is going";
  }

  // What has ended stays for people to look at, and only that.
  const isWanted = (each: ApplicationView) =>
    hasEnded ? each.claim === before.claimTime && isOver(each) : each.claim === claim?.since;
  const stray = world.applications.find((each) => !isWanted(each) && !each.isGoing);
  if (stray && (action.type !== "remove" || action.name !== stray.name)) yield "it leaves an application of no claim";

  if (hasEnded && JSON.stringify(status) !== JSON.stringify(before)) yield "it changes what is over";
  if (isFinal(status.phase)) {
    const record = status.runs?.find(({ number }) => number === status.run);
    if (status.completionTime === undefined) yield "it has ended at no time";
    if (record?.outcome !== status.phase) yield "its history does not say how it ended";
    const hasLost = world.lost.length > 0 && !world.survivesLoss;
    if (!hasEnded && !hasLost && !world.applications.some(isOver) && !isMissing(before, world))
      yield "it has ended for no reason";
  } else if (status.completionTime !== undefined) yield "it has a time of its end, and goes on";

  const tries = Math.max(job.spec.retry?.limit ?? 0, before.attempt ?? 0);
  if ((status.attempt ?? 0) > tries) yield "it tries more often than it may";

  const runs = status.runs ?? [];
  if (runs.length > 20) yield "its history is too long";
  if (new Set(runs.map(({ number }) => number)).size !== runs.length) yield "a run is in its history twice";
  if (runs.some(({ seconds = 0 }) => seconds < 0)) yield "a run took less than no time";
  if (runs.some(({ number }) => number > (status.run ?? 0))) yield "its history knows runs that have not been";

  const { executors } = status;
  if (executors && (executors.placed > world.executors.placed || executors.running > world.executors.running))
    yield "it claims executors that are not there";
  if (status.phase === "Ready" || status.phase === "InQueue") {
    if (status.startTime !== undefined) yield "it has started, and waits";
  } else if (status.retryTime !== undefined) yield "it waits for a time, and does not wait";
}

const isOver = ({ observation }: ApplicationView) =>
  observation.phase === "completed" || observation.phase === "failed";
/** Its application is known to have been there, and is not. */
const isMissing = (before: Status, { claim, applications: apps }: JobWorld) =>
  before.application !== undefined && !apps.some((each) => each.claim === claim?.since);

it("whatever is stored and whatever is there, a step is right, and is the last one if nothing changes", () => {
  const found = new Map<string, Case>();
  const seen = new Set<string>();
  let count = 0;
  for (const each of cases()) {
    count++;
    const first = nextStep(each.job, each.world);
    const problems = [...wrongs(each, first)];
    let [last, rounds] = [first, 0];
    for (; rounds < ROUNDS; rounds++) {
      const next = nextStep({ ...each.job, status: last.status }, each.world);
      if (JSON.stringify(next) === JSON.stringify(last)) break;
      const later = { ...each, job: { ...each.job, status: last.status } };
      problems.push(...wrongs(later, next));
      last = next;
    }
    if (rounds === ROUNDS) problems.push("it never comes to rest");
    for (const status of [first.status, last.status]) {
      const text = JSON.stringify(status);
      if (seen.has(text)) continue;
      seen.add(text);
      const [violation] = BatchJob.validate({ ...each.job, status });
      if (violation) problems.push(`${violation.path} ${violation.message}`);
    }
    for (const problem of problems) if (!found.has(problem)) found.set(problem, each);
  }
  expect(Object.fromEntries(found)).toEqual({});
  expect(count).toBeGreaterThan(50_000);
});
