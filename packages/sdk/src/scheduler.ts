/** Runs a scheduler: asks for turns, lets it decide, and comes back after whatever goes wrong. */
import type { Decision } from "@berth/model";
import { BerthClient, type ClientOptions } from "./client.ts";
import { pause } from "./clock.ts";
import { BerthError } from "./errors.ts";
import { State } from "./state.ts";

/** Decisions, and when to be asked again at the latest, in seconds of the turns' clock. */
export interface Decided {
  readonly decisions?: readonly Decision[];
  readonly callAt?: number;
}

/** What a scheduler is: from what is known to what is to be done. */
export type Decide = (state: State) => readonly Decision[] | Decided | Promise<readonly Decision[] | Decided>;

export interface SchedulerOptions extends ClientOptions {
  /** Whose slots it gives away. */
  readonly testbed: string;
  /** Its own name: one process at a time goes by it. Default: "scheduler". */
  readonly name?: string;
  /** A label selector: which jobs are its affair. Default: all. */
  readonly jobs?: string;
  readonly decide: Decide;
  /** Ends it: after the turn that it is about to answer. */
  readonly signal?: AbortSignal;
  /** Told of each turn, with what was decided. */
  readonly onTurn?: (state: State, decisions: readonly Decision[]) => void;
  /** Told when the gateway could not be reached, or not do what it was asked; it is tried again then. Default: a line on standard error. */
  readonly onError?: (error: unknown) => void;
}

/** Another process goes by the same name, or has the testbed: to try again would be to fight over it. */
const FATAL: ReadonlySet<string> = new Set([
  "BERTH_SCHEDULER_REPLACED",
  "BERTH_TESTBED_TAKEN",
  "BERTH_UNAUTHENTICATED",
  "BERTH_FORBIDDEN",
  "BERTH_BODY_INVALID",
]);
/** The gateway does not remember us: we begin anew. */
const BEGIN_ANEW: ReadonlySet<string> = new Set(["BERTH_TURN_PASSED", "BERTH_TURN_UNKNOWN", "BERTH_TURN_DIFFERS"]);

function warn(error: unknown): void {
  console.warn(`berth: ${error instanceof Error ? error.message : String(error)}; trying again`);
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** Runs until the signal is aborted. Rejects if it cannot go on, and with whatever `decide` throws. */
export async function runScheduler(options: SchedulerOptions): Promise<void> {
  const { testbed, name = "scheduler", jobs, decide, signal, onTurn, onError = warn } = options;
  const client = new BerthClient(options);
  const state = new State();
  let after: number | undefined;
  let decided: Decided = {};
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const reply = await client.turn(
        name,
        {
          ...{ testbed, view: "delta" },
          ...(jobs !== undefined && { jobs }),
          ...(after !== undefined && { after, decisions: [...(decided.decisions ?? [])] }),
          ...(decided.callAt !== undefined && { callAt: decided.callAt }),
        },
        signal,
      );
      failures = 0;
      state.apply(reply);
    } catch (error) {
      if (signal?.aborted) break;
      if (error instanceof BerthError && FATAL.has(error.code)) throw error;
      if (error instanceof BerthError && BEGIN_ANEW.has(error.code)) {
        after = undefined;
        decided = {};
      }
      onError(error);
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS), signal).catch(() => {}); // the loop ends
      continue;
    }
    const answer = await decide(state);
    decided = Array.isArray(answer) ? { decisions: answer } : (answer as Decided);
    after = state.turn;
    onTurn?.(state, decided.decisions ?? []);
  }
  await client.endScheduler(name, testbed).catch(onError); // it is noticed anyway, a little later
}
