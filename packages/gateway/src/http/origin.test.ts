/** Which web pages may use the gateway. */
import { describe, expect, it } from "vitest";
import { foreignOrigin, hostnameOf, isLoopback, refusalOf } from "./origin.ts";

describe("an origin", () => {
  it("H10 is foreign unless it is the gateway's own or allowed", () => {
    const host = "localhost:8080";
    const foreign = (origin?: string, allowed: string[] = []) =>
      foreignOrigin({ host, ...(origin !== undefined && { origin }) }, allowed);
    expect(foreign()).toBeUndefined();
    expect(foreign("http://localhost:8080")).toBeUndefined();
    expect(foreign("https://app.example.org", ["https://app.example.org"])).toBeUndefined();
    for (const origin of [
      ...["http://evil.example", "null", "", "http://localhost:8081", "http://localhost", "http://127.0.0.1:8080"],
      ...["http://localhost:8080.evil.example", "file://", "https://app.example.org.evil.example", "//localhost:8080"],
    ]) {
      expect(foreign(origin, ["https://app.example.org"]), origin).toBe(origin);
    }
  });

  it("H10 is compared as browsers write it: by them a default port goes without saying", () => {
    const allowed = ["http://127.0.0.1:5173"];
    const isOwn = (origin: string, host: string) => foreignOrigin({ origin, host }, allowed) === undefined;
    expect(isOwn("https://Berth.example:443", "berth.example")).toBe(true);
    expect(isOwn("https://berth.example", "Berth.example")).toBe(true);
    expect(isOwn("https://berth.example", "berth.example:443")).toBe(false);
    expect(isOwn("http://berth.example", "berth.example:443")).toBe(false);
    expect(isOwn("https://berth.example", "somebody@berth.example")).toBe(false);
    expect(isOwn("http://127.0.0.1:5173", "berth.example")).toBe(true);
    for (const other of ["http://127.0.0.1:5173/", "HTTP://127.0.0.1:5173", "http://127.0.0.1:5174"]) {
      expect(isOwn(other, "berth.example"), other).toBe(false);
    }
  });

  it("S26 is what very old browsers send by another name with a WebSocket", () => {
    const from = (origin: string) => foreignOrigin({ "sec-websocket-origin": origin, host: "berth.example" }, []);
    expect(from("http://evil.example")).toBe("http://evil.example");
    expect(from("http://berth.example")).toBeUndefined();
  });

  it("H10 is said by browsers in other words when a page asks for an image or a script", () => {
    const open = { allowedOrigins: [], isOpen: false };
    const page = { host: "x", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    expect(refusalOf(page, open)).toMatch(/other sites/);
    expect(refusalOf({ ...page, "sec-fetch-site": "same-site" }, open)).toMatch(/other sites/);
    expect(refusalOf({ ...page, "sec-fetch-mode": "navigate" }, open)).toBeUndefined();
    expect(refusalOf({ ...page, "sec-fetch-site": "same-origin" }, open)).toBeUndefined();
    expect(refusalOf({ host: "x", "sec-fetch-site": "none" }, open)).toBeUndefined();
  });

  it("H11 does not help a page that has its own name point to this machine", () => {
    const headers = { host: "evil.example:8080", origin: "http://evil.example:8080" };
    expect(refusalOf(headers, { allowedOrigins: [], isOpen: true })).toMatch(/only for this machine/);
    expect(refusalOf(headers, { allowedOrigins: [], isOpen: false })).toBeUndefined(); // nobody gets far without a token
  });
});

describe("a host", () => {
  it("H11 is this machine by a few names only", () => {
    for (const name of [
      "localhost",
      "LOCALHOST",
      "localhost:80",
      "127.0.0.1:1",
      "127.9.9.9",
      "[::1]",
      "[::1]:80",
      "a.localhost",
      "localhost.",
    ]) {
      expect(isLoopback(hostnameOf(name)), name).toBe(true);
    }
    for (const name of [
      ...[
        "",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:127.0.0.1",
        "0.0.0.0",
        "[::]",
        "::1:80:80",
      ],
      ...[
        "127.0.0.1@evil.example",
        "evil.example#localhost",
        "127.1",
        "2130706433",
        "[::1].evil.example",
        "localhost:80:80",
      ],
    ]) {
      expect(isLoopback(hostnameOf(name)), name).toBe(false);
    }
  });
});
