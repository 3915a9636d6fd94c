/** What a program shows over HTTP: whether it lives, whether it is ready, and its metrics. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Logger, silent } from "../log/logger.ts";

/** Where to listen. */
export interface EndpointOptions {
  /** 0: any free one. */
  readonly port: number;
  /** Default: all addresses, as probes come from outside the pod. */
  readonly host?: string;
}

/** Throws, or rejects, if something is wrong. */
export type Check = () => void | Promise<void>;

export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export type Pages = Readonly<Record<string, () => Promise<Page>>>;

const text = (status: number, body: string): Page => ({ status, type: "text/plain", body: `${body}\n` });

/** Serves pages by path. */
export class Endpoints {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen({ port, host }: EndpointOptions, pages: Pages, log: Logger = silent): Promise<Endpoints> {
    const server = createServer(async ({ url = "/", method = "" }, response) => {
      const path = url.replace(/\?.*/, "").replace(/\/$/, "");
      const { status, type, body } = await pageFor(method, pages[path]).catch((error) => {
        log.error("a page could not be made", { path, error });
        return text(500, "failed"); // and not why: anybody may read this page
      });
      response.writeHead(status, { "content-type": type, ...(status === 405 && { allow: "GET, HEAD" }) }).end(body);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    // Such as too many open files, which passes; an error that nobody listens for would end the process.
    server.on("error", (error) => log.warn("a connection could not be accepted", { error }));
    return new Endpoints(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function pageFor(method: string, page: (() => Promise<Page>) | undefined): Promise<Page> {
  if (method !== "GET" && method !== "HEAD") return text(405, "only GET and HEAD");
  return page ? page() : text(404, "not found");
}

/** 200 if all checks pass, else 500; with a line for each of them, as Kubernetes' own health pages have them. */
export async function healthPage(checks: ReadonlyMap<string, Check>): Promise<Page> {
  const lines = await Promise.all(
    Array.from(checks, async ([name, check]) => {
      try {
        await check();
        return `[+]${name} ok`;
      } catch {
        return `[-]${name} failed`; // and not why: anybody may read this page
      }
    }),
  );
  const healthy = lines.every((line) => line.startsWith("[+]"));
  const body = [...lines, healthy ? "ok" : "failed", ""].join("\n");
  return { status: healthy ? 200 : 500, type: "text/plain", body };
}
