/** Which requests may be sent again, and when. Pure. */
import { KubeError } from "../errors.ts";
import { jitter, type Random } from "../time/random.ts";
import { ApiError } from "../transport/api-error.ts";
import type { Verb } from "../transport/transport.ts";

/** Errors with which no byte of the request can have reached a server. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
/** The same, unless they come from a connection that stood. */
const NEVER_CONNECTED = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/**
 * How many milliseconds to wait before a request is sent again; `undefined` if it must not be.
 *
 * A read may always be repeated. A write only if the server surely did not carry it out: it is too busy (429, or 503 with
 * Retry-After), or no byte of the request reached it. After anything else the write may have happened, and doing it
 * again could undo what somebody else has done since.
 */
export function pauseBeforeRetry(error: unknown, verb: Verb, attempt: number, random: Random): number | undefined {
  const grown = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  if (error instanceof ApiError) {
    const asked = error.retryAfterSeconds;
    const busy = error.status === 429 || (error.status === 503 && asked !== undefined);
    const again = busy || (error.status >= 500 && isRead(verb));
    if (!again || isDisruptionBudget(error)) return undefined;
    // All who were refused at once must not come back at once.
    return asked === undefined ? jitter(random, grown, 0.5) : asked * 1000 * (1 + 0.2 * random.next());
  }
  if (error instanceof KubeError && error.code === "KUBE_CONNECTION_FAILED") {
    return isRead(verb) || wasNeverSent(error) ? jitter(random, grown, 0.5) : undefined;
  }
  return undefined;
}

const isRead = (verb: Verb) => verb === "get" || verb === "list";

/** An eviction that a budget does not allow now is an answer, and what to do about it is for the caller to decide. */
const isDisruptionBudget = ({ causes }: ApiError) => causes.some(({ reason }) => reason === "DisruptionBudget");

function wasNeverSent({ cause }: { cause?: unknown }): boolean {
  // Several addresses were tried: none of them may have got it.
  if (cause instanceof AggregateError) return cause.errors.every((error) => wasNeverSent({ cause: error }));
  const { code = "", syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  return NEVER_SENT.has(code) || (NEVER_CONNECTED.has(code) && syscall === "connect");
}
