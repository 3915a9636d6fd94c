/** STOMP frames out of bytes, wherever the network has cut them, and into bytes again. */
import { GatewayError } from "../errors.ts";

/** The versions that are spoken, the best first. */
export const VERSIONS = ["1.2", "1.1", "1.0"] as const;
/** One of them. */
export type Version = (typeof VERSIONS)[number];

/** One frame, as either side means it: its headers are unescaped. */
export interface Frame {
  readonly command: string;
  /** If a header was sent twice, as it was first. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** How much one frame may be. */
export interface FrameLimits {
  /** How many headers. Default: 64. */
  readonly headers: number;
  /** How many octets the command, or one header. Default: 16 KiB, for tokens may be long. */
  readonly line: number;
  /** How many octets the body. Default: 64 KiB. */
  readonly body: number;
}

/** What holds unless something else is asked for. */
export const FRAME_LIMITS: FrameLimits = { headers: 64, line: 16 * 1024, body: 64 * 1024 };

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/** What each version escapes; `\r` came with 1.2, and 1.0 escapes nothing. */
const ESCAPED: Readonly<Record<Version, ReadonlyMap<string, string>>> = {
  "1.2": new Map([
    ["\\", "\\\\"],
    ["\r", "\\r"],
    ["\n", "\\n"],
    [":", "\\c"],
  ]),
  "1.1": new Map([
    ["\\", "\\\\"],
    ["\n", "\\n"],
    [":", "\\c"],
  ]),
  "1.0": new Map(),
};
const MEANT: Readonly<Record<Version, ReadonlyMap<string, string>>> = {
  "1.2": reversed(ESCAPED["1.2"]),
  "1.1": reversed(ESCAPED["1.1"]),
  "1.0": reversed(ESCAPED["1.0"]),
};

function reversed(map: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...map].map(([from, to]) => [to, from]));
}

/** These are not escaped: when they are sent, nobody knows which version the other speaks. STOMP is CONNECT by another name. */
const NEVER_ESCAPED: ReadonlySet<string> = new Set(["CONNECT", "STOMP", "CONNECTED"]);

/** A frame from its parts. */
export function frame(command: string, headers: Readonly<Record<string, string>>, body: Buffer = NOTHING): Frame {
  return { command, headers: new Map(Object.entries(headers)), body };
}

/**
 * Puts frames together out of chunks. Whoever uses it pushes what has come, and then asks for frames until there is none:
 * one at a time, since CONNECT decides how the frames after it are to be read.
 *
 * What is not STOMP is an error that says what is wrong, and never what was sent, for that may be a token. There is no
 * way back from it: the beginning of the next frame cannot be found any more.
 */
export class FrameParser {
  /** Decides which escapes there are. */
  version: Version = "1.2";
  readonly #limits: FrameLimits;
  /** What has come and was not read; of the first, all before `#at` was. */
  readonly #chunks: Buffer[] = [];
  #at = 0;
  /** The beginning of a line or body whose end has not come: the first `#kept` octets. */
  #beginning = NOTHING;
  #kept = 0;
  /** What is known of the frame whose end has not come. */
  #command: string | undefined;
  #headers = new Map<string, string>();
  #headerLines = 0;
  /** Whether its headers are complete; then, how long its body is to be, if it says so. */
  #inBody = false;
  #length: number | undefined;
  #failure: unknown;

  constructor(limits: Partial<FrameLimits> = {}) {
    this.#limits = { ...FRAME_LIMITS, ...limits };
  }

  /** Takes what has come. */
  push(chunk: Buffer): void {
    if (chunk.length > 0) this.#chunks.push(chunk);
  }

  /** The next frame that is complete. Throws a `GatewayError` if what has come is not STOMP, and from then on. */
  next(): Frame | undefined {
    if (this.#failure) throw this.#failure;
    try {
      return this.#next();
    } catch (error) {
      this.#failure = error;
      this.#chunks.length = 0;
      throw error;
    }
  }

  #next(): Frame | undefined {
    while (!this.#inBody) {
      const line = this.#line();
      if (line === undefined) return undefined;
      if (this.#command !== undefined) this.#header(line);
      else if (line !== "") this.#command = line; // an empty line between frames is a heart-beat
    }
    const body = this.#length === undefined ? this.#bodyToNul() : this.#bodyOf(this.#length);
    if (!body) return undefined;
    const complete = { command: this.#command as string, headers: this.#headers, body };
    this.#command = undefined;
    this.#headers = new Map();
    this.#headerLines = 0;
    this.#inBody = false;
    this.#length = undefined;
    return complete;
  }

  #header(line: string): void {
    if (line === "") {
      this.#inBody = true;
      this.#length = this.#contentLength();
      return;
    }
    this.#headerLines++;
    if (this.#headerLines > this.#limits.headers) {
      throw tooLarge(`a frame may have ${this.#limits.headers} headers`);
    }
    const colon = line.indexOf(":");
    if (colon < 0) throw malformed("a header has no colon");
    if (colon === 0) throw malformed("a header has no name");
    const name = this.#unescaped(line.slice(0, colon));
    const value = this.#unescaped(line.slice(colon + 1));
    if (!this.#headers.has(name)) this.#headers.set(name, value);
  }

  #unescaped(text: string): string {
    if (!text.includes("\\") || this.version === "1.0" || NEVER_ESCAPED.has(this.#command as string)) return text;
    const meant = MEANT[this.version];
    return text.replace(/\\.?/gs, (escaped) => {
      const character = meant.get(escaped);
      if (character === undefined) throw malformed("a header has an escape that there is not");
      return character;
    });
  }

  #contentLength(): number | undefined {
    const text = this.#headers.get("content-length");
    if (text === undefined) return undefined;
    if (!/^\d{1,15}$/.test(text)) throw malformed("the content-length is not a number");
    const length = Number(text);
    if (length > this.#limits.body) throw this.#bodyTooLarge();
    return length;
  }

  #bodyTooLarge(): GatewayError {
    return tooLarge(`a body may have ${this.#limits.body} octets`);
  }

  /** The next line without its end, once that has come. */
  #line(): string | undefined {
    for (let chunk = this.#chunks[0]; chunk; chunk = this.#chunks[0]) {
      for (let end = this.#at; end < chunk.length; end++) {
        if (chunk[end] === LF) return lineOf(this.#upTo(chunk, end, end + 1));
        // Somebody has forgotten the empty line; whoever waited for it would wait for the next frame.
        if (chunk[end] === NUL) throw malformed("a NUL stands where the headers have not ended");
        if (this.#kept + end - this.#at >= this.#limits.line) {
          throw tooLarge(`a header may have ${this.#limits.line} octets`);
        }
      }
      this.#keep(chunk);
    }
    return undefined;
  }

  #bodyToNul(): Buffer | undefined {
    for (let chunk = this.#chunks[0]; chunk; chunk = this.#chunks[0]) {
      const nul = chunk.indexOf(NUL, this.#at);
      const end = nul === -1 ? chunk.length : nul;
      if (this.#kept + end - this.#at > this.#limits.body) throw this.#bodyTooLarge();
      if (nul !== -1) return this.#upTo(chunk, end, end + 1);
      this.#keep(chunk);
    }
    return undefined;
  }

  #bodyOf(length: number): Buffer | undefined {
    for (let chunk = this.#chunks[0]; chunk; chunk = this.#chunks[0]) {
      const end = this.#at + length - this.#kept;
      if (end < chunk.length) {
        if (chunk[end] !== NUL) throw malformed("there is no NUL after the body");
        return this.#upTo(chunk, end, end + 1);
      }
      this.#keep(chunk);
    }
    return undefined;
  }

  /** What was kept, and the chunk up to `end`; reading goes on at `next`. */
  #upTo(chunk: Buffer, end: number, next: number): Buffer {
    const rest = chunk.subarray(this.#at, end);
    const whole = this.#kept === 0 ? rest : Buffer.concat([this.#beginning.subarray(0, this.#kept), rest]);
    this.#kept = 0;
    this.#beginning = NOTHING;
    this.#at = next;
    if (next === chunk.length) this.#drop();
    return whole;
  }

  /** The chunk ends before what is read does. */
  #keep(chunk: Buffer): void {
    const size = this.#kept + chunk.length - this.#at;
    if (size > this.#beginning.length) {
      // Twice as much as is needed, so that a frame which comes octet by octet is not copied as often.
      const larger = Buffer.allocUnsafe(2 * size);
      this.#beginning.copy(larger, 0, 0, this.#kept);
      this.#beginning = larger;
    }
    chunk.copy(this.#beginning, this.#kept, this.#at);
    this.#kept = size;
    this.#drop();
  }

  #drop(): void {
    this.#chunks.shift();
    this.#at = 0;
  }
}

/** Nothing is trimmed, a byte order mark neither. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function lineOf(bytes: Buffer): string {
  const line = textOf(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
  if (line.includes("\r")) throw malformed("a carriage return stands inside a line");
  return line;
}

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw malformed("a header is not UTF-8", { cause });
  }
}

function malformed(message: string, options?: ErrorOptions): GatewayError {
  return new GatewayError("BERTH_BODY_INVALID", message, options);
}

function tooLarge(message: string): GatewayError {
  return new GatewayError("BERTH_BODY_TOO_LARGE", message);
}

/** A frame's octets. A body is sent with its content-length. */
export function serialise({ command, headers, body }: Frame, version: Version): Buffer {
  const written = NEVER_ESCAPED.has(command) ? "1.0" : version;
  let head = `${command}\n`;
  for (const [name, value] of headers) head += `${headerText(name, written)}:${headerText(value, written)}\n`;
  if (body.length > 0 && !headers.has("content-length")) head += `content-length:${body.length}\n`;
  return withBody(`${head}\n`, body);
}

/** The octets of a frame whose head is written already, the empty line included. */
export function withBody(head: string, body: Buffer): Buffer {
  const length = Buffer.byteLength(head);
  // One piece, copied: a body of a few KiB is copied faster than two pieces are written.
  const bytes = Buffer.allocUnsafe(length + body.length + 1);
  bytes.write(head);
  body.copy(bytes, length);
  bytes[bytes.length - 1] = NUL;
  return bytes;
}

/** Text as a header has it. What a version cannot write becomes a space, lest it be read as another header. */
export function headerText(text: string, version: Version): string {
  const escaped = ESCAPED[version];
  let result = "";
  for (const character of text) {
    const unwritable = character === "\r" || character === "\n" || character === "\0";
    result += escaped.get(character) ?? (unwritable ? " " : character);
  }
  return result;
}
