import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../errors.ts";
import { type Frame, type FrameLimits, FrameParser, frame, serialise, VERSIONS, type Version } from "./frame.ts";

/** All frames in the chunks, and the error after them if there is one. */
function parsed(chunks: readonly Buffer[], version: Version = "1.2", limits: Partial<FrameLimits> = {}) {
  const parser = new FrameParser(limits);
  parser.version = version;
  const frames: Frame[] = [];
  try {
    for (const chunk of chunks) {
      parser.push(chunk);
      for (let next = parser.next(); next; next = parser.next()) frames.push(next);
    }
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect(() => parser.next()).toThrow(error as Error); // there is no way back
    return { frames, error: error as GatewayError };
  }
  return { frames, error: undefined };
}

/** As data, with which frames can be compared wherever their bodies lie in memory. */
const plain = ({ command, headers, body }: Frame) => ({ command, headers: [...headers], body: body.toString("hex") });
const one = (text: string, version?: Version) => parsed([Buffer.from(text)], version);
const headersOf = (text: string, version?: Version) => {
  const { frames, error } = one(text, version);
  if (error) throw error;
  return Object.fromEntries(frames[0]?.headers ?? []);
};

const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 9 }));
function split(bytes: Buffer, pieces: IterableIterator<number>): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = pieces.next().value as number;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Whatever a version can write: 1.0 has no escapes, and 1.1 none for a carriage return. */
const writable = (version: Version) => {
  const cannot = { "1.2": ["\0"], "1.1": ["\0", "\r"], "1.0": ["\0", "\r", "\n", ":"] }[version];
  const unit = fc.oneof(
    fc.constantFrom("\\", ":", "\n", "\r", " ", "c", "\uFEFF"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  );
  return fc.string({ unit: unit.filter((character) => !cannot.includes(character) && character.isWellFormed()) });
};
const anyFrame = (version: Version) =>
  fc.record({
    command: fc.constantFrom("SEND", "MESSAGE", "ERROR"),
    headers: fc
      .array(
        fc.tuple(
          writable(version).map((name) => `n${name}`),
          writable(version),
        ),
        { maxLength: 5 },
      )
      .map((pairs) => new Map(pairs)),
    body: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  });
/** Nearly STOMP, so that it gets further than noise would. */
const garbage = fc
  .array(
    fc.oneof(
      fc.constantFrom("SEND", "CONNECT", "\n", "\r\n", "\r", "\0", ":", "\\", "\\n", "\\x", "a:b\n", "content-length:"),
      fc.constantFrom("0", "3", "-1", "99999999999999999999", "é", "\n\n", "\0\n"),
    ),
  )
  .chain((parts) =>
    fc.uint8Array({ maxLength: 12 }).map((noise) => Buffer.concat([Buffer.from(parts.join("")), Buffer.from(noise)])),
  );

describe("frames", () => {
  it("S1 are the same, wherever the bytes were cut", () => {
    const bytes = fc.oneof(
      fc.array(anyFrame("1.2")).map((frames) => Buffer.concat(frames.map((each) => serialise(each, "1.2")))),
      garbage,
    );
    fc.assert(
      fc.property(bytes, sizes, (whole, pieces) => {
        const cut = parsed(split(whole, pieces), "1.2", { headers: 3, line: 12, body: 30 });
        const uncut = parsed([whole], "1.2", { headers: 3, line: 12, body: 30 });
        expect(cut.frames.map(plain)).toEqual(uncut.frames.map(plain));
        expect(cut.error?.message).toBe(uncut.error?.message);
      }),
    );
  });

  it.each(VERSIONS)("S2 come back as they were sent, in version %s", (version) => {
    fc.assert(
      fc.property(fc.array(anyFrame(version)), sizes, (frames, pieces) => {
        const bytes = Buffer.concat(frames.map((each) => Buffer.concat([serialise(each, version), Buffer.from("\n")])));
        const received = parsed(split(bytes, pieces), version);
        expect(received.error).toBeUndefined();
        for (const { headers } of received.frames) (headers as Map<string, string>).delete("content-length");
        expect(received.frames.map(plain)).toEqual(frames.map(plain));
      }),
    );
  });

  it("S2 cannot smuggle in headers that were not meant", () => {
    const evil = frame("CONNECTED", { user: "a\nadmin:yes\r\0" });
    expect(serialise(evil, "1.2").toString()).toBe("CONNECTED\nuser:a admin:yes  \n\n\0");
    expect(serialise(frame("ERROR", { message: "a\r\nb:c" }), "1.1").toString()).toBe(
      "ERROR\nmessage:a \\nb\\cc\n\n\0",
    );
    expect(serialise(frame("ERROR", { message: "a\r\nb:c" }), "1.0").toString()).toBe("ERROR\nmessage:a  b:c\n\n\0");
  });

  it("S3 are never found in garbage by hanging or failing in any other way", () => {
    fc.assert(
      fc.property(garbage, fc.constantFrom(...VERSIONS), (bytes, version) => {
        const { error } = parsed([bytes], version);
        if (error) expect(["BERTH_BODY_INVALID", "BERTH_BODY_TOO_LARGE"]).toContain(error.code);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["a NUL before the headers have ended", "CONNECT\n\0", /NUL/],
    ["a header without a colon", "SEND\nsecret\n\n\0", /no colon/],
    ["a header without a name", "SEND\n:secret\n\n\0", /no name/],
    ["a carriage return inside a line", "SEND\nsec\rret:a\n\n\0", /carriage return/],
    ["a content-length that is no number", "SEND\ncontent-length:secret\n\n\0", /content-length/],
    ["a negative content-length", "SEND\ncontent-length:-1\n\n\0", /content-length/],
  ])("S3 says what is wrong with %s, and does not repeat it", (_, text, message) => {
    const { frames, error } = one(text);
    expect(frames).toEqual([]);
    expect(error?.message).toMatch(message);
    expect(error?.message).not.toContain("secret");
  });

  it("S3 refuses headers that are not UTF-8", () => {
    expect(parsed([Buffer.from([0x53, 0x0a, 0x61, 0x3a, 0xff, 0x0a, 0x0a, 0])]).error?.message).toMatch(/UTF-8/);
  });

  it("S4 end lines with LF or CR LF, and have any number of them in between", () => {
    const { frames, error } = one("\n\r\n\nACK\r\nid:1\r\n\r\n\0\n\r\n\nACK\nid:2\n\n\0\n");
    expect(error).toBeUndefined();
    expect(frames.map(({ headers }) => headers.get("id"))).toEqual(["1", "2"]);
  });

  it("S5 have a body of content-length octets, NULs included, or up to the first NUL", () => {
    const { frames } = one("SEND\ncontent-length:4\n\né\0\n\0SEND\n\na\n\nb\0");
    expect(frames.map(({ body }) => body.toString())).toEqual(["é\0\n", "a\n\nb"]);
    expect(one("SEND\ncontent-length:2\n\nabc\0").error?.message).toMatch(/no NUL after the body/);
  });

  it("S6 have their headers unescaped, unless they are CONNECT, and 1.0 escapes nothing", () => {
    const all = "a\\nb\\cc\\\\d";
    expect(headersOf(`SEND\nx\\cy:${all}\\r\n\n\0`)).toEqual({ "x:y": "a\nb:c\\d\r" });
    expect(headersOf(`SEND\nx:${all}\n\n\0`, "1.1")).toEqual({ x: "a\nb:c\\d" });
    expect(headersOf(`SEND\nx:${all}\n\n\0`, "1.0")).toEqual({ x: all });
    expect(headersOf(`CONNECT\nx:${all}\\t\n\n\0`)).toEqual({ x: `${all}\\t` });
    expect(headersOf(`STOMP\nx:${all}\\t\n\n\0`)).toEqual({ x: `${all}\\t` });
  });

  it.each([
    ["\\t", "1.2"],
    ["\\", "1.2"],
    ["\\r", "1.1"],
  ] as const)("S6 is refused with the escape %s in version %s", (sequence, version) => {
    expect(one(`SEND\nx:${sequence}\n\n\0`, version).error?.message).toMatch(/escape/);
  });

  it("S7 have the first of two headers with the same name, and nothing is trimmed", () => {
    expect(headersOf("SEND\nx: 1 \nx:2\n y:a:b\nz:\n\n\0")).toEqual({ x: " 1 ", " y": "a:b", z: "" });
    expect(headersOf("SEND\n\uFEFFx:1\n\n\0")).toEqual({ "\uFEFFx": "1" });
  });

  it("S8 are refused if they are too large, however they come", () => {
    const limits = { headers: 2, line: 10, body: 5 };
    const fits = "SEND\naaaa:56789\na:b\n\n12345\0";
    expect(parsed([Buffer.from(fits)], "1.2", { ...limits }).error).toBeUndefined();
    for (const [text, message] of [
      ["SEND\na:1\na:1\na:1\n\n\0", /2 headers/],
      ["SEND\naaaa:567890\n\n\0", /10 octets/],
      ["AAAAAAAAAAAAA", /10 octets/],
      ["SEND\n\n123456\0", /5 octets/],
      ["SEND\n\n1234567", /5 octets/],
      ["SEND\ncontent-length:6\n\n", /5 octets/],
    ] as const) {
      const limit = text.includes("content") ? { ...limits, line: 20 } : limits;
      expect(parsed([Buffer.from(text)], "1.2", limit).error).toMatchObject({
        code: "BERTH_BODY_TOO_LARGE",
        message: expect.stringMatching(message),
      });
      expect(
        parsed(
          Array.from(text, (each) => Buffer.from(each)),
          "1.2",
          limit,
        ).error?.message,
      ).toMatch(message);
    }
  });
});
