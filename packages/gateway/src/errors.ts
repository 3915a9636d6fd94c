/** What can be wrong with what somebody asks of the gateway: a stable code, an HTTP status, and what to do about it. */

interface Entry {
  readonly status: number;
  /** In a few words. */
  readonly title: string;
  readonly remedy: string;
}

/** The page `docs/reference/errors.md` explains each of them; a test keeps the two in step. */
export const errorCatalogue = {
  BERTH_BODY_INVALID: {
    status: 400,
    title: "The request is not what it should be",
    remedy: "Correct the fields that the message names; /docs says what they may be.",
  },
  BERTH_BODY_TOO_LARGE: {
    status: 413,
    title: "The request is too large",
    remedy: "Send less at once, or have the limit of the gateway raised (limits.bodyBytes).",
  },
  BERTH_HEADERS_TOO_LARGE: {
    status: 431,
    title: "The headers are too many or too large",
    remedy: "Send fewer and shorter headers.",
  },
  BERTH_REQUEST_TOO_SLOW: {
    status: 408,
    title: "The request took too long to arrive",
    remedy: "Send it again, at once and as a whole.",
  },
  BERTH_MANIFEST_INVALID: {
    status: 422,
    title: "The manifest is not valid",
    remedy: "Correct the fields that the message names.",
  },
  BERTH_NOT_FOUND: { status: 404, title: "There is no such thing", remedy: "Look at the list of what there is." },
  BERTH_METHOD_NOT_ALLOWED: {
    status: 405,
    title: "That cannot be done with it",
    remedy: "Use one of the methods in the Allow header.",
  },
  BERTH_ALREADY_EXISTS: { status: 409, title: "There is one already", remedy: "Choose another name." },
  BERTH_CHANGED_MEANWHILE: {
    status: 412,
    title: "It was changed meanwhile",
    remedy: "Read it again, and send the ETag that it has now in If-Match.",
  },
  BERTH_MEDIA_TYPE_UNKNOWN: {
    status: 415,
    title: "The type of the body is not known",
    remedy: "Send JSON or YAML, and say so in Content-Type.",
  },
  BERTH_UNAUTHENTICATED: {
    status: 401,
    title: "Nobody knows who you are",
    remedy: "Send a Kubernetes token: Authorization: Bearer …; kubectl create token makes one.",
  },
  BERTH_FORBIDDEN: {
    status: 403,
    title: "You may not do that",
    remedy: "Ask whoever looks after the cluster for the right that the message names.",
  },
  BERTH_TOO_MANY_REQUESTS: {
    status: 429,
    title: "Too many requests",
    remedy: "Wait for as long as Retry-After says.",
  },
  BERTH_TOO_MANY_STREAMS: {
    status: 429,
    title: "Too many streams",
    remedy: "Close streams that nobody reads, or read several topics in one.",
  },
  BERTH_UNAVAILABLE: {
    status: 503,
    title: "The gateway cannot answer that now",
    remedy: "Try again: it has just started, or the API server does not answer.",
  },
  BERTH_GATEWAY_FAILED: {
    status: 500,
    title: "The gateway has failed",
    remedy: "It is not your fault: look into its log, and tell us.",
  },
  BERTH_GATEWAY_OPEN: {
    status: 500,
    title: "The gateway would be open to everybody",
    remedy: "Switch authentication on, or let it listen on 127.0.0.1 only.",
  },
  BERTH_GATEWAY_OPTION_INVALID: {
    status: 500,
    title: "An option is not valid",
    remedy: "Correct the option that the message names.",
  },
  BERTH_TESTBED_UNKNOWN: {
    status: 404,
    title: "There is no such testbed",
    remedy: "Create it, or name one of those that there are: GET /v1/testbeds.",
  },
  BERTH_TESTBED_TAKEN: {
    status: 409,
    title: "Another scheduler has the testbed",
    remedy: "Take another testbed, or wait until the other scheduler has ended.",
  },
  BERTH_TURN_PASSED: {
    status: 409,
    title: "That turn is over",
    remedy: "Begin anew: send a turn without `after`.",
  },
  BERTH_TURN_UNKNOWN: {
    status: 409,
    title: "There was no such turn",
    remedy: "Begin anew: send a turn without `after`, and decide about what it answers.",
  },
  BERTH_TURN_DIFFERS: {
    status: 409,
    title: "The turn was sent before, with other decisions",
    remedy: "Send the same decisions again, or begin anew with a turn without `after`.",
  },
  BERTH_SCHEDULER_REPLACED: {
    status: 409,
    title: "Another process goes by the same name",
    remedy: "Run one process for each scheduler and testbed, or give them different names.",
  },
  BERTH_DECISION_UNCLEAR: {
    status: 422,
    title: "The decision says none or several things",
    remedy: "Give exactly one of slots, executors and release.",
  },
  BERTH_DECISION_TWICE: {
    status: 422,
    title: "There are two decisions about one job",
    remedy: "Decide once about each job in a turn.",
  },
  BERTH_JOB_UNKNOWN: { status: 404, title: "There is no such job", remedy: "Decide about jobs in the queue." },
  BERTH_JOB_NOT_WAITING: {
    status: 409,
    title: "The job is not in the queue",
    remedy: "Decide about jobs in the queue; one that has ended is put there by a retry, one that runs by a release.",
  },
  BERTH_JOB_HELD: {
    status: 409,
    title: "Somebody has the job",
    remedy: "Release it first, or wait until it has ended.",
  },
  BERTH_SLOT_UNKNOWN: { status: 404, title: "There is no such slot", remedy: "Choose among the slots of the turn." },
  BERTH_SLOT_TAKEN: { status: 409, title: "Somebody has the slot", remedy: "Choose a free slot." },
  BERTH_SLOT_UNAVAILABLE: {
    status: 409,
    title: "Nobody can be put into the slot now",
    remedy: "Choose a free slot; the slot's reason says what is wrong with this one.",
  },
  BERTH_SLOTS_TOO_FEW: {
    status: 409,
    title: "There are not enough free slots",
    remedy: "Ask for fewer executors, or wait for the next turn.",
  },
} as const satisfies Record<string, Entry>;

/** One of them. */
export type GatewayErrorCode = keyof typeof errorCatalogue;

/** The one error class of this package. The message says what was wrong; `remedy` what to do. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: GatewayErrorCode;
  /** More for programs, beside the message. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: GatewayErrorCode,
    message: string,
    { details = {}, ...options }: ErrorOptions & { details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get remedy(): string {
    return errorCatalogue[this.code].remedy;
  }
}
