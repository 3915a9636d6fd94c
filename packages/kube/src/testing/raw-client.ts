/** An HTTP client that hides nothing, for tests of the test server itself. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import { thing } from "./things.ts";

export const THINGS = "/apis/test.io/v1/namespaces/default/things";

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export class RawClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** The beginning of an answer. Every request has a connection of its own. */
  async open(method: string, path: string, { body, headers, signal }: CallOptions = {}): Promise<IncomingMessage> {
    const content = body === undefined ? "" : JSON.stringify(body);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const about = content ? { "content-type": type, "content-length": Buffer.byteLength(content) } : {};
    const sent = request(this.#url + path, { method, agent: false, headers: { ...about, ...headers }, signal });
    sent.end(content);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  }

  /** A whole answer, which must be JSON. */
  async call(method: string, path: string, options?: CallOptions) {
    const response = await this.open(method, path, options);
    return { code: response.statusCode, headers: response.headers, body: JSON.parse(await text(response)) };
  }

  list() {
    return this.call("GET", THINGS);
  }

  create(name: string) {
    return this.call("POST", THINGS, { body: thing(name) });
  }

  async watch(query = ""): Promise<RawWatch> {
    return new RawWatch(await this.open("GET", `${THINGS}?watch=1${query}`));
  }
}

/** A watch: what has come so far, and how it ends. */
export class RawWatch {
  readonly chunks: Buffer[] = [];
  /** "ended" as it should, or "broken" off. */
  readonly ending: Promise<string>;
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.on("data", (chunk: Buffer) => this.chunks.push(chunk));
    this.ending = new Promise((resolve) => {
      response.on("end", () => resolve("ended")).on("error", () => resolve("broken"));
    });
  }

  /** Whole lines: "ADDED a", "BOOKMARK 3", "BOOKMARK 3 end", "ERROR 410". */
  seen(): string[] {
    return this.#lines().slice(0, -1).map(inShort);
  }

  /** Waits until it has seen exactly this. */
  sees(...events: string[]): Promise<void> {
    return eventually(() => expect(this.seen()).toEqual(events));
  }

  /** What has come of a line that is not complete. */
  fragment(): string | undefined {
    return this.#lines().at(-1);
  }

  close(): void {
    this.#response.destroy();
  }

  #lines(): string[] {
    return Buffer.concat(this.chunks).toString().split("\n");
  }
}

function inShort(line: string): string {
  if (line.includes("not JSON")) return "garbage";
  const { type, object } = JSON.parse(line);
  if (type === "ERROR") return `ERROR ${object.code}`;
  const { name, resourceVersion, annotations } = object.metadata;
  if (type !== "BOOKMARK") return `${type} ${name}`;
  return `BOOKMARK ${resourceVersion}${annotations?.["k8s.io/initial-events-end"] === "true" ? " end" : ""}`;
}
