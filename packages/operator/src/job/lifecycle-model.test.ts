/**
 * All lives that a job can have, in a small model of the world: whatever can happen does happen, in every order.
 *
 * Time stands still, except that a time that is waited for comes: so there are not too many states to look at each of them.
 */
import { BatchJob, JOB_PHASES } from "@berth/model";
import { beforeAll, describe, expect, it } from "vitest";
import { type ApplicationView, isFinal, type JobStep, nextStep } from "./lifecycle.ts";

const NOW = Date.UTC(2020, 0, 1);
/** How often the job is given slots, and how often a run is tried again. */
const CLAIMS = 2;
const RETRIES = 1;

interface State {
  readonly status?: BatchJob["status"];
  readonly hasHolder: boolean;
  readonly claim?: string | undefined;
  /** How many claims there have been. */
  readonly claims: number;
  readonly application?: ApplicationView | undefined;
  readonly placed: number;
}

interface Move {
  readonly to: State;
  /** It happens by itself sooner or later, without anybody who changes their mind. */
  readonly byItself: boolean;
  /** If it was the operator who moved. */
  readonly step?: JobStep;
}

const START: State = { hasHolder: false, claims: 0, placed: 0 };

function stepFrom({ status, hasHolder, claim, application, placed }: State): JobStep {
  const job: BatchJob = {
    metadata: { name: "j", namespace: "n" },
    spec: {
      jobSpec: {},
      retry: { limit: RETRIES, backoffSeconds: 10 },
      ...(hasHolder && { activeScheduling: { name: "s" } }),
    },
    ...(status && { status }),
  };
  return nextStep(job, {
    claim: claim === undefined ? undefined : { job: "n/j", testbed: "n/t", slots: [3, 4], since: claim },
    applications: application ? [application] : [],
    executors: { placed, running: placed },
    neighbours: () => [],
    places: [],
    nodeOf: () => undefined,
    lost: [],
    survivesLoss: false,
    waitsFor: undefined,
    now: NOW,
  });
}

/** The operator looks, writes what it sees, and acts, unless it dies before that. */
function* operatorMoves(state: State): Generator<Move> {
  const step = stepFrom(state);
  const { action } = step;
  const { application, claim } = state;
  const written = { ...state, status: step.status };
  yield { to: written, byItself: true, step };
  if (action.type === "remove" && application) {
    yield { to: { ...written, application: { ...application, isGoing: true } }, byItself: true, step };
  }
  if (action.type === "create") {
    const { run, attempt } = action;
    const made = { name: `j-${run}`, uid: `u${run}.${attempt}`, kind: "Job", run, attempt, isGoing: false };
    const observation = { phase: "pending" } as const;
    yield { to: { ...written, application: { ...made, claim: claim ?? "", observation } }, byItself: true, step };
  }
}

/** What applications do, and time, and those who put executors into their slots. */
function* worldMoves(state: State): Generator<Move> {
  const { status, application, placed } = state;
  if (status?.retryTime !== undefined && Date.parse(status.retryTime) > NOW) {
    yield { to: { ...state, status: { ...status, retryTime: "2020-01-01T00:00:00Z" } }, byItself: true };
  }
  if (!application) {
    if (placed > 0) yield { to: { ...state, placed: 0 }, byItself: true };
    return;
  }
  const { isGoing, observation } = application;
  for (const number of [0, 1, 2]) if (number !== placed) yield { to: { ...state, placed: number }, byItself: true };
  if (isGoing) yield { to: { ...state, application: undefined }, byItself: true };
  if (observation.phase === "completed" || observation.phase === "failed") return;
  for (const phase of ["pending", "running", "completed", "failed"] as const) {
    if (phase === observation.phase) continue;
    yield { to: { ...state, application: { ...application, observation: { phase } } }, byItself: true };
  }
}

/** What people and Schedulings do. */
function* otherMoves(state: State): Generator<Move> {
  const { application, claims } = state;
  yield { to: { ...state, hasHolder: false, claim: undefined }, byItself: false };
  yield { to: { ...state, hasHolder: true, claim: undefined }, byItself: false };
  if (claims < CLAIMS) {
    const claim = `2020-01-01T00:00:0${claims + 1}Z`;
    yield { to: { ...state, hasHolder: true, claim, claims: claims + 1 }, byItself: false };
  }
  if (application) yield { to: { ...state, application: { ...application, isGoing: true } }, byItself: false };
}

function moves(state: State): Move[] {
  return [...operatorMoves(state), ...worldMoves(state), ...otherMoves(state)];
}

/** The job is where it is to be, for as long as nobody wants anything else of it. */
function isAtRest({ status, hasHolder, claim, application }: State): boolean {
  if (claim !== undefined) return isFinal(status?.phase) && status.claimTime === claim;
  if (!hasHolder && isFinal(status?.phase)) return true;
  const waits = status?.phase === (hasHolder ? "InQueue" : "Ready") && status.claimTime === undefined;
  return waits && application === undefined;
}

const states = new Map<string, State>();
const keyOf = (state: State) => JSON.stringify(state);
/** For each state: those from which one comes there by itself. */
const origins = new Map<string, string[]>();
/** "from → to" of the operator's steps: while the job has the same slots, and when it gets some or loses them. */
const transitions = { same: new Set<string>(), other: new Set<string>() };

beforeAll(() => {
  const open = [START];
  states.set(keyOf(START), START);
  for (let state = open.pop(); state; state = open.pop()) {
    const from = keyOf(state);
    for (const { to, byItself, step } of moves(state)) {
      const key = keyOf(to);
      if (byItself)
        origins
          .set(key, origins.get(key) ?? [])
          .get(key)
          ?.push(from);
      if (step && step.status.phase !== state.status?.phase) {
        const isSame = state.claim !== undefined && state.claim === state.status?.claimTime;
        transitions[isSame ? "same" : "other"].add(`${state.status?.phase ?? "new"} → ${step.status.phase}`);
      }
      if (states.has(key)) continue;
      states.set(key, to);
      open.push(to);
    }
  }
});

/** One line for each phase that is left, with those that it is left for. */
function table(of: ReadonlySet<string>): string {
  const phases = ["new", ...JOB_PHASES];
  const lines = phases.map((from) => {
    const next = JOB_PHASES.filter((to) => of.has(`${from} → ${to}`));
    return next.length === 0 ? "" : `${from.padEnd(9)} → ${next.join(", ")}`;
  });
  return lines.filter(Boolean).join("\n");
}

describe("of all states that a job can get into", () => {
  it("each leads to its end, or to where the job waits, if people leave it alone", () => {
    const safe = new Set([...states].filter(([, state]) => isAtRest(state)).map(([key]) => key));
    const open = [...safe];
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      for (const origin of origins.get(key) ?? []) {
        if (safe.has(origin)) continue;
        safe.add(origin);
        open.push(origin);
      }
    }
    const [stuck] = [...states].filter(([key]) => !safe.has(key)).map(([, state]) => state);
    expect(stuck).toBeUndefined();
    expect(states.size).toBeGreaterThan(10_000);
  });

  it("those in which it is at rest are not left by the operator", () => {
    for (const state of [...states.values()].filter(isAtRest)) {
      const { status, action } = stepFrom(state);
      expect([status, action]).toEqual([state.status, { type: "none" }]);
    }
  });

  it("none has a status that the definition does not take", () => {
    const spec = { jobSpec: {} };
    const statuses = new Set([...states.values()].map(({ status }) => JSON.stringify(status ?? {})));
    for (const status of statuses) {
      expect(BatchJob.validate({ metadata: { name: "j" }, spec, status: JSON.parse(status) })).toEqual([]);
    }
  });

  it("these are the changes from phase to phase while a job has the same slots", () => {
    expect(table(transitions.same)).toMatchInlineSnapshot(`
      "InQueue   → Submitted, Scheduled, Running, Completed, Failed
      Submitted → InQueue, Scheduled, Running, Completed, Failed
      Scheduled → InQueue, Submitted, Running, Completed, Failed
      Running   → InQueue, Submitted, Scheduled, Completed, Failed"
    `);
  });

  it("and these when it gets slots or loses them", () => {
    expect(table(transitions.other)).toMatchInlineSnapshot(`
      "new       → Ready, InQueue
      Ready     → InQueue
      InQueue   → Ready
      Submitted → Ready, InQueue
      Scheduled → Ready, InQueue
      Running   → Ready, InQueue
      Completed → InQueue
      Failed    → InQueue"
    `);
  });
});
