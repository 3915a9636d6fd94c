import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { logTo } from "../log/logger.ts";
import { Endpoints, type Pages } from "./http-endpoints.ts";

const open: Endpoints[] = [];
afterEach(() => Promise.all(open.splice(0).map((endpoints) => endpoints.close())));

async function serve(pages: Pages) {
  const logged: unknown[] = [];
  const log = logTo((level, _message, { error }) => void logged.push([level, (error as Error).message]));
  const endpoints = await Endpoints.listen({ port: 0, host: "127.0.0.1" }, pages, log);
  open.push(endpoints);
  const ask = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${endpoints.port}${path}`, { method });
    return { status: response.status, body: await response.text(), headers: response.headers };
  };
  return { ask, logged };
}

const page = async () => ({ status: 200, type: "text/plain", body: "ok\n" });

describe("endpoints", () => {
  it("M6 answer 500 for a page that fails, do not say why, and go on", async () => {
    const { ask, logged } = await serve({
      "/rejects": () => Promise.reject(new Error("a secret")),
      "/throws": () => {
        throw new Error("another secret");
      },
      "/page": page,
    });
    expect(await ask("/rejects")).toMatchObject({ status: 500, body: "failed\n" });
    expect(await ask("/throws")).toMatchObject({ status: 500, body: "failed\n" });
    expect(await ask("/page/?verbose")).toMatchObject({ status: 200, body: "ok\n" });
    expect(logged).toEqual([
      ["error", "a secret"],
      ["error", "another secret"],
    ]);
  });

  it("M6 answer only those who ask", async () => {
    const { ask } = await serve({ "/page": page });
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const { status, headers } = await ask("/page", method);
      expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
    expect(await ask("/page", "HEAD")).toMatchObject({ status: 200, body: "" });
    expect(await ask("/constructor")).toMatchObject({ status: 404 });
  });

  it("M6 survive connections that cannot be accepted", async () => {
    const { ask, logged } = await serve({ "/page": page });
    let server: Server | undefined;
    const catchServer = (message: unknown) => {
      server = (message as { server: Server }).server;
    };
    subscribe("http.server.request.start", catchServer);
    await ask("/page");
    unsubscribe("http.server.request.start", catchServer);
    for (let i = 0; i < 3; i++) server?.emit("error", new Error("accept EMFILE"));
    expect(logged).toHaveLength(3);
    expect(await ask("/page")).toMatchObject({ status: 200 });
  });
});
