/** The gateway's HTTP server: limits, who may ask what, and every error in the same form. */
import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Server as TlsServer } from "node:tls";
import type { Clock, Logger, TokenBucketOptions } from "@berth/kube";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { bearerOf, type Guard, lacking, type User } from "../auth/guard.ts";
import { RateLimit, tooMany } from "../auth/rate.ts";
import { GatewayError } from "../errors.ts";
import { LARGEST_YAML, parseJson, parseYaml } from "./body.ts";
import { followKeyPair, type KeyPair, readKeyPair, type TlsFiles } from "./certificate.ts";
import { mustBeOrigins, refusalOf } from "./origin.ts";
import { known, PROBLEM_TYPE, problemOf, rawAnswer } from "./problem.ts";
import { type Asked, queryOf, type Right, type Route, validated } from "./route.ts";

/** What a server needs. */
export interface ServerOptions {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly log: Logger;
  /** Web pages of these origins may ask; others, but for the gateway's own, may not. */
  readonly allowedOrigins: readonly string[];
  readonly limits: Limits;
  readonly tls?: TlsFiles | undefined;
}

/** How much may be asked of it. */
export interface Limits {
  /** Of a request's body, in bytes. Default: 4 MiB; of YAML 256 KiB at most. */
  readonly bodyBytes: number;
  /** Of a request's line and headers together. Default: 16 KiB. */
  readonly headerBytes: number;
  /** Default: 100. */
  readonly headers: number;
  /** At a time. More are not let in. Default: 4096. */
  readonly connections: number;
  /** For the whole request to arrive. Default: 30. */
  readonly requestSeconds: number;
  /** For its headers to arrive. Default: 10. */
  readonly headerSeconds: number;
  /** For each user. Default: 500 in a second, and 1000 at once. */
  readonly rate: TokenBucketOptions;
  /** Of each user, at a time: server-sent events, STOMP connections, and subscriptions of these, together. Default: 2000. */
  readonly streams: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  headers: 100,
  connections: 4096,
  requestSeconds: 30,
  headerSeconds: 10,
  rate: { perSecond: 500, burst: 1000 },
  streams: 2000,
};

const TLS = { minVersion: "TLSv1.2" } as const;
const JSON_TYPES = ["application/json", "application/merge-patch+json"];
const YAML_TYPES = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A server without any routes. */
export class Server {
  readonly fastify: FastifyInstance;
  readonly #options: ServerOptions;
  readonly #rate: RateLimit;
  readonly #routes: Route[] = [];
  /** Where there is something, and what can be done with it. */
  readonly #paths: { readonly path: string; readonly method: string }[] = [];
  readonly #upgrades = new Map<string, Upgrade>();

  constructor(options: ServerOptions) {
    const { limits, tls, clock, allowedOrigins } = options;
    mustBeOrigins(allowedOrigins);
    this.#options = options;
    this.#rate = new RateLimit(clock, limits.rate);
    const common = {
      logger: false,
      bodyLimit: limits.bodyBytes,
      requestTimeout: limits.requestSeconds * 1000,
      keepAliveTimeout: 75_000,
      forceCloseConnections: true,
      routerOptions: { maxParamLength: 300 },
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
        this.#failed(error, request, reply),
      clientErrorHandler: (error: Error, socket: Duplex) => this.#misunderstood(error, socket),
    } as const;
    const http = {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headerSeconds * 1000,
      // Timeouts are found out only when somebody looks.
      connectionsCheckingInterval: Math.min(5000, limits.headerSeconds * 500),
      // Clients offer HTTP/2 in this way (curl, Java): who ignores the offer goes on with HTTP/1.1.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket",
    };
    if (tls) {
      const pair = readKeyPair(tls);
      const https = { ...http, ...pair, ...TLS, handshakeTimeout: limits.headerSeconds * 1000 };
      this.fastify = Fastify({ ...common, https }) as unknown as FastifyInstance;
      this.#renewCertificate(tls, pair);
    } else this.fastify = Fastify({ ...common, http });
    this.#limitConnections(this.fastify.server as HttpServer, limits);
    this.#parseBodies();
    this.#guardAll();
    this.fastify.setErrorHandler((error, request, reply) => this.#failed(error, request, reply));
    this.fastify.setNotFoundHandler((request, reply) => this.#notFound(request, reply));
  }

  get routes(): readonly Route[] {
    return this.#routes;
  }

  add(routes: readonly Route[]): void {
    this.#routes.push(...routes);
    for (const route of routes) this.#add(route);
  }

  /** A page that everybody may see who may talk to the gateway at all. */
  addPage(path: string, handle: (reply: FastifyReply) => unknown): void {
    this.#paths.push({ path, method: "GET" });
    this.fastify.get(path, async (_, reply) => handle(reply));
  }

  /** Connections that begin with a request and become something else. */
  addUpgrade(path: string, handle: Upgrade): void {
    this.#upgrades.set(path, handle);
  }

  #add(route: Route): void {
    this.#paths.push(route);
    const users = new WeakMap<FastifyRequest, User>();
    const taken = new Set((route.bodyTypes ?? ["application/json"]).flatMap(typesLike));
    this.fastify.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      exposeHeadRoute: route.answer.type === undefined, // a stream would have no end
      // Before the body is read: nobody makes us read anything who may not ask.
      onRequest: async (request) => {
        const params = validated(route.params, request.params, "path") as Asked["params"];
        users.set(request, await this.#admit(request.raw, route.rights, params.name));
        if (route.body) mustTake(request.headers["content-type"], taken);
      },
      handler: async (request, reply) => {
        const { headers, raw } = request;
        const user = users.get(request) as User;
        const params = request.params as Asked["params"];
        const query = queryOf(route, request.query);
        const body = route.body ? validated(route.body, request.body, "body") : undefined;
        // Asks again who it is: a token that was good at the beginning need not be so for ever.
        const may: Asked["may"] = async (right) =>
          this.#options.guard.mayDo(await this.#who(raw), right, right.named && params.name);
        const answer = await route.handle({ params, query, body, headers, user, may, signal: goneSignal(reply) });
        reply.code(answer.status ?? route.answer.status).headers(answer.headers ?? {});
        if (answer.stream === undefined) return answer.body === undefined ? reply.send() : answer.body;
        reply.hijack();
        answer.stream(reply.raw);
        return reply;
      },
    });
  }

  async #admit(request: IncomingMessage, rights: readonly Right[], name: string | undefined): Promise<User> {
    const { guard } = this.#options;
    const user = await this.#who(request);
    const seconds = this.#rate.take(guard.isOpen ? addressOf(request) : user.name);
    if (seconds > 0) throw tooMany("you ask more often than is allowed", seconds);
    for (const right of rights) {
      const of = right.named && name;
      if (!(await guard.mayDo(user, right, of))) throw lacking(user, right, of);
    }
    return user;
  }

  #who(request: IncomingMessage): Promise<User> {
    return this.#options.guard.authenticate(bearerOf(request.headers.authorization), addressOf(request));
  }

  #renewCertificate(files: TlsFiles, pair: KeyPair): void {
    const { clock, log } = this.#options;
    const server = this.fastify.server as unknown as TlsServer;
    const use = (found: KeyPair) => server.setSecureContext({ ...found, ...TLS });
    const renewal = followKeyPair({ files, pair, clock, log, use });
    this.fastify.addHook("onClose", async () => renewal.cancel());
  }

  #limitConnections(server: HttpServer, limits: Limits): void {
    server.maxConnections = limits.connections;
    // One more than there may be, so that it can be seen: Node leaves out what is beyond and says nothing.
    server.maxHeadersCount = limits.headers + 1;
    server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = request.url?.split("?")[0] ?? "";
    const handle = this.#upgrades.get(path);
    const { allowedOrigins, guard } = this.#options;
    const refusal = refusalOf(request.headers, { allowedOrigins, isOpen: guard.isOpen });
    if (handle && refusal === undefined) {
      handle(request, socket, head);
      return;
    }
    socket.on("error", () => {}); // it has gone without waiting for the answer
    const error =
      refusal === undefined
        ? new GatewayError("BERTH_NOT_FOUND", `there is nothing to connect to at ${path.slice(0, 200)}`)
        : new GatewayError("BERTH_FORBIDDEN", refusal);
    socket.end(rawAnswer(error));
  }

  #parseBodies(): void {
    const { fastify } = this;
    const { bodyBytes } = this.#options.limits;
    const yamlBytes = Math.min(bodyBytes, LARGEST_YAML);
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser(JSON_TYPES, { parseAs: "string" }, async (_: FastifyRequest, text: string) =>
      parseJson(text, bodyBytes),
    );
    fastify.addContentTypeParser(
      YAML_TYPES,
      { parseAs: "string", bodyLimit: yamlBytes },
      async (_: FastifyRequest, text: string) => parseYaml(text, yamlBytes),
    );
    // Where a body is wanted others have been refused by now. Elsewhere it does not matter what is in it: curl -d '' names a type.
    fastify.addContentTypeParser("*", { parseAs: "buffer" }, async () => undefined);
  }

  #guardAll(): void {
    const { allowedOrigins, guard, limits } = this.#options;
    this.fastify.addHook("onRequest", async (request, reply) => {
      const { raw } = reply; // and not the reply: so they are there also when somebody else writes the answer
      raw.setHeader("x-content-type-options", "nosniff");
      raw.setHeader("cache-control", "no-store");
      raw.setHeader("vary", "Origin");
      const { headers } = request;
      if (request.raw.rawHeaders.length / 2 > limits.headers) {
        throw new GatewayError("BERTH_HEADERS_TOO_LARGE", `there are more than ${limits.headers} headers`);
      }
      if (!request.url.startsWith("/")) {
        throw new GatewayError("BERTH_NOT_FOUND", "this is no proxy: ask for a path");
      }
      const refusal = refusalOf(headers, { allowedOrigins, isOpen: guard.isOpen });
      if (refusal !== undefined) throw new GatewayError("BERTH_FORBIDDEN", refusal);
      const { origin } = headers;
      if (origin === undefined || !allowedOrigins.includes(origin)) {
        raw.setHeader("cross-origin-resource-policy", "same-origin");
        return;
      }
      raw.setHeader("access-control-allow-origin", origin);
      raw.setHeader("access-control-expose-headers", "ETag, Location, Retry-After, Allow");
      if (request.method !== "OPTIONS") return;
      raw.setHeader("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
      raw.setHeader("access-control-allow-headers", "Authorization, Content-Type, If-Match, If-None-Match");
      raw.setHeader("access-control-max-age", "600");
      reply.code(204).send();
    });
  }

  #failed(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const ours = known(error);
    const { method, url } = request;
    const about = { method, path: url.split("?")[0]?.slice(0, 200), error: ours.cause ?? ours };
    if (ours.status === 500) this.#options.log.error("a request failed", about);
    // Who has gone, as schedulers do that wait for a turn, is not worth a word.
    else if (ours.status > 500 && !reply.raw.destroyed)
      this.#options.log.warn("a request could not be answered", about);
    const { retryAfter } = ours.details;
    if (ours.code === "BERTH_UNAUTHENTICATED") reply.header("www-authenticate", "Bearer");
    if (typeof retryAfter === "number") reply.header("retry-after", String(retryAfter));
    else if (ours.code === "BERTH_UNAVAILABLE") reply.header("retry-after", "1");
    // What is still on its way of a body that nobody wants to read need not come.
    if (ours.code === "BERTH_BODY_TOO_LARGE") reply.header("connection", "close");
    reply
      .code(ours.status)
      .type(PROBLEM_TYPE)
      .send(JSON.stringify(problemOf(ours)));
  }

  /** What came was no request that could be given to anybody. */
  #misunderstood(error: Error, socket: Duplex): void {
    if (!socket.writable || (error as NodeJS.ErrnoException).code === "ECONNRESET") socket.destroy();
    else socket.end(rawAnswer(ofParser(error)), () => socket.destroy());
  }

  #notFound(request: FastifyRequest, reply: FastifyReply): void {
    const path = request.url.split("?")[0] ?? "";
    const methods = this.#paths.filter((each) => matches(each.path, path)).map(({ method }) => method);
    if (methods.length === 0) {
      throw new GatewayError(
        "BERTH_NOT_FOUND",
        `there is nothing at ${path.slice(0, 200)}: GET /docs shows what there is`,
      );
    }
    reply.header("allow", methods.flatMap((each) => (each === "GET" ? ["GET", "HEAD"] : [each])).join(", "));
    throw new GatewayError("BERTH_METHOD_NOT_ALLOWED", `${request.method} cannot be done with ${path.slice(0, 200)}`);
  }
}

function mustTake(contentType: string | undefined, taken: ReadonlySet<string>): void {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (taken.has(type)) return;
  const said = type === "" ? "there is no Content-Type" : `${type.slice(0, 100)} is not taken here`;
  throw new GatewayError("BERTH_MEDIA_TYPE_UNKNOWN", `${said}; what is: ${[...taken].join(", ")}`);
}

/** YAML has several names. */
function typesLike(type: string): string[] {
  return type === "application/yaml" ? YAML_TYPES : [type];
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? "";
}

function ofParser(error: Error): GatewayError {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "HPE_HEADER_OVERFLOW") return new GatewayError("BERTH_HEADERS_TOO_LARGE", "the headers are too large");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new GatewayError("BERTH_REQUEST_TOO_SLOW", "the request did not arrive in time");
  }
  return new GatewayError("BERTH_BODY_INVALID", "that is no HTTP request");
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return wanted.length === given.length && wanted.every((part, index) => part.startsWith("{") || part === given[index]);
}

/** Aborted when whoever waits for an answer has gone without it. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.on("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new GatewayError("BERTH_UNAVAILABLE", "whoever asked has gone"));
  });
  return gone.signal;
}
