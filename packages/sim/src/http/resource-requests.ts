/** Requests about objects: from a route and a body to what the API server does, and back to an answer. */
import type { ApiRequest, Parameters, Verb } from "@berth/kube";
import type { ApiServer, Caller } from "../api/api-server.ts";
import { type AnyObject, isObject } from "../api/json.ts";
import { badRequest, nothingHere, Refusal } from "../api/refusal.ts";
import type { Resource, User } from "../api/resource.ts";
import { negotiated, notAcceptable } from "./accept.ts";
import { type Body, parseBody, patchTypeOf, readBody } from "./body.ts";
import { type Exchange, isStatus } from "./exchange.ts";
import { type Logs, serveLog } from "./logs.ts";
import type { Outgoing } from "./outgoing.ts";
import type { ResourceRoute, UrlQuery } from "./route.ts";
import { includeObject, partial, partialList, tableOf } from "./table.ts";
import { deprecation, warningHeaders } from "./warnings.ts";
import type { WatchStreams } from "./watch-stream.ts";

export interface ResourceContext {
  readonly server: ApiServer;
  readonly outgoing: Outgoing;
  readonly watches: WatchStreams;
  readonly logs: Logs | undefined;
  /** The clock stands still from this to the call of what it returns. */
  readonly hold: () => () => void;
}

const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);
/** What would need a container that runs. */
const INTO_CONTAINERS = new Set(["exec", "attach", "portforward", "proxy"]);

export async function serveResource(
  exchange: Exchange,
  route: ResourceRoute,
  query: UrlQuery,
  user: User,
  context: ResourceContext,
): Promise<void> {
  const { server } = context;
  const resource = server.resources.find(route);
  if (!resource || (route.rest.length > 0 && route.subresource !== "proxy")) throw nothingHere();
  checkPlace(route, resource);
  const namespace = resource.namespaced ? route.namespace : undefined;
  const parameters = parametersOf(query);
  const place = { kind: resource, namespace, name: route.name, parameters };
  if (route.subresource !== undefined && INTO_CONTAINERS.has(route.subresource)) {
    throw badRequest(`nothing runs in simulated containers: ${route.plural}/${route.subresource} is not supported`);
  }
  if (route.verb === "watch") {
    if (!resource.verbs.includes("watch")) throw methodNotAllowed();
    const accepted = negotiated(exchange.header("accept"), true);
    const release = context.hold();
    try {
      const include = includeObject(query.includeObject?.[0]);
      context.watches.serve(exchange, place, resource, { accepted, include });
    } finally {
      release();
    }
    return;
  }
  const verb = verbOf(route);
  if (route.plural === "pods" && route.subresource === "log" && verb === "get") {
    server.get(resource, namespace, route.name); // or there is nobody to speak
    return serveLog(exchange, { ...place, verb, subresource: "log" }, context.logs);
  }

  const accepted = negotiated(exchange.header("accept"));
  const include = includeObject(query.includeObject?.[0]);
  const contentType = exchange.header("content-type");
  const patchType = verb === "patch" ? patchTypeOf(contentType) : undefined;
  const meant = patchType ? "patch" : isDeletion(verb) ? "options" : resource;
  const body = WRITES.has(verb) ? parseBody(await readBody(exchange.body), contentType, meant) : undefined;

  const release = context.hold();
  try {
    const warnings = deprecation(resource);
    const caller = callerOf(exchange, user, warnings);
    if (body && !isDeletion(verb)) checkDuplicates(body, resource, query, warnings);
    const request: ApiRequest = {
      ...place,
      verb,
      subresource: route.subresource,
      ...(body && { body: bodyFor(verb, body) }),
      ...(patchType && { patchType }),
    };
    const existed = patchType !== "apply" || exists(server, resource, namespace, route.name);
    const result = server.request(request, caller);
    const shown = shownAs(result, resource, { accepted: accepted.as, include, now: server.clock.now() }, context);
    const headers = warnings.length > 0 ? { warning: warningHeaders(warnings) } : {};
    const status = statusFor(verb, existed, result, body);
    exchange.answer({ status, body: shown, format: accepted.format, headers });
  } finally {
    release();
  }
}

/** Whether the path makes sense for the resource: namespaced ones are named and made within a namespace. */
function checkPlace({ namespace, name, verb, plural }: ResourceRoute, { namespaced }: Resource): void {
  if (namespaced && namespace === undefined) {
    if (name !== undefined) throw nothingHere();
    if (verb === "create" || verb === "deletecollection") throw methodNotAllowed();
  }
  if (!namespaced && namespace !== undefined && plural !== "namespaces") throw nothingHere();
  if (name === "" || namespace === "") throw nothingHere();
}

/** Refuses what cannot be done at a path. */
function verbOf({ verb, name, subresource }: ResourceRoute): Verb {
  switch (verb) {
    case "get":
    case "list":
    case "deletecollection":
      return verb;
    case "create":
      if (name !== undefined && subresource === undefined) throw methodNotAllowed();
      return verb;
    case "update":
    case "patch":
    case "delete":
      if (name === undefined) throw methodNotAllowed();
      return verb;
    default:
      throw methodNotAllowed();
  }
}

export function methodNotAllowed(): Refusal {
  const message = "the server does not allow this method on the requested resource";
  return new Refusal(405, "MethodNotAllowed", message, { details: {} });
}

function parametersOf(query: UrlQuery): Parameters {
  const parameters: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, values] of Object.entries(query)) {
    parameters[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return parameters;
}

function callerOf(exchange: Exchange, user: User, warnings: string[]): Caller {
  // "kubectl/v1.36 (linux/amd64)" is known as "kubectl".
  const fieldManager = (exchange.header("user-agent") ?? "").split("/", 1)[0]?.slice(0, 128) || "unknown";
  return { user, fieldValidation: "Warn", fieldManager, warn: (message) => void warnings.push(message) };
}

/** A field that is given twice is treated as one that is not known. */
function checkDuplicates({ duplicates }: Body, resource: Resource, query: UrlQuery, warnings: string[]): void {
  if (duplicates.length === 0) return;
  const problems = duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
  const validation = query.fieldValidation?.[0] || "Warn";
  if (validation === "Warn") warnings.push(...problems);
  if (validation !== "Strict") return;
  const { kind, version } = resource;
  const error = `strict decoding error: ${problems.join(", ")}`;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error}`);
}

/** Whoever deletes need not say anything; nothing, as an object, is an empty one. As a patch it is what it is. */
function bodyFor(verb: Verb, { value }: Body): unknown {
  if (verb === "patch") return value;
  return isDeletion(verb) ? (value ?? undefined) : (value ?? {});
}

function isDeletion(verb: Verb): boolean {
  return verb === "delete" || verb === "deletecollection";
}

function exists(server: ApiServer, { storage }: Resource, namespace: string | undefined, name = ""): boolean {
  return server.store.collection(storage).get(namespace === undefined ? name : `${namespace}/${name}`) !== undefined;
}

function statusFor(verb: Verb, existed: boolean, result: AnyObject, body: Body | undefined): number {
  if (verb === "create" || !existed) return 201;
  // The one way to ask for it in which the real server says that the object is not gone yet.
  const waits =
    verb === "delete" && !isStatus(result) && isObject(body?.value) && body.value.orphanDependents === false;
  return waits ? 202 : 200;
}

interface Shown {
  readonly accepted: { readonly kind: string; readonly version: string } | undefined;
  readonly include: "None" | "Metadata" | "Object";
  readonly now: number;
}

/** What the API server answered, as somebody wants to see it. */
function shownAs(result: AnyObject, resource: Resource, shown: Shown, { outgoing }: ResourceContext): AnyObject {
  if (isStatus(result)) return result;
  const { accepted: as, include, now } = shown;
  const isList = Array.isArray(result.items) && result.kind === `${resource.kind}List`;
  if (as?.kind === "Table" && (isList || result.kind === resource.kind)) {
    const whole = include === "Object" ? outgoing.whole(result, isList, resource) : result;
    return tableOf(whole, resource, { version: as.version, include, now });
  }
  const whole = complete(result, isList, resource, outgoing);
  if (as?.kind === "PartialObjectMetadata") {
    if (isList) throw notAcceptable(`you requested ${as.kind}, but the requested object is a list (${goType(result)})`);
    return partial(whole, as.version);
  }
  if (as?.kind === "PartialObjectMetadataList") {
    if (!isList) {
      throw notAcceptable(`you requested ${as.kind}, but the requested object is not a list (${goType(result)})`);
    }
    return partialList(whole, as.version);
  }
  return whole;
}

/** "*core.PodList" */
function goType({ apiVersion = "", kind }: AnyObject): string {
  const group = apiVersion.includes("/") ? apiVersion.split(/[./]/, 1)[0] : "core";
  return `*${group}.${kind}`;
}

function complete(result: AnyObject, isList: boolean, resource: Resource, outgoing: Outgoing): AnyObject {
  if (isList) return outgoing.list(result, resource);
  // Answers of another kind, as a Scale, are not what is stored.
  return result.kind === resource.kind ? outgoing.object(result, resource) : result;
}
