/** One request and its answer, whichever HTTP they travel by. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from "node:http2";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { stringify } from "yaml";
import { type AnyObject, isObject } from "../api/json.ts";
import type { User } from "../api/resource.ts";
import { AUTHENTICATED } from "../auth/users.ts";

/** What is said beside a body: a header's value, or its values. */
export type AnswerHeaders = Record<string, string | readonly string[]>;

export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  /** An object, or the text of one. */
  readonly body: object | string;
  /** Of an object. Default: "json". */
  readonly format?: "json" | "yaml";
  readonly headers?: AnswerHeaders;
}

/** A connection's client stays the same, and looking at a certificate takes a while. */
const users = new WeakMap<object, User | "unknown" | "nobody">();

function userOf(socket: Partial<TLSSocket>): User | "unknown" | undefined {
  const subject: Record<string, string | readonly string[] | undefined> = { ...socket.getPeerCertificate?.()?.subject };
  const name = subject.CN;
  if (typeof name !== "string" || name === "") return undefined;
  if (!socket.authorized) return "unknown";
  const groups = [subject.O ?? []].flat();
  return { username: name, groups: [...groups, AUTHENTICATED] };
}

export class Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly #request: IncomingMessage | Http2ServerRequest;
  /** That of HTTP/2 looks the same, but for its stream. */
  readonly #response: ServerResponse & { readonly stream?: ServerHttp2Stream };

  constructor(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) {
    this.method = request.method ?? "GET";
    this.url = request.url ?? "/";
    this.headers = request.headers;
    this.#request = request;
    this.#response = response as ServerResponse;
    // Whoever goes away in the middle of an answer is nobody's error.
    response.on("error", () => {});
    request.on("error", () => {});
  }

  get body(): Readable {
    return this.#request;
  }

  /** The first value of a header. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** Whether somebody asks to act as another. */
  get wantsAnother(): boolean {
    for (const name in this.headers) if (name.startsWith("impersonate-")) return true;
    return false;
  }

  /** All values of all headers, by their names in lower case. */
  get allHeaders(): Readonly<Record<string, readonly string[]>> {
    const all: Record<string, string[]> = Object.create(null);
    const { rawHeaders } = this.#request;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const [name, value] = [(rawHeaders[index] as string).toLowerCase(), rawHeaders[index + 1] as string];
      const values = all[name];
      if (values) values.push(value);
      else all[name] = [value];
    }
    return all;
  }

  /** Who the client is by its certificate, if it has shown one; "unknown" if our authority has not signed it. */
  get certificateUser(): User | "unknown" | undefined {
    const { stream } = this.#request as Partial<Http2ServerRequest>;
    const connection = stream?.session ?? this.#request.socket;
    let user = users.get(connection);
    if (user === undefined) {
      user = userOf(this.#request.socket as Partial<TLSSocket>) ?? "nobody";
      users.set(connection, user);
    }
    return user === "nobody" ? undefined : user;
  }

  /** Whether there is still somebody to answer to. */
  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** How much was written that nobody has read yet, in bytes. */
  get unread(): number {
    return (this.#response.stream ?? this.#response).writableLength;
  }

  /** Called once, when the answer is over or the client is gone. */
  onClose(callback: () => void): void {
    if (this.#response.destroyed) callback();
    else this.#response.once("close", callback);
  }

  /** Called whenever everything that was written has been read. */
  onDrain(callback: () => void): void {
    this.#response.on("drain", callback);
  }

  /** Begins an answer of unknown length. */
  begin(status: number, headers: AnswerHeaders): void {
    this.#head(status, headers);
    this.#response.flushHeaders();
  }

  write(chunk: string | Uint8Array): void {
    if (this.isOpen) this.#response.write(chunk);
  }

  end(): void {
    if (this.isOpen) this.#response.end();
  }

  /** Ends it, however much is unread. */
  cutOff(): void {
    (this.#response.stream ?? this.#response).destroy();
  }

  /** Gives the whole answer, unless one has begun. */
  answer({ status = 200, body, format = "json", headers = {} }: Answer): void {
    if (!this.isOpen || this.hasBegun) return;
    const isText = typeof body === "string";
    const bytes = Buffer.from(isText ? body : this.#written(body, format));
    const type = isText ? "text/plain; charset=utf-8" : `application/${format}`;
    const length = status === 304 ? {} : { "content-length": String(bytes.length) };
    this.#head(status, { "content-type": type, ...length, ...headers });
    this.#response.end(bytes);
  }

  #written(object: object, format: "json" | "yaml"): string {
    if (format === "yaml") return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
    return `${JSON.stringify(object, null, this.#isPerson ? 2 : undefined)}\n`;
  }

  /** Programs that people use to look at answers get them in lines. */
  get #isPerson(): boolean {
    return /[?&]pretty=(true|1)\b/.test(this.url) || /^(curl|Wget|Mozilla\/5\.0)/.test(this.header("user-agent") ?? "");
  }

  #head(status: number, headers: AnswerHeaders): void {
    this.#response.statusCode = status;
    for (const [name, value] of Object.entries({ "cache-control": "no-cache, private", ...headers })) {
      this.#response.setHeader(name, value);
    }
  }
}

/** Whether an answer is a `Status`, which is never shown as anything else. */
export function isStatus(object: AnyObject): boolean {
  return isObject(object) && object.kind === "Status" && object.apiVersion === "v1";
}
