/**
 * What an informer does next, as an explicit state machine. Pure: it is told what has happened, and answers with the state
 * after it; the informer carries out what the state asks for.
 *
 *   empty ──stream──▶ streaming ──marker──▶ watching ──▶ watching …
 *     │                   │ refused            │
 *     └──list──▶ listing ◀┘      ──last page──▶│
 *     ▲                                        │ expired, out of order
 *     └────────────────────────────────────────┘
 */
import { jitter, type Random } from "../time/random.ts";

export type State = { readonly failures: number; readonly streams: Streams } & (
  | { readonly phase: "empty" }
  /** All objects come as events, up to a marker. */
  | { readonly phase: "streaming" }
  /** All objects come in pages. */
  | { readonly phase: "listing" }
  /** Changes come, after this version. `heard` says whether any event has come since the watch began. */
  | { readonly phase: "watching"; readonly resourceVersion: string; readonly heard: boolean }
);

/** Whether the server can send a list as a stream; "no" once it has refused. */
export type Streams = "perhaps" | "no";

/** What an attempt came to. */
export type Outcome =
  | { readonly type: "listed"; readonly resourceVersion: string }
  /** One of the first objects came. */
  | { readonly type: "listing" }
  /** An event came that says how far the watch is: a change, a bookmark, the marker after the first objects. */
  | { readonly type: "reached"; readonly resourceVersion: string }
  /** A bookmark without a marker came where a marker should: the server does not know what we asked for. */
  | { readonly type: "unmarked" }
  /** The server ended the stream, as it does from time to time. */
  | { readonly type: "ended" }
  /** Nothing came for longer than anything should take. */
  | { readonly type: "silent" }
  /** The server does not know any more what has changed since. */
  | { readonly type: "expired" }
  /** The server does not send lists as streams. */
  | { readonly type: "refused" }
  /** Events came in an order that cannot be. */
  | { readonly type: "disorder" }
  | { readonly type: "failed" };

export const start = (streams: Streams): State => ({ phase: "empty", failures: 0, streams });

/** What to do in a state: `empty` is where the way of getting everything is chosen. */
export function begin(state: State): State {
  if (state.phase === "watching") return { ...state, heard: false };
  const { failures, streams } = state;
  return { phase: streams === "no" ? "listing" : "streaming", failures, streams };
}

export function after(state: State, outcome: Outcome): State {
  const { streams } = state;
  const empty = (failures: number, streams: Streams): State => ({ phase: "empty", failures, streams });
  switch (outcome.type) {
    case "listed":
    case "reached":
      return { phase: "watching", resourceVersion: outcome.resourceVersion, heard: true, failures: 0, streams };
    case "listing":
      return state;
    case "unmarked":
    case "refused":
      // Only where the list was asked for as a stream does this say anything about that.
      return state.phase === "streaming" ? empty(state.failures, "no") : failed(state);
    case "ended":
      // A stream that ends without a word is as good as a failure: begun again at once, it would go round in circles.
      return state.phase === "watching" && state.heard ? { ...state, failures: 0 } : failed(state);
    case "silent":
      // A watch of something that never changes may well be: it is begun again, at once and without complaint.
      return state.phase === "watching" ? state : failed(state);
    case "expired":
    case "disorder":
      return empty(state.failures + 1, streams);
    case "failed":
      return failed(state);
  }
}

/** What is known stays known; half a list is worth nothing. */
function failed(state: State): State {
  const failures = state.failures + 1;
  return state.phase === "watching" ? { ...state, failures } : { phase: "empty", failures, streams: state.streams };
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;

/** How long to wait before the next attempt. After an orderly end: not at all. */
export function pauseOf({ failures }: State, random: Random): number {
  if (failures === 0) return 0;
  // A thousand informers that lost the same server must not all come back in the same moment.
  return jitter(random, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), 0.5);
}
