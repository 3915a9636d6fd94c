/** The gateway's HTTP server: limits, who may ask what, and every error in the same form. */
import { readFileSync } from "node:fs";
import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Clock, Logger } from "@berth/kube";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { parse as parseYaml } from "yaml";
import { bearerOf, type Guard, type User } from "../auth/guard.ts";
import { RateLimit, type RateOptions } from "../auth/rate.ts";
import { GatewayError } from "../errors.ts";
import { foreignOrigin, isLoopback } from "./origin.ts";
import { known, PROBLEM_TYPE, problemOf } from "./problem.ts";
import { type Asked, type Right, type Route, unquoted, validated } from "./route.ts";

export interface ServerOptions {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly log: Logger;
  /** Web pages of these origins may ask; others, but for the gateway's own, may not. */
  readonly allowedOrigins: readonly string[];
  readonly limits: Limits;
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
}

export interface Limits {
  /** Of a request's body, in bytes. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  readonly headers: number;
  readonly connections: number;
  /** For the whole request to arrive, and for its headers, in seconds. */
  readonly requestSeconds: number;
  readonly headerSeconds: number;
  /** For each user. */
  readonly rate: RateOptions;
}

export const defaultLimits: Limits = {
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  headers: 100,
  connections: 4096,
  requestSeconds: 30,
  headerSeconds: 10,
  rate: { perSecond: 500, burst: 1000 },
};

const YAML = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/** A server without any routes. */
export class Server {
  readonly fastify: FastifyInstance;
  readonly #options: ServerOptions;
  readonly #rate: RateLimit;
  readonly #routes: Route[] = [];

  constructor(options: ServerOptions) {
    const { limits, tls, clock } = options;
    this.#options = options;
    this.#rate = new RateLimit(clock, limits.rate);
    const common = {
      logger: false,
      bodyLimit: limits.bodyBytes,
      requestTimeout: limits.requestSeconds * 1000,
      keepAliveTimeout: 75_000,
      forceCloseConnections: true,
      exposeHeadRoutes: false,
      onProtoPoisoning: "error",
      onConstructorPoisoning: "error",
      routerOptions: { maxParamLength: 300 },
    } as const;
    const http = { maxHeaderSize: limits.headerBytes, headersTimeout: limits.headerSeconds * 1000 };
    this.fastify = tls
      ? (Fastify({
          ...common,
          https: { ...http, minVersion: "TLSv1.2", cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
        }) as unknown as FastifyInstance)
      : Fastify({ ...common, http });
    const server = this.fastify.server as HttpServer;
    server.maxConnections = limits.connections;
    server.maxHeadersCount = limits.headers;
    server.headersTimeout = limits.headerSeconds * 1000;
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

  /** Something that is no resource: a page, a stream. @param rights - What a user must have; none: everybody may. */
  addRaw(
    path: string,
    rights: readonly Right[] | undefined,
    handle: (request: FastifyRequest, reply: FastifyReply, user: User | undefined) => Promise<unknown>,
  ): void {
    this.fastify.get(path, async (request, reply) => {
      const user = rights && (await this.#admit(request.raw, rights));
      return handle(request, reply, user);
    });
  }

  #add(route: Route): void {
    this.fastify.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      handler: async (request, reply) => {
        const params = validated(route.params, request.params, "path") as Asked["params"];
        const user = await this.#admit(request.raw, route.rights, params.name);
        this.#mustTake(route, request);
        const query = validated(route.query, unquoted(route.query, request.query as Asked["query"]), "query");
        const body = route.body ? validated(route.body, request.body, "body") : undefined;
        const { headers } = request;
        const signal = goneSignal(reply);
        const answer = await route.handle({ params, query: query as Asked["query"], body, headers, user, signal });
        reply.code(answer.status ?? route.answer.status).headers(answer.headers ?? {});
        return answer.body === undefined ? reply.send() : answer.body;
      },
    });
  }

  async #admit(request: IncomingMessage, rights: readonly Right[], name?: string): Promise<User> {
    const { guard } = this.#options;
    const user = await guard.authenticate(bearerOf(request.headers.authorization));
    const seconds = this.#rate.take(guard.isOpen ? (request.socket.remoteAddress ?? "") : user.name);
    if (seconds > 0) {
      throw new GatewayError("BERTH_TOO_MANY_REQUESTS", "you ask more often than is allowed", {
        details: { retryAfter: Math.ceil(seconds) },
      });
    }
    for (const right of rights) {
      if (await guard.mayDo(user, right, right.verb === "create" || right.verb === "list" ? undefined : name)) continue;
      const { verb, resource, group = "berth.dev" } = right;
      const what = group === "" ? resource : `${resource}.${group}`;
      throw new GatewayError("BERTH_FORBIDDEN", `${user.name} may not ${verb} ${what}${name ? ` ${name}` : ""}`);
    }
    return user;
  }

  #mustTake({ body, bodyTypes = ["application/json"] }: Route, { headers }: FastifyRequest): void {
    if (!body) return;
    const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    const taken = bodyTypes.includes("application/yaml") ? [...bodyTypes, ...YAML] : bodyTypes;
    if (taken.includes(type)) return;
    const said = type === "" ? "there is no Content-Type" : `${type} is not taken here`;
    throw new GatewayError("BERTH_MEDIA_TYPE_UNKNOWN", `${said}; what is: ${bodyTypes.join(", ")}`);
  }

  #parseBodies(): void {
    const { fastify } = this;
    const json = fastify.getDefaultJsonParser("error", "error");
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser(["application/json", "application/merge-patch+json"], { parseAs: "string" }, json);
    fastify.addContentTypeParser(YAML, { parseAs: "string" }, (_request, text, done) => {
      try {
        done(null, parseYaml(String(text), { maxAliasCount: 100 }));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        done(new GatewayError("BERTH_BODY_INVALID", `the body is no YAML: ${message.slice(0, 500)}`));
      }
    });
  }

  #guardAll(): void {
    const { allowedOrigins, guard } = this.#options;
    this.fastify.addHook("onRequest", async (request, reply) => {
      reply.headers({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
      const origin = request.headers.origin;
      const foreign = foreignOrigin(request.headers, allowedOrigins);
      if (foreign !== undefined) {
        throw new GatewayError("BERTH_FORBIDDEN", `pages of ${foreign.slice(0, 200)} may not use this gateway`);
      }
      // Whoever is open must not be reached by another name: that would be a page that has its name point here.
      if (guard.isOpen && !isLoopback(request.hostname)) {
        throw new GatewayError("BERTH_FORBIDDEN", "an open gateway is only for this machine: ask for localhost");
      }
      if (origin === undefined || !allowedOrigins.includes(origin)) return;
      reply.headers({ "access-control-allow-origin": origin, vary: "Origin" });
      if (request.method !== "OPTIONS") return;
      reply.headers({
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": "Authorization, Content-Type, If-Match, If-None-Match",
        "access-control-max-age": "600",
      });
      reply.code(204).send();
    });
  }

  #failed(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const ours = known(error);
    if (ours.status >= 500) {
      const { method, url } = request;
      this.#options.log.error("a request failed", { method, path: url.split("?")[0], error: ours.cause ?? ours });
    }
    const { retryAfter } = ours.details;
    if (ours.code === "BERTH_UNAUTHENTICATED") reply.header("www-authenticate", "Bearer");
    if (typeof retryAfter === "number") reply.header("retry-after", String(retryAfter));
    if (ours.code === "BERTH_UNAVAILABLE") reply.header("retry-after", "1");
    reply
      .code(ours.status)
      .type(PROBLEM_TYPE)
      .send(JSON.stringify(problemOf(ours)));
  }

  #notFound(request: FastifyRequest, reply: FastifyReply): void {
    const path = request.url.split("?")[0] ?? "";
    const methods = this.#routes.filter((route) => matches(route.path, path)).map(({ method }) => method);
    if (methods.length === 0) {
      throw new GatewayError("BERTH_NOT_FOUND", `there is nothing at ${path.slice(0, 200)}`);
    }
    reply.header("allow", methods.join(", "));
    throw new GatewayError("BERTH_METHOD_NOT_ALLOWED", `${request.method} cannot be done with ${path.slice(0, 200)}`);
  }
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
