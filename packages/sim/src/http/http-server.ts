/**
 * The API server for everybody outside of this process: kubectl, and any other client of Kubernetes.
 *
 * It speaks HTTPS unless told otherwise, with certificates of its own, because kubectl shows a user's token or certificate
 * to nobody but a server that it reaches by TLS: without it there is only one user. TLS adds some three milliseconds to a
 * start. HTTP/2 and HTTP/1.1 are both understood. Answers are JSON or YAML, never compressed: most clients are on the same
 * machine. Protobuf is understood, since programs in Go send nothing else to create something, but never spoken.
 */
import { createServer as createPlainServer, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { type AddressInfo, isIPv6, type Socket } from "node:net";
import { ApiError } from "@berth/kube";
import type { ApiServer } from "../api/api-server.ts";
import { internal, Refusal } from "../api/refusal.ts";
import type { User } from "../api/resource.ts";
import type { Access } from "../auth/access.ts";
import { ADMINISTRATOR, ANONYMOUS, AUTHENTICATED } from "../auth/users.ts";
import { Authority } from "./certificates.ts";
import { Exchange } from "./exchange.ts";
import { type KubeconfigOptions, kubeconfigText } from "./kubeconfig.ts";
import type { Logs } from "./logs.ts";
import { OtherPaths } from "./other-paths.ts";
import { Outgoing } from "./outgoing.ts";
import { type ResourceContext, serveResource } from "./resource-requests.ts";
import { parseUrl, type Route, routeOf } from "./route.ts";
import { WatchStreams } from "./watch-stream.ts";

/** Where a server listens, whom it serves, and what with. */
export interface HttpServerOptions {
  readonly server: ApiServer;
  readonly access: Access;
  /** Where to listen. Default: "127.0.0.1". */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Default: true. Without it everybody is an administrator who shows no token, so it is for this machine only. */
  readonly tls?: boolean;
  /** Further names and addresses at which the server is reached, for its certificate. */
  readonly addresses?: readonly string[];
  /** What a pod's container says. Default: nothing. */
  readonly logs?: Logs;
  /** Makes the clock stand still until what it returns is called: done for as long as a request is handled. */
  readonly hold?: () => () => void;
  /** Told of errors that are nobody's fault but ours. */
  readonly onFailure?: (error: unknown) => void;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #host: string;
  readonly #authority: Authority | undefined;
  readonly #server: Server | Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly #watches: WatchStreams;
  readonly #paths: OtherPaths;
  readonly #context: ResourceContext;

  constructor(options: HttpServerOptions) {
    const { server, access, host = "127.0.0.1", tls = true, logs, hold = () => () => {} } = options;
    if (!tls && !LOOPBACK.has(host)) {
      throw new RangeError(`without TLS everybody is an administrator; listen on 127.0.0.1 then, and not on ${host}`);
    }
    this.#options = options;
    this.#host = host;
    const outgoing = new Outgoing(server.ownership);
    this.#watches = new WatchStreams(server, outgoing);
    this.#context = { server, outgoing, watches: this.#watches, logs, hold };
    const address = () => this.address.replace(/^https?:\/\//, "");
    this.#paths = new OtherPaths(server, () => ({ server, access, watches: this.#watches, address: address() }));
    this.#authority = tls ? new Authority("berth-sim-ca") : undefined;
    this.#server = this.#authority ? this.#secure(this.#authority) : createPlainServer();
    this.#server.on("request", (request, response) => void this.#handle(new Exchange(request, response)));
    this.#server.on("connection", (socket: Socket) => this.#remember(socket));
    this.#server.on("secureConnection", (socket: Socket) => this.#remember(socket));
    this.#server.on("clientError", (_error: Error, socket: Socket) => refuseGibberish(socket));
    this.#server.on("sessionError", () => {});
  }

  /** Where it is: "https://127.0.0.1:20123". */
  get address(): string {
    const at = this.#server.address() as AddressInfo | null;
    if (!at) throw new Error("the server does not listen");
    const host = isIPv6(at.address) ? `[${at.address}]` : at.address;
    return `${this.#authority ? "https" : "http"}://${host}:${at.port}`;
  }

  /** The certificate of those who sign ours, as PEM; without TLS there is none. */
  get authority(): string | undefined {
    return this.#authority?.certificate;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#options.port ?? 0, this.#host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  /** Ends everything that is under way. */
  async stop(): Promise<void> {
    this.#watches.endAll();
    this.#paths.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** A kubeconfig for an administrator, or for any user: by a certificate, or by the token that is given. */
  kubeconfig(user: User | { readonly token: string } = ADMINISTRATOR, more: Partial<KubeconfigOptions> = {}): string {
    return kubeconfigText({ server: this.address, authority: this.authority, user: this.#credentials(user), ...more });
  }

  #credentials(user: User | { readonly token: string }): KubeconfigOptions["user"] {
    if ("token" in user) return user;
    const organizations = user.groups.filter((group) => group !== AUTHENTICATED);
    return this.#authority?.issue({ commonName: user.username, organizations });
  }

  #secure(authority: Authority): Http2SecureServer {
    const { addresses = [] } = this.#options;
    const names = [...new Set([this.#host, "127.0.0.1", "localhost", "::1", ...addresses])];
    const own = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
    const { certificate, key } = authority.issue({ commonName: "berth-sim", addresses: [...names, ...own] });
    const trust = { ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
    return createSecureServer({ allowHTTP1: true, cert: certificate, key, ...trust });
  }

  #remember(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {}); // whoever breaks a connection off is gone, and that is all
  }

  async #handle(exchange: Exchange): Promise<void> {
    try {
      await this.#serve(exchange);
    } catch (error) {
      if (!exchange.isOpen) return; // whoever asked is gone
      const { body, status } = this.#refusal(error);
      const wait = body.details?.retryAfterSeconds;
      exchange.answer({ status, body, headers: wait === undefined ? {} : { "retry-after": String(wait) } });
      exchange.end(); // in the middle of an answer that is all that can be said
    }
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { access } = this.#options;
    const { path, query } = parseUrl(exchange.url);
    const route = routeOf(exchange.method, path, query);
    const attributes = attributesOf(route);
    const asking = this.#authenticate(exchange);
    const user = exchange.wantsAnother ? access.actingAs(exchange.allHeaders, { user: asking, ...attributes }) : asking;
    access.require({ user, ...attributes });
    if (route.type === "path") exchange.answer(this.#paths.answer(exchange, route, query));
    else await serveResource(exchange, route, query, user, this.#context);
  }

  /** Who asks: by a certificate, which goes before a token, or nobody in particular. */
  #authenticate(exchange: Exchange): User {
    const shown = exchange.certificateUser;
    if (shown !== undefined && shown !== "unknown") return shown;
    const [scheme = "", token = ""] = (exchange.header("authorization") ?? "").split(" ", 2);
    if (scheme.toLowerCase() === "bearer" && token !== "") {
      const holder = this.#options.access.holderOf(token);
      if (holder === undefined || typeof holder === "string") throw unauthorized();
      return holder.user;
    }
    if (shown === "unknown") throw unauthorized();
    return this.#authority ? ANONYMOUS : ADMINISTRATOR;
  }

  #refusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof ApiError) return new Refusal(error.status, error.reason, error.message);
    this.#options.onFailure?.(error);
    return internal(error instanceof Error ? error.message : String(error));
  }
}

function attributesOf(route: Route) {
  if (route.type === "path") return { verb: route.verb, path: route.path };
  const { verb, group, plural: resource, subresource, namespace, name } = route;
  return { verb, group, resource, subresource, namespace, name };
}

function unauthorized(): Refusal {
  return new Refusal(401, "Unauthorized", "Unauthorized");
}

/** Says no to what is not HTTP at all. */
function refuseGibberish(socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(new Refusal(400, "BadRequest", "the request is not HTTP").body);
  const head = ["HTTP/1.1 400 Bad Request", "content-type: application/json", `content-length: ${body.length}`];
  socket.end([...head, "connection: close", "", body].join("\r\n"));
}
