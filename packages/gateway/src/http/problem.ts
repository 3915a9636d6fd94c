/** Errors as people and programs get them: problem details (RFC 9457) with our codes. */
import { STATUS_CODES } from "node:http";
import { ApiError, KubeError } from "@berth/kube";
import { errorCatalogue, GatewayError, type GatewayErrorCode } from "../errors.ts";

/** One field that is wrong. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** The body of an error. */
export interface Problem {
  /** Where it is explained. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: GatewayErrorCode;
  readonly remedy: string;
  readonly errors?: readonly FieldProblem[];
  readonly [more: string]: unknown;
}

export const PROBLEM_TYPE = "application/problem+json";

/** What somebody is told of an error. Of those that are ours, nothing that the log should keep to itself. */
export function problemOf(error: unknown): Problem {
  const { code, message, details } = known(error);
  const { status, title, remedy } = errorCatalogue[code];
  const type = `https://berth.dev/errors/${code}`;
  return { type, title, status, detail: message, code, remedy, ...details };
}

/** An answer for whoever is refused before there is a request that could be answered. */
export function rawAnswer(error: GatewayError): string {
  const body = JSON.stringify(problemOf(error));
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    "connection: close",
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");
}

/** The error in our own terms. */
export function known(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof ApiError) return ofApiServer(error);
  if (error instanceof KubeError && error.code === "KUBE_CONNECTION_FAILED") {
    return new GatewayError("BERTH_UNAVAILABLE", "the API server does not answer", { cause: error });
  }
  return ofFastify(error) ?? new GatewayError("BERTH_GATEWAY_FAILED", "something went wrong", { cause: error });
}

const OF_REASON: Readonly<Record<string, GatewayErrorCode>> = {
  NotFound: "BERTH_NOT_FOUND",
  AlreadyExists: "BERTH_ALREADY_EXISTS",
  Conflict: "BERTH_CHANGED_MEANWHILE",
  Forbidden: "BERTH_FORBIDDEN",
  Invalid: "BERTH_MANIFEST_INVALID",
  BadRequest: "BERTH_MANIFEST_INVALID",
  RequestEntityTooLarge: "BERTH_BODY_TOO_LARGE",
  TooManyRequests: "BERTH_UNAVAILABLE",
  ServiceUnavailable: "BERTH_UNAVAILABLE",
  ServerTimeout: "BERTH_UNAVAILABLE",
  Timeout: "BERTH_UNAVAILABLE",
};

/** What RBAC says, of the gateway: quotas and policies, which are about what the user wants, say it differently. */
const OWN_RIGHT_MISSING = /User "[^"]*" cannot \w+ resource/;

/** What the database below the API server says, which has no reason for it. */
const TOO_LARGE = /etcdserver: request is too large|trying to send message larger than max/;

function ofApiServer(error: ApiError): GatewayError {
  if (error.status === 500 && TOO_LARGE.test(error.message)) {
    return new GatewayError("BERTH_BODY_TOO_LARGE", "the API server does not take an object as large", {
      cause: error,
    });
  }
  const isOurs = error.reason === "Forbidden" && OWN_RIGHT_MISSING.test(error.message);
  const code = isOurs ? undefined : OF_REASON[error.reason];
  if (code === undefined) {
    const message = isOurs ? "the gateway lacks a right" : "the API server did not do what the gateway asked of it";
    return new GatewayError("BERTH_GATEWAY_FAILED", message, { cause: error });
  }
  const errors = error.causes.map(({ field = "", message = "" }) => ({ field: field.replace(WHOLE, ""), message }));
  const { retryAfterSeconds } = error;
  return new GatewayError(code, withoutRequest(error.message), {
    cause: error,
    details: {
      ...(errors.length > 0 && { errors }),
      ...(code === "BERTH_UNAVAILABLE" && retryAfterSeconds !== undefined && { retryAfter: retryAfterSeconds }),
    },
  });
}

/** What the API server calls an object as a whole. */
const WHOLE = /^<nil>$/;

/** The client's errors begin with what it has asked, which is nothing to whoever has asked us, and end with a number. */
function withoutRequest(message: string): string {
  return message
    .replace(/^[A-Za-z]+ \/\S*: /, "")
    .replace(/ \(\d{3}\)$/, "")
    .replaceAll("<nil>: ", "");
}

const OF_FASTIFY: Readonly<Record<string, GatewayErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "BERTH_BODY_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "BERTH_MEDIA_TYPE_UNKNOWN",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "BERTH_BODY_INVALID",
  FST_ERR_MAX_PARAM_LENGTH: "BERTH_NOT_FOUND",
};

function ofFastify(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const ours = OF_FASTIFY[code ?? ""] ?? (statusCode === 400 ? "BERTH_BODY_INVALID" : undefined);
  return ours && new GatewayError(ours, error.message.slice(0, 300), { cause: error });
}
