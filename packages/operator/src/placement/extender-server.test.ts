import { once } from "node:events";
import { request } from "node:http";
import { silent } from "@berth/kube";
import { afterEach, describe, expect, it } from "vitest";
import type { Seats } from "./extender.ts";
import { ExtenderServer, type ExtenderServerOptions } from "./extender-server.ts";

const seats: Seats = {
  of: () => ({ slot: 0, node: "a", ghost: undefined }),
  tenant: () => undefined,
  tellToGo: () => true,
};
const over: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of over.splice(0)) await end();
});

async function started(ready = true): Promise<number> {
  const server = new ExtenderServer({ port: 0 }, seats, () => ready, silent);
  const stop = new AbortController();
  const running = server.start(stop.signal);
  over.push(async () => {
    stop.abort();
    await running;
  });
  await expect.poll(() => server.port).toBeGreaterThan(0);
  return server.port;
}

async function send(port: number, path: string, body: string, method = "POST") {
  const call = request({ host: "127.0.0.1", port, path, method }).end(body);
  const [response] = await once(call, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) };
}

const pod = { metadata: { name: "p" } };

describe("the extender's server", () => {
  it("answers filter and preempt, with the length of the answer", async () => {
    const port = await started();
    const answer = await send(port, "/filter", JSON.stringify({ Pod: pod, Nodes: null, NodeNames: ["a", "b"] }));
    expect([answer.status, answer.body.NodeNames]).toEqual([200, ["a"]]);
    expect(Number(answer.headers["content-length"])).toBeGreaterThan(10);
    const { status, body } = await send(port, "/preempt", JSON.stringify({ Pod: pod, NodeNameToMetaVictims: null }));
    expect([status, body]).toEqual([200, { NodeNameToMetaVictims: {} }]);
  });

  it.each([
    ["/filter", "{", "POST", 400],
    ["/filter", "null", "POST", 400],
    ["/filter", '{"Pod":3}', "POST", 400],
    ["/preempt", "[]", "POST", 400],
    ["/bind", "{}", "POST", 404],
    ["/filter", "", "GET", 405],
    ["/__proto__", "{}", "POST", 404],
    ["/filter", '{"Pod":{"metadata":{}},"NodeNames":{}}', "POST", 500],
  ])("%s with %s by %s: %i, and goes on", async (path, body, method, status) => {
    const port = await started();
    expect((await send(port, path, body, method)).status).toBe(status);
    expect((await send(port, "/filter", JSON.stringify({ Pod: pod, NodeNames: [] }))).status).toBe(200);
  });

  it("knows nothing of anybody before its caches are complete", async () => {
    const port = await started(false);
    expect((await send(port, "/filter", JSON.stringify({ Pod: pod, NodeNames: [] }))).status).toBe(503);
  });

  it("is only open to others than this machine with certificates on both sides", () => {
    const make = (options: Partial<ExtenderServerOptions>) => () =>
      new ExtenderServer({ port: 0, ...options }, seats, () => true, silent);
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org"]) {
      expect(make({ host })).toThrow(expect.objectContaining({ code: "BERTH_EXTENDER_OPEN" }));
      expect(make({ host, tls: { cert: "", key: "", ca: "" } })).not.toThrow();
    }
    for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) expect(make({ host })).not.toThrow();
  });
});
