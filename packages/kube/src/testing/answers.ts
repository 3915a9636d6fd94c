/** The honest answer to every request that is not a watch. */
import type { KubernetesObject } from "../objects/meta.ts";
import type { ModelApi } from "./model-api.ts";
import type { Part, Preconditions } from "./object-rules.ts";
import type { ListOptions } from "./pages.ts";
import type { ApiRequest } from "./routes.ts";
import type { SelectionOptions } from "./selection.ts";
import { ApiFailure, badRequest, detailsOf, forbiddenOption } from "./status.ts";

export interface Answer {
  readonly code: number;
  /** A text is sent as it is, everything else as JSON. */
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RequestBody {
  readonly contentType: string | undefined;
  readonly text: string;
}

export function answer(model: ModelApi, request: ApiRequest, body: RequestBody): Answer {
  const { verb, resource, namespace, name = "" } = request;
  const key = { namespace, name };
  switch (verb) {
    case "get":
      partOf(request);
      return { code: 200, body: model.get(resource, key) };
    case "list":
    case "watch":
      return { code: 200, body: model.list(resource, listOptions(request)) };
    case "create":
      return { code: 201, body: model.create(resource, objectFor(request, body)) };
    case "update":
      return { code: 200, body: model.replace(resource, objectFor(request, body), partOf(request)) };
    case "patch":
      checkContentType(body, "application/merge-patch+json");
      return { code: 200, body: model.patch(resource, key, parse(body), partOf(request)) };
    case "delete": {
      const { preconditions = {} } = (body.text ? parse(body) : {}) as { preconditions?: Preconditions };
      const { object, gone } = model.delete(resource, key, preconditions);
      if (!gone) return { code: 200, body: object };
      const details = { ...detailsOf(resource, name), uid: object.metadata.uid };
      return { code: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
    }
    case "deletecollection": {
      const list = model.list(resource, listOptions(request));
      for (const { metadata } of list.items) model.delete(resource, { ...metadata, name: metadata.name ?? "" });
      return { code: 200, body: list };
    }
  }
}

/** A refusal; what is not one is an error in the test server, and says so. */
export function failureAnswer(error: unknown): Answer {
  const failure = error instanceof ApiFailure ? error : new ApiFailure(500, `the test server failed: ${error}`);
  const seconds = failure.status.details?.retryAfterSeconds;
  return {
    code: failure.code,
    body: failure.status,
    ...(seconds !== undefined && { headers: { "retry-after": `${seconds}` } }),
  };
}

/** Which objects a list or watch is about. */
export function selectionOptions({ namespace, query }: ApiRequest): SelectionOptions {
  return {
    namespace,
    labelSelector: query.get("labelSelector") ?? undefined,
    fieldSelector: query.get("fieldSelector") ?? undefined,
  };
}

/** A whole number of the query. */
export function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  if (!/^\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}

function listOptions(request: ApiRequest): ListOptions {
  const { query } = request;
  if (query.has("sendInitialEvents")) {
    throw forbiddenOption("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  return {
    ...selectionOptions(request),
    limit: numberOf(query, "limit"),
    continue: query.get("continue") ?? undefined,
    resourceVersion: query.get("resourceVersion") ?? undefined,
    resourceVersionMatch: query.get("resourceVersionMatch") ?? undefined,
  };
}

function partOf({ subresource }: ApiRequest): Part {
  if (subresource === undefined) return "main";
  if (subresource === "status") return "status";
  throw new ApiFailure(404, "the server could not find the requested resource", { details: {} });
}

/** The object in the body, in the namespace and with the name of the URL. */
function objectFor({ namespace, name }: ApiRequest, body: RequestBody): KubernetesObject {
  checkContentType(body, "application/json");
  const object = parse(body) as Partial<KubernetesObject>;
  const { metadata = {} } = object;
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (name !== undefined && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  return { ...object, metadata: { ...metadata, ...(namespace !== undefined && { namespace }) } };
}

function parse({ text }: RequestBody): object {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {} // no JSON is no object either
  throw badRequest(`the object provided is unrecognized: ${text.slice(0, 100)}`);
}

function checkContentType({ contentType = "application/json" }: RequestBody, accepted: string): void {
  if (contentType.split(";")[0]?.trim() === accepted) return;
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw new ApiFailure(415, message);
}
