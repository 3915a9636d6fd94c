/** How an API server says no: `Status` objects, worded as the real one words them. */
import type { Kind, KubernetesObject } from "../objects/meta.ts";

/** A kind of objects by its place in URLs; every `Kind` is one. */
export interface ResourceName<T extends KubernetesObject = KubernetesObject>
  extends Pick<Kind<T>, "group" | "version" | "plural" | "_object"> {
  /** As in objects. Without it, the objects tell. */
  readonly kind?: string;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[];
  readonly retryAfterSeconds?: number;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A refusal. What the model throws, the server answers with. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly code: number;
  readonly status: Status;

  /** @param more - What there is beside code and message; the reason is the code's usual one unless given here. */
  constructor(code: number, message: string, { metadata = {}, ...more }: Partial<Status> = {}) {
    super(message);
    this.code = code;
    const reason = REASONS[code];
    const told = { status: "Failure", message, ...(reason !== undefined && { reason }), ...more, code } as const;
    this.status = { kind: "Status", apiVersion: "v1", metadata, ...told };
  }
}

export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, message);
}

export function notFound(resource: ResourceName, name: string): ApiFailure {
  return new ApiFailure(404, `${qualified(resource)} "${name}" not found`, { details: detailsOf(resource, name) });
}

export function alreadyExists(resource: ResourceName, name: string): ApiFailure {
  const details = detailsOf(resource, name);
  return new ApiFailure(409, `${qualified(resource)} "${name}" already exists`, { reason: "AlreadyExists", details });
}

export function conflict(resource: ResourceName, name: string, why: string): ApiFailure {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new ApiFailure(409, message, { details: detailsOf(resource, name) });
}

/** What is wrong with one field; `reason` is the machine's word for it: "FieldValueRequired". */
export interface FieldProblem {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

export function invalid(group: string, kind: string, name: string, problem: FieldProblem): ApiFailure {
  const message = `${group ? `${kind}.${group}` : kind} "${name}" is invalid: ${problem.field}: ${problem.message}`;
  const details = { ...(name && { name }), ...(group && { group }), kind, causes: [problem] };
  return new ApiFailure(422, message, { details });
}

/** The parameters of a list or watch contradict each other. */
export function forbiddenOption(field: string, why: string): ApiFailure {
  const problem = { field, reason: "FieldValueForbidden", message: `Forbidden: ${why}` };
  return invalid("meta.k8s.io", "ListOptions", "", problem);
}

/** Somebody asks for a version that does not exist yet. */
export function tooLarge(asked: number, current: number): ApiFailure {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new ApiFailure(504, message, { details: { causes, retryAfterSeconds: 1 } });
}

export function detailsOf({ group, plural }: ResourceName, name: string): StatusDetails {
  return { name, ...(group && { group }), kind: plural };
}

/** "configmaps", "things.test.io" */
function qualified({ group, plural }: ResourceName): string {
  return group ? `${plural}.${group}` : plural;
}
