/** A plain HTTP request, for tests that send what no client of ours would. */
import { type IncomingHttpHeaders, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";

export interface Asked {
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any kind
  readonly object: any;
}

/** @param url - "https://127.0.0.1:20123/version" */
export function ask(method: string, url: string, { body, headers = {}, ...tls }: Asked = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? secureRequest : plainRequest;
    // Without it Node sends some bodies as if another request came after this one.
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = send(url, { method, headers: { ...length, ...headers }, agent: false, ...tls }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, object: parsed(text) });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
