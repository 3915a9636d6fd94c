/** What a request is about, by its method and path: objects of a resource, or something else that the server has. Pure. */
import { nothingHere, Refusal } from "../api/refusal.ts";

/** As URLs have it, decoded; each name once or several times. It inherits from nothing. */
export type UrlQuery = Readonly<Record<string, readonly string[]>>;

export interface ResourceRoute {
  readonly type: "resource";
  /** As RBAC names it: "get", "list", "watch" …; "" for methods that nobody uses. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** As the path has it: that of a namespace itself is its name. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What stands after the subresource; of meaning only to proxies. */
  readonly rest: readonly string[];
}

export interface PathRoute {
  readonly type: "path";
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type Route = ResourceRoute | PathRoute;

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** What stands after the name of a namespace and is no resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

export function routeOf(method: string, path: string, query: UrlQuery): Route {
  const other: PathRoute = { type: "path", verb: method.toLowerCase(), path };
  const parts = path.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  const prefix = parts.shift();
  if (prefix !== "api" && prefix !== "apis") return other;
  const group = prefix === "apis" ? parts.shift() : "";
  const version = parts.shift();
  if (group === undefined || version === undefined || parts.length === 0) return other;

  const watches = parts[0] === "watch" && parts.length > 1; // an old way to say it
  if (watches) parts.shift();
  let namespace: string | undefined;
  if (parts[0] === "namespaces" && parts.length > 1) {
    namespace = parts[1];
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] as string)) parts.splice(0, 2);
  }
  const [plural = "", name, subresource, ...rest] = parts;
  const verb = watches ? "watch" : verbOf(method, name, query);
  return { type: "resource", verb, group, version, plural, namespace, name, subresource, rest };
}

function verbOf(method: string, name: string | undefined, query: UrlQuery): string {
  const verb = VERBS[method] ?? "";
  if (name !== undefined) return verb;
  if (verb === "delete") return "deletecollection";
  if (verb !== "get") return verb;
  return isSet(query, "watch") ? "watch" : "list";
}

/** As Kubernetes reads flags in queries: anything but a clear no is a yes. */
export function isSet(query: UrlQuery, name: string): boolean {
  const value = query[name]?.[0];
  return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
}

/** The path and the query of a URL; refuses what cannot be decoded. */
export function parseUrl(url: string): { readonly path: string; readonly query: UrlQuery } {
  const mark = url.indexOf("?");
  const [rawPath, rawQuery] = mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
  const query: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    const values = query[name];
    if (values) values.push(value);
    else query[name] = [value];
  }
  try {
    // Part by part: a slash that is written as %2F is part of a name.
    const parts = rawPath.split("/").map(decodeURIComponent);
    if (parts.some((part) => part.includes("/"))) throw nothingHere();
    return { path: parts.join("/"), query };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, "BadRequest", `the path ${JSON.stringify(rawPath)} cannot be read`);
  }
}
