/** Errors as people and programs get them: problem details (RFC 9457) with our codes. */
import { ApiError } from "@berth/kube";
import { errorCatalogue, GatewayError, type GatewayErrorCode } from "../errors.ts";

/** One field that is wrong. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

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

/** The error in our own terms. */
export function known(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof ApiError) return ofApiServer(error);
  return ofFastify(error) ?? new GatewayError("BERTH_GATEWAY_FAILED", "something went wrong", { cause: error });
}

const OF_REASON: Readonly<Record<string, GatewayErrorCode>> = {
  NotFound: "BERTH_NOT_FOUND",
  AlreadyExists: "BERTH_ALREADY_EXISTS",
  Conflict: "BERTH_CHANGED_MEANWHILE",
  Invalid: "BERTH_MANIFEST_INVALID",
  BadRequest: "BERTH_MANIFEST_INVALID",
  TooManyRequests: "BERTH_UNAVAILABLE",
  ServiceUnavailable: "BERTH_UNAVAILABLE",
  ServerTimeout: "BERTH_UNAVAILABLE",
  Timeout: "BERTH_UNAVAILABLE",
};

function ofApiServer(error: ApiError): GatewayError {
  const code = OF_REASON[error.reason] ?? "BERTH_GATEWAY_FAILED";
  if (code === "BERTH_GATEWAY_FAILED") {
    return new GatewayError(code, "the API server did not do what the gateway asked of it", { cause: error });
  }
  const errors = error.causes.map(({ field = "", message = "" }) => ({ field, message }));
  return new GatewayError(code, error.message, { cause: error, details: errors.length > 0 ? { errors } : {} });
}

const OF_FASTIFY: Readonly<Record<string, GatewayErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "BERTH_BODY_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "BERTH_MEDIA_TYPE_UNKNOWN",
  FST_ERR_CTP_EMPTY_JSON_BODY: "BERTH_BODY_INVALID",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "BERTH_BODY_INVALID",
  FST_ERR_CTP_INVALID_JSON_BODY: "BERTH_BODY_INVALID",
};

function ofFastify(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const ours = OF_FASTIFY[code ?? ""] ?? (statusCode === 400 ? "BERTH_BODY_INVALID" : undefined);
  return ours && new GatewayError(ours, error.message, { cause: error });
}
