/** Paths that are no object's: what the server is, whether it is well, and what it has. */
import type { ApiServer } from "../api/api-server.ts";
import { nothingHere } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import type { Access } from "../auth/access.ts";
import { negotiated, type Transform } from "./accept.ts";
import * as discovery from "./discovery.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { metricsText } from "./metrics.ts";
import { openApiDocument, openApiPaths } from "./openapi.ts";
import { methodNotAllowed } from "./resource-requests.ts";
import { isSet, type PathRoute, type UrlQuery } from "./route.ts";
import { VERSION } from "./version.ts";
import type { WatchStreams } from "./watch-stream.ts";

export interface PathContext {
  readonly server: ApiServer;
  readonly access: Access;
  readonly watches: WatchStreams;
  /** Where the server is: "127.0.0.1:6443". */
  readonly address: string;
}

/** An OpenAPI document, and what it was made of. */
interface Document {
  readonly text: string;
  readonly hash: string;
  readonly resources: readonly Resource[];
}

const HEALTH = new Set(["/healthz", "/livez", "/readyz"]);
const CHECKS = ["ping", "log", "etcd"];

export class OtherPaths {
  readonly #context: () => PathContext;
  readonly #stopListening: () => void;
  /** Made when somebody asks, and thrown away when a resource comes or goes. */
  #groups: readonly discovery.Group[] | undefined;
  readonly #documents = new Map<string, Document>();

  constructor(server: ApiServer, context: () => PathContext) {
    this.#context = context;
    this.#stopListening = server.resources.onChange(() => {
      this.#groups = undefined;
    });
  }

  close(): void {
    this.#stopListening();
  }

  answer(exchange: Exchange, { verb, path }: PathRoute, query: UrlQuery): Answer {
    const clean = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    if (verb !== "get" && verb !== "head") throw this.#isKnown(clean) ? methodNotAllowed() : nothingHere();
    const { server, access, watches } = this.#context();
    const [, first = "", ...rest] = clean.split("/");
    if (HEALTH.has(`/${first}`)) return health(first, rest, query);
    switch (clean) {
      case "/":
        return { body: { paths: this.#paths() } };
      case "/version":
        return { body: VERSION };
      case "/metrics":
        return { body: metricsText(server, watches), headers: { "content-type": "text/plain; version=0.0.4" } };
      case "/.well-known/openid-configuration":
        return { body: access.discovery };
      case "/openid/v1/jwks":
        return { body: access.publicKeys, headers: { "content-type": "application/jwk-set+json" } };
      case "/openapi/v2":
        return oldOpenApi(exchange);
      case "/openapi/v3":
        return tagged(exchange, jsonText(openApiPaths(this.#openApiEntries())));
    }
    if (first === "api" || first === "apis") return this.#discovery(exchange, first, rest);
    if (first === "openapi" && rest[0] === "v3") return this.#document(exchange, rest.slice(1).join("/"));
    throw nothingHere();
  }

  get #all(): readonly discovery.Group[] {
    this.#groups ??= discovery.groupsOf(this.#context().server.resources.all());
    return this.#groups;
  }

  #discovery(exchange: Exchange, prefix: string, [first, second]: readonly string[]): Answer {
    const core = prefix === "api";
    const groups = this.#all.filter(({ name }) => (name === "") === core);
    if (first === undefined) {
      const wanted = aggregatedVersion(exchange.header("accept"));
      if (wanted) {
        const type = `application/json;g=apidiscovery.k8s.io;v=${wanted};as=APIGroupDiscoveryList`;
        return tagged(exchange, jsonText(discovery.aggregated(groups, wanted)), {
          "content-type": type,
          vary: "Accept",
        });
      }
      const plain = core ? discovery.coreVersions(this.#all, this.#context().address) : discovery.groupList(this.#all);
      return { body: plain, headers: { vary: "Accept" } };
    }
    const group = core ? groups[0] : groups.find(({ name }) => name === first);
    if (!group) throw nothingHere();
    if (!core && second === undefined) return { body: discovery.groupDocument(group) };
    const version = group.versions.find((each) => each.version === (core ? first : second));
    if (!version) throw nothingHere();
    const { format } = negotiated(exchange.header("accept"), false, () => false);
    return { body: discovery.resourceList(version), format };
  }

  #openApiEntries() {
    const versions = this.#all.flatMap((group) => group.versions);
    return versions.map((each) => {
      const path = each.group ? `apis/${each.group}/${each.version}` : `api/${each.version}`;
      return { path, hash: this.#documentOf(path, each).hash };
    });
  }

  #document(exchange: Exchange, path: string): Answer {
    const [prefix, ...rest] = path.split("/");
    const [name, version] = prefix === "api" ? ["", rest[0]] : [rest[0], rest[1]];
    const found = this.#all.find((group) => group.name === name)?.versions.find((each) => each.version === version);
    if (!found || (prefix !== "api" && prefix !== "apis")) throw nothingHere();
    negotiated(exchange.header("accept"), false, () => false);
    return tagged(exchange, this.#documentOf(path, found).text);
  }

  /** To make them all takes a good while, and a new custom resource changes only one of them. */
  #documentOf(path: string, version: discovery.GroupVersion): Document {
    const { resources } = version;
    const known = this.#documents.get(path);
    const isSame =
      known?.resources.length === resources.length && known.resources.every((each, i) => each === resources[i]);
    if (known && isSame) return known;
    const text = jsonText(openApiDocument(version));
    const document = { text, hash: discovery.entityTag(text), resources };
    this.#documents.set(path, document);
    return document;
  }

  #paths(): string[] {
    const versions = this.#all.flatMap((group) => group.versions);
    const groups = this.#all.filter(({ name }) => name !== "").map(({ name }) => `/apis/${name}`);
    return [
      "/.well-known/openid-configuration",
      "/api",
      "/apis",
      ...versions.map(({ group, version }) => (group ? `/apis/${group}/${version}` : `/api/${version}`)),
      ...groups,
      ...HEALTH,
      "/metrics",
      "/openapi/v2",
      "/openapi/v3",
      "/openid/v1/jwks",
      "/version",
    ].sort();
  }

  #isKnown(path: string): boolean {
    return path === "/" || this.#paths().includes(path);
  }
}

/** The version of the new form, if somebody wants that and can have it. */
function aggregatedVersion(accept: string | undefined): string | undefined {
  const isAggregated = ({ group, version, kind }: Transform) =>
    group === "apidiscovery.k8s.io" && (version === "v2" || version === "v2beta1") && kind === "APIGroupDiscoveryList";
  return negotiated(accept, false, isAggregated).as?.version;
}

function health(name: string, [check]: readonly string[], query: UrlQuery): Answer {
  if (check !== undefined && !CHECKS.includes(check)) throw nothingHere();
  if (!isSet(query, "verbose") || check !== undefined) return { body: "ok" };
  return { body: [...CHECKS.map((each) => `[+]${each} ok`), `${name} check passed`, ""].join("\n") };
}

/**
 * The old documents, without anything in them. kubectl asks for them when the new ones have not what it looks for, and is
 * content with nothing, which in protobuf is nothing at all.
 */
function oldOpenApi(exchange: Exchange): Answer {
  const accept = exchange.header("accept") ?? "";
  if (accept.includes("protobuf")) return { body: "", headers: { "content-type": OLD_OPENAPI } };
  return { body: { swagger: "2.0", info: { title: "Kubernetes", version: VERSION.gitVersion }, paths: {} } };
}

const OLD_OPENAPI = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** Whoever has it already need not be told again. */
function tagged(exchange: Exchange, text: string, headers: Record<string, string> = {}): Answer {
  const etag = `"${discovery.entityTag(text)}"`;
  const known = exchange.header("if-none-match") === etag;
  const all = { "content-type": "application/json", etag, ...headers };
  return { status: known ? 304 : 200, body: known ? "" : text, headers: all };
}

const jsonText = (object: object) => `${JSON.stringify(object)}\n`;
