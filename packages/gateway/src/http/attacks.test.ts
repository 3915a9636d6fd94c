/** The usual attacks, byte by byte. Each is followed by an ordinary request: the gateway goes on. */
import { once } from "node:events";
import { VirtualClock } from "@berth/kube";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { RawClient } from "../stomp/testing/raw-client.ts";
import { type Embedded, jobManifest, startEmbedded } from "../testing/embedded.ts";
import { codeOf, ended, open, received, request, send } from "./testing/raw.ts";

const ALLOWED = "https://app.example.org";
const limits = {
  ...{ bodyBytes: 50_000, headerBytes: 8192, headers: 40, connections: 12 },
  ...{ headerSeconds: 0.3, requestSeconds: 0.6 },
};
let world: Embedded;
beforeAll(async () => {
  world = await startEmbedded({ clock: new VirtualClock(), gateway: { limits, allowedOrigins: [ALLOWED] } });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});
afterEach(async () => {
  expect((await world.ask("GET", "/v1/testbeds/main")).status).toBe(200);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

const asked = (first: string, lines?: readonly string[], body?: string) => request(world.gateway, first, lines, body);
const JSON_TYPE = "Content-Type: application/json";

describe("what is too much", () => {
  it("H2 a body that is too large, whether it says so or not", async () => {
    const said = await asked("POST /v1/jobs", [JSON_TYPE, "Content-Length: 50001"], "{");
    expect([said.status, codeOf(said)]).toEqual([413, "BERTH_BODY_TOO_LARGE"]);
    const chunk = "x".repeat(4096);
    const chunks = `1000\r\n${chunk}\r\n`.repeat(13);
    const unsaid = await asked("POST /v1/jobs", [JSON_TYPE, "Transfer-Encoding: chunked"], chunks);
    expect([unsaid.status, codeOf(unsaid)]).toEqual([413, "BERTH_BODY_TOO_LARGE"]);
    const yaml = await asked("POST /v1/jobs", ["Content-Type: text/yaml", "Content-Length: 50001"], "a");
    expect(codeOf(yaml)).toBe("BERTH_BODY_TOO_LARGE");
    const useless = await asked("POST /v1/jobs/x/retry", ["Content-Type: a/b", "Content-Length: 50001"], "a");
    expect(codeOf(useless)).toBe("BERTH_BODY_TOO_LARGE");
  });

  it("H3 headers that are too many or too large", async () => {
    const many = await asked(
      "GET /v1/jobs",
      Array.from({ length: 50 }, (_, index) => `X-${index}: 1`),
    );
    expect([many.status, codeOf(many)]).toEqual([431, "BERTH_HEADERS_TOO_LARGE"]);
    const large = await asked("GET /v1/jobs", [`X: ${"x".repeat(10_000)}`]);
    expect([large.status, codeOf(large)]).toEqual([431, "BERTH_HEADERS_TOO_LARGE"]);
    const long = await asked(`GET /v1/jobs/${"x".repeat(10_000)}`);
    expect(codeOf(long)).toBe("BERTH_HEADERS_TOO_LARGE");
  });

  it("H4 headers and bodies that come slowly, and those who say nothing at all", async () => {
    const head = `POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n`;
    const [headers, body, silent] = await Promise.all([
      send(world.gateway, head),
      send(world.gateway, `${head}${JSON_TYPE}\r\nContent-Length: 100\r\n\r\n{`),
      open(world.gateway).then(received),
    ]);
    expect([headers.status, codeOf(headers)]).toEqual([408, "BERTH_REQUEST_TOO_SLOW"]);
    expect([body.status, codeOf(body)]).toEqual([408, "BERTH_REQUEST_TOO_SLOW"]);
    expect([silent.status, codeOf(silent)]).toEqual([408, "BERTH_REQUEST_TOO_SLOW"]);
  });

  it("H4 does not hurry those who wait for an answer", async () => {
    const { body: first } = await world.ask("POST", "/v1/schedulers/slow/turn", { testbed: "main" });
    // In virtual time this is at once; the gateway's own limits are in the world's time, and shorter.
    const call = world.ask("POST", "/v1/schedulers/slow/turn", { testbed: "main", after: first.turn });
    await open(world.gateway).then(received); // a whole limit later
    await world.ask("POST", "/v1/jobs", jobManifest("patient", 1));
    expect((await call).body.queue).toMatchObject([{ name: "patient" }]);
    await world.ask("DELETE", "/v1/schedulers/slow?testbed=main");
  });

  it("H5 connections beyond the limit", async () => {
    const sockets = await Promise.all(Array.from({ length: 40 }, () => open(world.gateway)));
    const isServed = await Promise.all(
      sockets.map(async (socket) => {
        socket.write("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); // and stays
        const served = new Promise<boolean>((resolve) => socket.once("data", () => resolve(true)));
        return Promise.race([served, ended(socket).then(() => false)]);
      }),
    );
    const served = isServed.filter(Boolean).length;
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThanOrEqual(limits.connections);
    for (const socket of sockets) socket.destroy();
    await Promise.all(sockets.map((socket) => ended(socket)));
  });
});

describe("H7 paths", () => {
  it.each([
    ["/v1/jobs/..%2f..%2fhealthz", 400],
    ["/v1/jobs/%2e%2e", 400],
    ["/v1/jobs/..", 400],
    ["/v1/jobs/../nodes", 404],
    ["/v1/jobs/./x", 404],
    ["//v1/jobs", 404],
    ["/v1//jobs", 404],
    ["/v1/jobs/", 400],
    ["/v1/jobs/a%00b", 400],
    ["/v1/jobs/%", 400],
    ["/v1/jobs/%c0%ae", 400],
    ["/v1/jobs/a%2fexplain", 400],
    ["/v1/jobs;x=y", 404],
    ["/V1/JOBS", 404],
    ["/v1/jobs/PI", 400],
    ["/v1/jobs/a%0d%0aX-Evil:%201", 400],
    [`/v1/jobs/${"a".repeat(254)}`, 400],
    [`/v1/jobs/${"a".repeat(400)}`, 404],
    [`/${"a/".repeat(2000)}`, 404],
    ["/v1/jobs/__proto__", 400],
    ["/v1/jobs/constructor", 404],
    ["http://evil.example/v1/jobs", 404],
    ["*", 404],
    ["/.env", 404],
    ["/docs/../openapi.json", 404],
  ])("H7 are taken as they are: %s", async (path, status) => {
    const answer = await asked(`GET ${path}`);
    expect([answer.status, answer.headers["x-evil"]]).toEqual([status, undefined]);
    expect(codeOf(answer)).toMatch(/^BERTH_(NOT_FOUND|BODY_INVALID)$/);
  });

  it("H1 that are no HTTP are answered as problems, too", async () => {
    for (const text of [
      "hello\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /v1/jobs HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n",
    ]) {
      const answer = await send(world.gateway, text);
      expect([answer.status, codeOf(answer)], text).toEqual([400, "BERTH_BODY_INVALID"]);
    }
  });

  it("H1 that two servers could read differently are refused", async () => {
    const smuggled = `POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\n`;
    const both = await send(
      world.gateway,
      `${smuggled}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /`,
    );
    expect(both.status).toBe(400);
    const twice = await send(world.gateway, `${smuggled}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`);
    expect(twice.status).toBe(400);
  });
});

describe("H8 fields that change everything", () => {
  it("H8 are refused in JSON and YAML, wherever they are", async () => {
    for (const [type, body] of [
      ["application/json", '{"metadata":{"name":"x","__proto__":{"polluted":1}},"spec":{}}'],
      ["application/json", '{"metadata":{"name":"x"},"spec":{"constructor":{"prototype":{"polluted":1}}}}'],
      ["text/yaml", "metadata: {name: x}\nspec: {__proto__: {polluted: 1}}"],
    ] as const) {
      const { status, body: problem } = await world.ask("POST", "/v1/jobs", body, { "content-type": type });
      expect([status, problem.code]).toEqual([400, "BERTH_BODY_INVALID"]);
    }
    await world.ask("POST", "/v1/jobs", jobManifest("clean", 1));
    const patch = await world.ask("PATCH", "/v1/jobs/clean/data", '{"a":{"__proto__":{"polluted":1}}}');
    expect(patch.body.code).toBe("BERTH_BODY_INVALID");
    const turn = await world.ask("POST", "/v1/schedulers/x/turn", '{"__proto__":{"testbed":"main"}}');
    expect(turn.body.code).toBe("BERTH_BODY_INVALID");
  });

  it("H9 nor is what is nested without end, or grows without end, let in", async () => {
    const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    await world.ask("POST", "/v1/jobs", jobManifest("flat", 1));
    expect((await world.ask("PATCH", "/v1/jobs/flat/data", deep)).body.code).toBe("BERTH_BODY_INVALID");
    const bomb = `a: &a ${"x".repeat(2000)}\nb: [${Array(99).fill("*a")}]`;
    const { body } = await world.ask("POST", "/v1/jobs", bomb, { "content-type": "text/yaml" });
    expect(body.code).toBe("BERTH_BODY_TOO_LARGE");
  });
});

describe("other people's web pages", () => {
  const forbidden = async (first: string, lines: readonly string[], body?: string) => {
    const answer = await asked(first, lines, body);
    expect([answer.status, codeOf(answer)], lines.join()).toEqual([403, "BERTH_FORBIDDEN"]);
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
  };

  it("H10 are not let in, whatever they send", async () => {
    await world.ask("POST", "/v1/jobs", jobManifest("victim", 1));
    for (const origin of ["https://evil.example", "null", "http://localhost:1", `${ALLOWED}.evil.example`]) {
      await forbidden("GET /v1/jobs", [`Origin: ${origin}`]);
      // What a form can send without asking first.
      await forbidden("POST /v1/jobs/victim/release", [
        `Origin: ${origin}`,
        "Content-Type: text/plain",
        "Content-Length: 0",
      ]);
      await forbidden("OPTIONS /v1/jobs", [`Origin: ${origin}`, "Access-Control-Request-Method: POST"]);
      await forbidden("GET /v1/events", [`Origin: ${origin}`]);
      await forbidden("GET /v1/stomp", [`Origin: ${origin}`, "Connection: Upgrade", "Upgrade: websocket"]);
    }
    await forbidden("GET /v1/events", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]);
  });

  it("S26 connect only from the same host, or if they are allowed", async () => {
    const url = `${world.gateway.url.replace("http", "ws")}/v1/stomp`;
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1", "nonsense"]) {
      await expect(RawClient.open(url, { origin }), origin).rejects.toThrow("403");
      const old = { headers: { "sec-websocket-origin": origin } };
      await expect(RawClient.open(url, old), origin).rejects.toThrow("403");
    }
    for (const origin of [world.gateway.url, ALLOWED]) {
      const { webSocket } = await RawClient.connect(url, {}, { origin });
      webSocket.terminate();
    }
  });

  it("H10 cannot send a manifest as a form would: without a type it is not taken", async () => {
    const body = JSON.stringify(jobManifest("forged", 1));
    for (const type of [[], ["Content-Type: text/plain"], ["Content-Type: application/x-www-form-urlencoded"]]) {
      const answer = await asked("POST /v1/jobs", [...type, `Content-Length: ${body.length}`], body);
      expect([answer.status, codeOf(answer)]).toEqual([415, "BERTH_MEDIA_TYPE_UNKNOWN"]);
    }
  });

  it("H11 do not get in by a name of their own that points here", async () => {
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket"];
    for (const host of ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"]) {
      await forbidden("GET /v1/jobs", [`Host: ${host}`]);
      await forbidden("GET /v1/jobs", [`Host: ${host}`, `Origin: http://${host}`]);
      await forbidden("GET /v1/stomp", [`Host: ${host}`, `Origin: http://${host}`, ...upgrade]);
      await forbidden("GET /docs", [`Host: ${host}`]);
    }
    expect((await asked("GET /v1/jobs", ["Host: localhost:1"])).status).toBe(200);
    expect((await asked("GET /v1/jobs", ["Host: [::1]:1"])).status).toBe(200);
  });

  it("H12 may use the gateway if they are allowed: they read ETags, and streams as well", async () => {
    const before = await asked("OPTIONS /v1/jobs/x/data", [
      `Origin: ${ALLOWED}`,
      "Access-Control-Request-Method: PATCH",
    ]);
    expect([before.status, before.body.trim()]).toEqual([204, ""]);
    expect(before.headers["access-control-allow-methods"]).toContain("PATCH");
    expect(before.headers["access-control-allow-headers"]).toContain("If-Match");
    const get = await asked("GET /v1/testbeds/main", [`Origin: ${ALLOWED}`]);
    expect(get.status).toBe(200);
    expect(get.headers).toMatchObject({ "access-control-allow-origin": ALLOWED, vary: "Origin" });
    expect(get.headers["access-control-expose-headers"]).toContain("ETag");
    expect(get.headers).not.toHaveProperty("access-control-allow-credentials");
    const failed = await asked("GET /v1/jobs/nobody", [`Origin: ${ALLOWED}`]);
    expect([failed.status, failed.headers["access-control-allow-origin"]]).toEqual([404, ALLOWED]);
    const socket = await open(world.gateway);
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: localhost\r\nOrigin: ${ALLOWED}\r\n\r\n`);
    const [head] = await once(socket, "data");
    expect(String(head)).toContain(`access-control-allow-origin: ${ALLOWED}`);
    socket.destroy();
    const own = await asked("GET /v1/testbeds/main", [`Origin: http://localhost`, "Host: localhost"]);
    expect(own.headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("what is not done", () => {
  it("H14 is said with what can be", async () => {
    for (const [first, allow] of [
      ["PUT /v1/jobs/x", "GET, HEAD, DELETE"],
      ["POST /docs", "GET, HEAD"],
      ["DELETE /v1/events", "GET, HEAD"],
      ["TRACE /v1/jobs", "GET, HEAD, POST"],
    ] as const) {
      const answer = await asked(first);
      expect([answer.status, codeOf(answer), answer.headers.allow], first).toEqual([
        405,
        "BERTH_METHOD_NOT_ALLOWED",
        allow,
      ]);
    }
  });

  it("H15 offers of HTTP/2 are passed over, as curl and Java make them, and WebSockets are where they are", async () => {
    const h2 = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"];
    expect((await asked("GET /v1/testbeds/main", h2)).status).toBe(200);
    const elsewhere = await asked("GET /v1/jobs", ["Connection: Upgrade", "Upgrade: websocket"]);
    expect([elsewhere.status, codeOf(elsewhere)]).toEqual([404, "BERTH_NOT_FOUND"]);
  });
});
