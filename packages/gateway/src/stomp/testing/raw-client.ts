/** A client that says whatever it is told to, well-formed or not, and hears every frame. */
import { vi } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { type Frame, FrameParser, frame, serialise, type Version } from "../frame.ts";

/** Longer than any busy machine takes. */
const LIMIT_MS = 60_000;

/** Asks again and again until the expectation no longer throws; gives what it returns. */
export function eventually<T>(expectation: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(expectation, { timeout: LIMIT_MS, interval: 5 });
}

/** A WebSocket that is open. */
export class RawClient {
  readonly frames: Frame[] = [];
  /** All that has come, as it came. Only as much as a test looks at. */
  raw = "";
  /** How many messages were heart-beats. */
  beats = 0;
  /** How many messages were binary. */
  binary = 0;
  /** Why it was closed. */
  closeCode: number | undefined;
  readonly webSocket: WebSocket;
  readonly #parser = new FrameParser({ body: 64 * 1024 * 1024 });

  private constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on("message", (data, isBinary) => this.#received(data as Buffer, isBinary));
    webSocket.on("close", (code) => {
      this.closeCode = code;
    });
  }

  /** Rejects if the server refuses it. */
  static async open(url: string, options: ClientOptions & { protocols?: string[] } = {}): Promise<RawClient> {
    const { protocols = ["v12.stomp"], ...others } = options;
    const webSocket = new WebSocket(url, protocols, others);
    const client = new RawClient(webSocket);
    await new Promise((resolve, reject) => {
      webSocket.once("open", resolve);
      webSocket.once("error", reject);
    });
    webSocket.on("error", () => {}); // it closes, and that is looked at
    return client;
  }

  /** One that has connected with CONNECT. */
  static async connect(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    options: ClientOptions = {},
  ): Promise<RawClient> {
    const client = await RawClient.open(url, options);
    client.say("CONNECT", { "accept-version": "1.2", host: "berth", passcode: "good", ...headers });
    await client.heard("CONNECTED");
    return client;
  }

  say(command: string, headers: Readonly<Record<string, string>> = {}, body = ""): void {
    this.webSocket.send(serialise(frame(command, headers, Buffer.from(body)), "1.2").toString());
  }

  /** The first frame with this command and these headers, once it has come. */
  heard(command: string, headers: Readonly<Record<string, string>> = {}): Promise<Frame> {
    return eventually(() => {
      const found = this.frames.find(
        (each) =>
          each.command === command &&
          Object.entries(headers).every(([name, value]) => each.headers.get(name) === value),
      );
      if (!found) throw new Error(`no ${command} among ${this.frames.map((each) => each.command).join(", ")}`);
      return found;
    });
  }

  /** The bodies of all messages so far. */
  messages(): unknown[] {
    return this.frames
      .filter(({ command }) => command === "MESSAGE")
      .map(({ body }) => JSON.parse(body.toString()) as unknown);
  }

  /** When the server has closed it: the code. */
  closed(): Promise<number> {
    return eventually(() => {
      if (this.closeCode === undefined) throw new Error("it is open");
      return this.closeCode;
    });
  }

  #received(data: Buffer, isBinary: boolean): void {
    if (this.raw.length < 10_000) this.raw += data.toString();
    if (isBinary) this.binary++;
    if (data.toString() === "\n") this.beats++;
    this.#parser.push(data);
    for (let next = this.#parser.next(); next; next = this.#parser.next()) {
      if (next.command === "CONNECTED") this.#parser.version = next.headers.get("version") as Version;
      this.frames.push(next);
    }
  }
}
