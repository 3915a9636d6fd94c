/** HTTP by hand, for requests that no client would send. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Gateway } from "../../gateway.ts";

/** Everything that came back until the other side closed the connection. */
export interface RawAnswer {
  readonly status: number;
  /** In lower case; of several the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection to a gateway. */
export async function open(gateway: Gateway): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}); // being cut off is what some wait for
  await once(socket, "connect");
  return socket;
}

/** Sends a text as it is, and reads until the end. */
export async function send(gateway: Gateway, text: string): Promise<RawAnswer> {
  const socket = await open(gateway);
  socket.write(text);
  return received(socket);
}

/** Sends a request with these lines after the first, and asks for the connection to be closed. */
export function request(gateway: Gateway, first: string, lines: readonly string[] = [], body = ""): Promise<RawAnswer> {
  const host = lines.some((line) => /^host:/i.test(line)) ? [] : [`Host: ${new URL(gateway.url).host}`];
  return send(gateway, [`${first} HTTP/1.1`, ...host, "Connection: close", ...lines, "", body].join("\r\n"));
}

/** Waits for the end of a connection, whatever it is like: `once` would fail with an error. */
export function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}

/** What comes until the end of a connection. */
export async function received(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  await ended(socket);
  const text = Buffer.concat(chunks).toString();
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(first.split(" ")[1] ?? 0), headers, body: rest.join("\r\n\r\n") };
}

/** The code of the problem that an answer is; a text if it is none. */
export function codeOf({ headers, body }: RawAnswer): string {
  if (!headers["content-type"]?.startsWith("application/problem+json")) return `no problem: ${body.slice(0, 100)}`;
  const start = body.indexOf("{"); // there may be the length of a chunk before it
  return JSON.parse(body.slice(start, body.lastIndexOf("}") + 1)).code;
}
