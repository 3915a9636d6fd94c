/** What a request's method and URL ask for. */
import type { ResourceName } from "./status.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export interface ApiRequest {
  readonly verb: Verb;
  readonly resource: ResourceName;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

/** `undefined` if there is nothing at that path, or nothing that knows the method. */
export function readRequest(method: string, url: URL): ApiRequest | undefined {
  const [, root, ...rest] = segmentsOf(url);
  const [group, version, ...path] = root === "api" ? ["", ...rest] : rest;
  if ((root !== "api" && root !== "apis") || group === undefined || version === undefined) return undefined;
  const { namespace, path: inside } = splitNamespace(path);
  const [plural, name, subresource, ...more] = inside;
  if (!plural || more.length > 0) return undefined;
  const verb = verbOf(method, name, url.searchParams);
  return verb && { verb, resource: { group, version, plural }, namespace, name, subresource, query: url.searchParams };
}

function segmentsOf({ pathname }: URL): string[] {
  try {
    return pathname.split("/").map(decodeURIComponent);
  } catch {
    return []; // a percent sign with nothing after it is no name
  }
}

/** Namespaces are objects too: "namespaces/a" and "namespaces/a/status" are about one, "namespaces/a/pods" is in one. */
function splitNamespace(path: readonly string[]): { namespace: string | undefined; path: readonly string[] } {
  const [first, namespace, next = ""] = path;
  if (first !== "namespaces" || ["", "status", "finalize"].includes(next)) return { namespace: undefined, path };
  return { namespace, path: path.slice(2) };
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): Verb | undefined {
  const one = name !== undefined;
  switch (method) {
    case "GET":
      return one ? "get" : isTrue(query.get("watch")) ? "watch" : "list";
    case "POST":
      return one ? undefined : "create";
    case "PUT":
      return one ? "update" : undefined;
    case "PATCH":
      return one ? "patch" : undefined;
    case "DELETE":
      return one ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

/** Go's idea of a boolean in a query. */
export function isTrue(value: string | null): boolean {
  return value === "true" || value === "1";
}
