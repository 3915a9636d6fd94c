/** How the API server says no: `Status` objects, worded as the real one words them. */
import { ApiError, type Kind, type ObjectMeta, type Status, type StatusCause } from "@berth/kube";

/** What goes out over HTTP when the server refuses. */
export interface StatusBody extends Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
}

/** A refusal. In this process it is thrown as it is; over HTTP its `body` is the answer. */
export class Refusal extends ApiError {
  readonly body: StatusBody;

  /** @param more - What there is beside code and message: details, and a reason if it is not the code's usual one. */
  constructor(code: number, reason: string, message: string, more: Partial<StatusBody> = {}) {
    super({ ...more, code, reason, message });
    const { metadata = {}, details, ...rest } = more;
    this.body = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      ...rest,
      code,
    };
  }
}

/** A resource by the names that messages call it by; every `Kind` is one. */
export type ResourceName = Pick<Kind, "group" | "plural">;

/** "pods", "jobs.batch" */
export function qualified({ group, plural }: ResourceName): string {
  return group ? `${plural}.${group}` : plural;
}

function detailsOf({ group, plural }: ResourceName, name: string) {
  return { ...(name && { name }), ...(group && { group }), kind: plural };
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, "BadRequest", message);
}

export function notFound(resource: ResourceName, name: string): Refusal {
  return new Refusal(404, "NotFound", `${qualified(resource)} "${name}" not found`, {
    details: detailsOf(resource, name),
  });
}

/** There is nothing at this path. */
export function nothingHere(): Refusal {
  return new Refusal(404, "NotFound", "the server could not find the requested resource", { details: {} });
}

export function alreadyExists(resource: ResourceName, name: string): Refusal {
  const details = detailsOf(resource, name);
  return new Refusal(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, { details });
}

export function conflict(resource: ResourceName, name: string, why: string, causes?: readonly StatusCause[]): Refusal {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new Refusal(409, "Conflict", message, {
    details: { ...detailsOf(resource, name), ...(causes && { causes }) },
  });
}

/** Somebody means another object of this name, or another version of it. The real server lets its storage say so. */
export function otherMeant(
  resource: ResourceName,
  { name = "", namespace, uid, resourceVersion }: ObjectMeta,
  field: "UID" | "ResourceVersion",
  wanted: string,
): Refusal {
  const key = ["/registry", resource.plural, ...(namespace === undefined ? [] : [namespace]), name].join("/");
  const present = field === "UID" ? uid : resourceVersion;
  const why = `Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${present}`;
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  return conflict(resource, name, error);
}

/** Somebody else wrote first. */
export function modified(resource: ResourceName, name: string): Refusal {
  const why = "the object has been modified; please apply your changes to the latest version and try again";
  return conflict(resource, name, why);
}

export function forbidden(resource: ResourceName, name: string, why: string, causes?: readonly StatusCause[]): Refusal {
  const message = `${qualified(resource)}${name && ` "${name}"`} is forbidden: ${why}`;
  const details = { ...detailsOf(resource, name), ...(causes && { causes }) };
  return new Refusal(403, "Forbidden", message, { details });
}

export function methodNotSupported(resource: ResourceName, action: string): Refusal {
  const message = `${action} is not supported on resources of kind "${qualified(resource)}"`;
  return new Refusal(405, "MethodNotAllowed", message, { details: detailsOf(resource, "") });
}

/** The body is in a form that the resource does not take. */
export function unsupportedMediaType(message: string): Refusal {
  return new Refusal(415, "UnsupportedMediaType", message);
}

/** What was asked for is older than what is remembered. */
export function expired(message: string, more: Partial<StatusBody> = {}): Refusal {
  return new Refusal(410, "Expired", message, more);
}

/** Somebody asks for a version that does not exist yet. */
export function tooLarge(asked: number, current: number): Refusal {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new Refusal(504, "Timeout", message, { details: { causes, retryAfterSeconds: 1 } });
}

export function tooManyRequests(message: string, causes?: readonly StatusCause[]): Refusal {
  return new Refusal(429, "TooManyRequests", message, { details: { ...(causes && { causes }) } });
}

export function internal(message: string): Refusal {
  return new Refusal(500, "InternalError", `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  });
}
