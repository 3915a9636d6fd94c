/** What the API server answers when it refuses: its reason, and for invalid objects every field that is wrong. */
import { KubeError, type KubeErrorCode } from "../errors.ts";

/** One of possibly several things that are wrong. */
export interface StatusCause {
  /** "FieldValueRequired", "FieldValueInvalid" … */
  readonly reason?: string;
  readonly message?: string;
  /** "spec.containers[0].name" */
  readonly field?: string;
}

/** The `Status` object of Kubernetes, as far as it is used. */
export interface Status {
  readonly kind?: string;
  readonly status?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

const CODES: Readonly<Record<string, KubeErrorCode>> = {
  AlreadyExists: "KUBE_API_ALREADY_EXISTS",
  BadRequest: "KUBE_API_BAD_REQUEST",
  Conflict: "KUBE_API_CONFLICT",
  Expired: "KUBE_API_EXPIRED",
  Forbidden: "KUBE_API_FORBIDDEN",
  Gone: "KUBE_API_EXPIRED",
  Invalid: "KUBE_API_INVALID",
  NotFound: "KUBE_API_NOT_FOUND",
  ServerTimeout: "KUBE_API_UNAVAILABLE",
  ServiceUnavailable: "KUBE_API_UNAVAILABLE",
  Timeout: "KUBE_API_UNAVAILABLE",
  TooManyRequests: "KUBE_API_TOO_MANY_REQUESTS",
  Unauthorized: "KUBE_API_UNAUTHORIZED",
};

/** For answers without a `Status`: those of proxies, and of a server that is about to go. */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** The API server refused. */
export class ApiError extends KubeError {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** Kubernetes' own word for it: "NotFound", "Conflict", "Invalid" … */
  readonly reason: string;
  /** What is wrong with an invalid object, field by field. */
  readonly causes: readonly StatusCause[];
  /** After how long the server wants to be asked again, if it says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(answer: Status & { readonly code: number }, { asked = "", retryAfter }: AnswerContext = {}) {
    const reason = answer.reason || REASONS[answer.code] || "Unknown";
    super(CODES[reason] ?? "KUBE_API_FAILED", `${asked && `${asked}: `}${answer.message || reason} (${answer.code})`);
    this.status = answer.code;
    this.reason = reason;
    this.causes = answer.details?.causes ?? [];
    this.retryAfterSeconds = retryAfter ?? answer.details?.retryAfterSeconds;
  }
}

export interface AnswerContext {
  /** What was asked, for the message: "POST /api/v1/namespaces/default/pods". */
  readonly asked?: string;
  /** The header's value in seconds; goes before what the body says. */
  readonly retryAfter?: number | undefined;
}

/** There is no such object, or no such kind. */
export const isNotFound = withReason("NotFound");
/** There is an object of that name. */
export const isAlreadyExists = withReason("AlreadyExists");
/** Somebody else wrote first, or a precondition does not hold. */
export const isConflict = withReason("Conflict");
/** The object is not valid: `causes` says where. */
export const isInvalid = withReason("Invalid");
/** The user may not do this. */
export const isForbidden = withReason("Forbidden");
/** The server does not know the user. */
export const isUnauthorized = withReason("Unauthorized");
/** The server has too much to do, or a budget does not allow an eviction. */
export const isTooManyRequests = withReason("TooManyRequests");
/** What was asked for is too old: list anew. */
export const isExpired = withReason("Expired", "Gone");
/** The server could not do it in time; it may have been done. */
export const isServerTimeout = withReason("ServerTimeout", "Timeout");

function withReason(...reasons: string[]): (error: unknown) => error is ApiError {
  return (error): error is ApiError => error instanceof ApiError && reasons.includes(error.reason);
}
