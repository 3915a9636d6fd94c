/** What can go wrong on the way to an API server and back, and which requests it happens to. */
import { integer, pick, type Random } from "../time/random.ts";
import type { Verb } from "./routes.ts";

/**
 * `after` counts what a watch has delivered: events, and the bookmark after the objects that were there already; not the
 * bookmarks that come by the clock. Default: 0.
 */
export type Fault =
  /** Nothing goes wrong: lets a request of a script pass. */
  | { readonly type: "none" }
  /** A refusal; the request is not carried out. A bare one has no `Status`, as those of proxies in between. */
  | { readonly type: "status"; readonly code: number; readonly retryAfter?: number; readonly bare?: boolean }
  /** The connection is reset instead of an answer. Executed: what was to be written is, but nobody hears of it. */
  | { readonly type: "reset"; readonly executed?: boolean }
  /** No answer, ever, and nothing is carried out. A watch with `after` is answered, and then falls silent. */
  | { readonly type: "silence"; readonly after?: number }
  /** The connection ends inside the answer; that of a watch, inside the line after so many events. */
  | { readonly type: "cut"; readonly after?: number }
  /** An answer that is not JSON; in a watch, one such line, after which it goes on. */
  | { readonly type: "garbage"; readonly after?: number }
  /** A few bytes at a time, whatever they cut in two. */
  | { readonly type: "slow" }
  /** A watch ends as if its time were up, but without a last bookmark. */
  | { readonly type: "end"; readonly after?: number }
  /** A watch ends with an event of type ERROR: 410 is what it says of a history that is gone. */
  | { readonly type: "error"; readonly code: number; readonly after?: number }
  /** Every line of a watch comes twice. */
  | { readonly type: "double" }
  /** Events of a watch come in pairs, the later one first; never with anything in between. */
  | { readonly type: "swap" };

export type FaultType = Fault["type"];

/** Which requests a fault is for. */
export interface Matcher {
  /** Default: all that the fault can happen to. */
  readonly verb?: Verb | readonly Verb[];
  /** The resource as in URLs. Default: all. */
  readonly plural?: string;
  /** For how many requests. Default: 1. */
  readonly count?: number;
}

export interface Step extends Matcher {
  readonly fault: Fault;
}

export interface RandomFaultOptions {
  /** The share of requests that something happens to, 0 to 1. */
  readonly rate: number;
  /** Default: all but "none". */
  readonly types?: readonly FaultType[];
}

/** The faults that are still to happen. */
export class FaultPlan {
  /** Each is a sequence of its own: only its first step can happen. */
  #scripts: { readonly step: Step; left: number }[][] = [];
  #draw: ((verb: Verb) => Fault | undefined) | undefined;

  /** How many steps have not happened as often as they should. */
  get left(): number {
    return this.#scripts.reduce((sum, script) => sum + script.length, 0);
  }

  add(steps: readonly Step[]): void {
    this.#scripts.push(steps.map((step) => ({ step, left: step.count ?? 1 })));
  }

  addRandom(random: Random, { rate, types = RANDOM_TYPES }: RandomFaultOptions): void {
    this.#draw = (verb) => {
      const possible = types.filter((type) => canHappenTo(type, verb));
      return random.next() < rate && possible.length > 0 ? randomFault(random, pick(random, possible)) : undefined;
    };
  }

  clear(): void {
    this.#scripts = [];
    this.#draw = undefined;
  }

  /** What is to happen to a request. Scripts go before chance, and the older of them first. */
  take(verb: Verb, plural: string): Fault | undefined {
    const script = this.#scripts.find(([next]) => next !== undefined && matches(next.step, verb, plural));
    const [next] = script ?? [];
    if (!script || !next) return this.#draw?.(verb);
    if (--next.left <= 0) script.shift();
    return next.step.fault;
  }
}

const WATCH_ONLY: readonly FaultType[] = ["end", "error", "double", "swap"];
const RANDOM_TYPES: readonly FaultType[] = ["status", "reset", "silence", "cut", "garbage", "slow", ...WATCH_ONLY];

function canHappenTo(type: FaultType, verb: Verb): boolean {
  return verb === "watch" || !WATCH_ONLY.includes(type);
}

function matches({ verb, plural, fault }: Step, asked: Verb, of: string): boolean {
  if (verb !== undefined && ![verb].flat().includes(asked)) return false;
  return (plural === undefined || plural === of) && canHappenTo(fault.type, asked);
}

function randomFault(random: Random, type: FaultType): Fault {
  const after = integer(random, 0, 6);
  const coin = random.next() < 0.5;
  switch (type) {
    case "status": {
      const code = pick(random, [429, 500, 503, 504]);
      return { type, code, bare: coin, ...(code === 429 && { retryAfter: 0 }) };
    }
    case "reset":
      return { type, executed: coin };
    case "silence":
      return coin ? { type, after } : { type };
    case "cut":
    case "garbage":
    case "end":
      return { type, after };
    case "error":
      return { type, code: coin ? 410 : 500, after };
    default:
      return { type };
  }
}
