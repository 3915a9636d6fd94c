/** What a program shows over HTTP: whether it lives, whether it is ready, and its metrics. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

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

/** Serves pages by path. */
export class Endpoints {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(
    { port, host }: EndpointOptions,
    pages: Readonly<Record<string, () => Promise<Page>>>,
  ): Promise<Endpoints> {
    const server = createServer(async (request, response) => {
      const path = (request.url ?? "/").replace(/\?.*/, "").replace(/\/$/, "");
      const page = pages[path];
      const { status, type, body } = page ? await page() : { status: 404, type: "text/plain", body: "not found\n" };
      response.writeHead(status, { "content-type": type }).end(body);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
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
