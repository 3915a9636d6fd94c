/** The other side of a WebSocket, as far as tests need it: each frame is the test's, well-formed or not. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Tests decide about each handshake, in the order in which they come. */
export type OnHandshake = (handshake: Handshake) => void;

export class WebSocketServer {
  readonly url: string;
  readonly stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.stop = stop;
  }

  static async start(onHandshake: OnHandshake): Promise<WebSocketServer> {
    const server = createServer();
    const sockets = new Set<Duplex>();
    server.on("connection", (socket) => sockets.add(socket));
    server.on("upgrade", (request, socket) => onHandshake(new Handshake(request, socket)));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const stop = async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((stopped) => server.close(stopped));
    };
    return new WebSocketServer(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, stop);
  }
}

/** A request for a WebSocket, not yet answered. */
export class Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>;

  constructor(request: IncomingMessage, socket: Duplex) {
    this.request = request;
    this.socket = socket;
    this.gone = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {}); // `gone` says it
    socket.on("end", () => socket.end()).resume();
  }

  /** Opens the WebSocket; `first` is sent in the same packet. */
  accept({ protocol = "v5.channel.k8s.io", first = [] }: { protocol?: string; first?: readonly Buffer[] } = {}): Peer {
    const key = `${this.request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const head = [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${createHash("sha1").update(key).digest("base64")}`,
      `Sec-WebSocket-Protocol: ${protocol}`,
    ];
    const peer = new Peer(this);
    this.socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), ...first]));
    return peer;
  }

  /** Answers with something else. `length`: what the header says, if not the truth. */
  refuse(status: number, body: string, length = Buffer.byteLength(body)): void {
    const head = [`HTTP/1.1 ${status} No`, "Connection: close", `Content-Length: ${length}`];
    this.socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }
}

/** A WebSocket that is open. It answers nothing by itself, not even a close frame. */
export class Peer {
  readonly gone: Promise<void>;
  readonly socket: Duplex;
  #unread = Buffer.alloc(0);
  #frames: Frame[] = [];
  #wanted: ((frame: Frame) => void)[] = [];

  constructor({ socket, gone }: Handshake) {
    this.socket = socket;
    this.gone = gone;
    socket.on("data", (bytes) => this.#read(bytes));
  }

  send(frame: Buffer): void {
    this.socket.write(frame);
  }

  /** The next frame from the client. */
  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    return frame ? Promise.resolve(frame) : new Promise((resolve) => this.#wanted.push(resolve));
  }

  #read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (let frame = this.#take(); frame; frame = this.#take()) {
      const wanted = this.#wanted.shift();
      if (wanted) wanted(frame);
      else this.#frames.push(frame);
    }
  }

  /** A whole frame off the front of what has come. Clients mask all of theirs, and those of tests are short. */
  #take(): Frame | undefined {
    const all = this.#unread;
    if (all.length < 4) return undefined;
    const isLong = (all.readUInt8(1) & 127) === 126;
    const length = isLong ? all.readUInt16BE(2) : all.readUInt8(1) & 127;
    const start = (isLong ? 4 : 2) + 4;
    if (all.length < start + length) return undefined;
    const mask = all.subarray(start - 4, start);
    const payload = Buffer.from(all.subarray(start, start + length));
    for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0);
    this.#unread = all.subarray(start + length);
    return { opcode: all.readUInt8(0) & 15, payload };
  }
}

/** A frame of a server: whole, unmasked, and short. */
export function frame(opcode: number, payload: Uint8Array | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  const length = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 255];
  return Buffer.concat([Buffer.of(128 | opcode, ...length), bytes]);
}
