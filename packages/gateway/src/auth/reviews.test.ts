/** Tokens and RBAC, on the embedded cluster: who may do what, for how long, and what is written down of it. */
import { Client, coreV1, logTo, rbacV1, sleep, type Transport, VirtualClock, WallClock } from "@berth/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Gateway } from "../gateway.ts";
import { codeOf, request } from "../http/testing/raw.ts";
import { RawClient } from "../stomp/testing/raw-client.ts";
import { asking, type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";
import { bearerOf } from "./guard.ts";
import { ReviewGuard } from "./reviews.ts";
import { makeAccount, rule, type TokenOptions, tokenOf } from "./testing/accounts.ts";

const READ = "get,list,watch";
const BERTH = "berth.dev";

let world: Embedded;
let gateway: Gateway;
const log: string[] = [];
const tokens = new Map<string, string>();
beforeAll(async () => {
  world = await startEmbedded({ clock: new VirtualClock() });
  const { client } = world.sim;
  await makeAccount(client, "reader", { namespaced: [rule(BERTH, "batchjobs", READ)] });
  await makeAccount(client, "viewer", {
    namespaced: [rule(BERTH, "batchjobs,schedulings,testbeds,slots", READ)],
    everywhere: [rule("", "nodes", READ)],
  });
  await makeAccount(client, "scheduler", {
    namespaced: [rule(BERTH, "batchjobs,slots", READ), rule(BERTH, "schedulings", "create,update,get,list")],
  });
  await makeAccount(client, "owner", { namespaced: [rule(BERTH, "batchjobs", "get,patch,delete", ["mine"])] });
  await makeAccount(client, "trickster", { namespaced: [rule("", "nodes", READ)] });
  await makeAccount(client, "nobody");
  for (const name of ["reader", "viewer", "scheduler", "owner", "trickster", "nobody"]) {
    tokens.set(name, await token(name));
  }
  gateway = await world.another({
    authentication: "kubernetes",
    limits: { rate: { perSecond: 10_000, burst: 10_000 } },
    log: logTo((level, message, fields) => {
      const text = (_: string, value: unknown) =>
        value instanceof Error ? `${value.stack} ${JSON.stringify(value)}` : value;
      log.push(JSON.stringify({ level, message, fields }, text));
    }),
  });
  for (const name of ["mine", "other"]) await world.ask("POST", "/v1/jobs", jobManifest(name, 1e6));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Virtual time goes by quickly: a hundred days are enough. */
const token = (name: string, options: TokenOptions = {}) =>
  tokenOf(world.sim.client, name, { expirationSeconds: 8_640_000, ...options });
const as = (who: string) => ({ authorization: `Bearer ${tokens.get(who) ?? who}` });
const ask = (who: string, method: string, path: string, body?: unknown) => asking(gateway)(method, path, body, as(who));
const outcome = async (who: string, method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await ask(who, method, path, body);
  return `${status} ${answer.code ?? ""} ${answer.detail ?? ""}`.trim();
};
const ME = "system:serviceaccount:default";

describe("who somebody is", () => {
  it("A1 has to be said by a token that the cluster knows", async () => {
    for (const headers of [
      {},
      { authorization: "Basic YTpi" },
      { authorization: "Bearer" },
      { authorization: "Bearer a b" },
    ]) {
      const { status, headers: answered, body } = await asking(gateway)("GET", "/v1/jobs", undefined, headers);
      expect([status, body.code]).toEqual([401, "BERTH_UNAUTHENTICATED"]);
      expect(answered.get("www-authenticate")).toBe("Bearer");
      expect(body.remedy).toContain("kubectl create token");
    }
    expect(await outcome("made-up", "GET", "/v1/jobs")).toMatch(/^401 BERTH_UNAUTHENTICATED the token is not valid/);
    expect(await outcome("x".repeat(12_000), "GET", "/v1/jobs")).toMatch(/^401 BERTH_UNAUTHENTICATED/);
    expect((await ask("reader", "GET", "/v1/jobs")).status).toBe(200);
  });

  it("A1 is not asked where there is nothing to protect", async () => {
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/docs"]) {
      expect((await asking(gateway)("GET", path)).status, path).toBe(200);
    }
  });

  it("A1 is read from the header as RFC 6750 has it", () => {
    expect(bearerOf("Bearer abc.def")).toBe("abc.def");
    expect(bearerOf("bearer  abc ")).toBe("abc");
    for (const header of [undefined, "", "abc", "Bearer", "Bearer a b", "Basic abc", "Bearer ä"]) {
      expect(bearerOf(header), header).toBeUndefined();
    }
  });

  it("A8 is not said by a token that was made for somebody else", async () => {
    const other = await token("reader", { audiences: ["https://other.example"] });
    expect(await outcome(other, "GET", "/v1/jobs")).toMatch(/^401/);
    const strict = await world.another({ authentication: "kubernetes", audiences: ["berth"] });
    const own = await token("reader", { audiences: ["berth"] });
    const status = async (token: string) => (await asking(strict)("GET", "/v1/jobs", undefined, as(token))).status;
    expect([await status(own), await status(other), await status("reader")]).toEqual([200, 401, 401]);
  });

  it("A13 is found out before anything of the body is read", async () => {
    const lines = ["Content-Type: application/json", "Content-Length: 1000000"];
    const answer = await request(gateway, "POST /v1/jobs", lines, "{");
    expect([answer.status, codeOf(answer)]).toEqual([401, "BERTH_UNAUTHENTICATED"]);
    const reader = await request(
      gateway,
      "POST /v1/jobs",
      [...lines, `Authorization: Bearer ${tokens.get("reader")}`],
      "{",
    );
    expect([reader.status, codeOf(reader)]).toEqual([403, "BERTH_FORBIDDEN"]);
  });
});

describe("what somebody may do", () => {
  it("A2 is what RBAC says: a reader reads jobs, and nothing else", async () => {
    for (const path of ["", "/mine", "/mine/runs", "/mine/manifest", "/mine/explain"]) {
      expect(await outcome("reader", "GET", `/v1/jobs${path}`)).toBe("200");
    }
    const may = (what: string) => `403 BERTH_FORBIDDEN ${ME}:reader may not ${what}`;
    const scheduling = { metadata: { name: "x" }, spec: { testbed: { name: "main" }, queueBased: [] } };
    expect(await outcome("reader", "POST", "/v1/schedulings", scheduling)).toBe(may("create schedulings.berth.dev"));
    expect(await outcome("reader", "POST", "/v1/jobs", jobManifest("x", 1))).toBe(may("create batchjobs.berth.dev"));
    expect(await outcome("reader", "DELETE", "/v1/jobs/mine")).toBe(may("delete batchjobs.berth.dev mine"));
    expect(await outcome("reader", "PATCH", "/v1/jobs/mine/data", {})).toBe(may("patch batchjobs.berth.dev mine"));
    expect(await outcome("reader", "POST", "/v1/jobs/mine/retry")).toBe(may("patch batchjobs.berth.dev mine"));
    expect(await outcome("reader", "POST", "/v1/jobs/mine/release")).toBe(may("update schedulings.berth.dev"));
    expect(await outcome("reader", "GET", "/v1/schedulings")).toBe(may("list schedulings.berth.dev"));
    expect(await outcome("reader", "PUT", "/v1/schedulings/x", scheduling)).toBe(may("update schedulings.berth.dev x"));
    expect(await outcome("reader", "PATCH", "/v1/schedulings/x", {})).toBe(may("patch schedulings.berth.dev x"));
    expect(await outcome("reader", "DELETE", "/v1/schedulings/x")).toBe(may("delete schedulings.berth.dev x"));
    expect(await outcome("reader", "GET", "/v1/testbeds")).toBe(may("list testbeds.berth.dev"));
    expect(await outcome("reader", "GET", "/v1/testbeds/main")).toBe(may("get testbeds.berth.dev main"));
    expect(await outcome("reader", "GET", "/v1/testbeds/main/slots")).toBe(may("list slots.berth.dev"));
    expect(await outcome("reader", "GET", "/v1/nodes")).toBe(may("list nodes"));
    expect(await outcome("reader", "GET", "/v1/events")).toBe(may("watch schedulings.berth.dev"));
    expect(await outcome("reader", "POST", "/v1/schedulers/x/turn", { testbed: "main" })).toBe(
      may("create schedulings.berth.dev"),
    );
    expect(await outcome("reader", "DELETE", "/v1/schedulers/x?testbed=main")).toBe(
      may("create schedulings.berth.dev"),
    );
  });

  it("A2 is decided before it is said whether there is such a thing", async () => {
    expect(await outcome("nobody", "GET", "/v1/jobs/mine")).toBe(
      (await outcome("nobody", "GET", "/v1/jobs/none")).replace("none", "mine"),
    );
  });

  it("A2 lets a scheduler take turns, with the right to make Schedulings", async () => {
    const turn = await ask("scheduler", "POST", "/v1/schedulers/fifo/turn", { testbed: "main" });
    expect([turn.status, turn.body.turn]).toEqual([200, 1]);
    expect(await outcome("scheduler", "DELETE", "/v1/schedulers/fifo?testbed=main")).toBe("204");
    expect(await outcome("scheduler", "DELETE", "/v1/jobs/mine")).toMatch(/^403/);
    expect(await outcome("viewer", "POST", "/v1/schedulers/fifo/turn", { testbed: "main" })).toMatch(/^403/);
  });

  it("A3 may be granted for single objects", async () => {
    expect(await outcome("owner", "GET", "/v1/jobs/mine")).toBe("200");
    expect(await outcome("owner", "PATCH", "/v1/jobs/mine/data", { a: 1 })).toBe("200");
    expect(await outcome("owner", "GET", "/v1/jobs/other")).toBe(
      `403 BERTH_FORBIDDEN ${ME}:owner may not get batchjobs.berth.dev other`,
    );
    expect(await outcome("owner", "GET", "/v1/jobs")).toMatch(/^403/);
  });

  it("A4 is also what is told in passing: of other objects only to those who may see them", async () => {
    const scheduling = {
      metadata: { name: "has" },
      spec: { testbed: { name: "main" }, queueBased: [{ name: "other" }] },
    };
    const [reader, viewer] = [
      (await ask("reader", "GET", "/v1/jobs/mine/explain")).body,
      (await ask("viewer", "GET", "/v1/jobs/mine/explain")).body,
    ];
    expect(viewer).toMatchObject({ position: expect.any(Number), testbeds: [{ name: "main" }] });
    expect(reader).toMatchObject({ position: expect.any(Number), reasons: [] });
    expect(reader).not.toHaveProperty("testbeds");
    const owner = (await ask("owner", "GET", "/v1/jobs/mine/explain")).body;
    expect(owner).not.toHaveProperty("position");
    expect(owner.summary).toBe("it waits for a scheduler's decision");
    await world.ask("POST", "/v1/schedulings", scheduling);
    await eventually(async () => (await ask("viewer", "GET", "/v1/jobs/other/explain")).body.scheduling !== undefined);
    expect((await ask("reader", "GET", "/v1/jobs/other/explain")).body).not.toHaveProperty("scheduling");
    await world.ask("DELETE", "/v1/schedulings/has");
    const nodes = (await ask("viewer", "GET", "/v1/nodes/n0")).body;
    expect(nodes.slots).toHaveLength(2);
    await makeAccount(world.sim.client, "janitor", { everywhere: [rule("", "nodes", "get")] });
    const janitor = await token("janitor");
    expect((await ask(janitor, "GET", "/v1/nodes/n0")).body.slots).toEqual([]);
    expect(await outcome(janitor, "GET", "/v1/nodes")).toMatch(/^403/);
  });

  it("A5 does not extend to nodes by a role in a namespace", async () => {
    expect(await outcome("trickster", "GET", "/v1/nodes")).toBe(
      `403 BERTH_FORBIDDEN ${ME}:trickster may not list nodes`,
    );
    expect(await outcome("trickster", "GET", "/v1/nodes/n0")).toMatch(/^403/);
  });
});

describe("for how long an answer holds", () => {
  /** Counts what is asked. */
  function counting(transport: Transport, fail = () => false) {
    const asked: string[] = [];
    const counted: Transport = {
      ...{ namespace: transport.namespace, watch: transport.watch.bind(transport) },
      request: async (each: Parameters<Transport["request"]>[0]) => {
        asked.push(each.kind.kind);
        if (fail()) throw new Error("no answer");
        return transport.request(each);
      },
    } as unknown as Transport;
    return { asked, client: new Client(counted, { clock: new WallClock() }) };
  }
  const get = { verb: "get", resource: "batchjobs" };

  it("A6 is ten seconds, and however many ask at once, the API server is asked once", async () => {
    const clock = new VirtualClock();
    const { asked, client } = counting(world.sim.transport);
    const guard = new ReviewGuard({ client, clock, namespace: "default" });
    const token = tokens.get("reader") as string;
    const users = await Promise.all(Array.from({ length: 20 }, () => guard.authenticate(token, "a")));
    expect(users[0]).toMatchObject({ name: `${ME}:reader`, uid: expect.any(String) });
    expect(await Promise.all(users.map((user) => guard.mayDo(user, get)))).toEqual(Array(20).fill(true));
    expect(asked).toEqual(["TokenReview", "SubjectAccessReview"]);
    await clock.advance(9_999);
    await guard.authenticate(token, "a");
    expect(asked).toHaveLength(2);
    await clock.advance(1);
    await guard.authenticate(token, "a");
    expect(asked).toHaveLength(3);
  });

  it("A6 is not at all if there was none", async () => {
    let isDown = true;
    const { asked, client } = counting(world.sim.transport, () => isDown);
    const guard = new ReviewGuard({ client, clock: new VirtualClock(), namespace: "default" });
    const token = tokens.get("reader") as string;
    await expect(guard.authenticate(token, "a")).rejects.toThrow("no answer");
    isDown = false;
    expect((await guard.authenticate(token, "a")).name).toBe(`${ME}:reader`);
    expect(asked).toHaveLength(2);
  });

  it("A7 ends with the account, the right and the token: a request is refused, and a stream ends", async () => {
    const { client } = world.sim;
    await makeAccount(client, "leaver", { namespaced: [rule(BERTH, "batchjobs", READ)] });
    const leaver = await token("leaver");
    // The world's time, but faster: a heartbeat comes every 15 s, and answers hold for 10.
    const fast = await Gateway.start({
      ...{ transport: world.sim.transport, namespace: "default", authentication: "kubernetes" },
      clock: new WallClock({ speed: 100 }),
    });
    const status = async () => (await asking(fast)("GET", "/v1/jobs", undefined, as(leaver))).status;
    const stream = await fetch(`${fast.url}/v1/events?topics=jobs`, { headers: as(leaver) });
    expect(stream.status).toBe(200);
    const subscribed = async (headers: Record<string, string>) => {
      const stomp = await RawClient.connect(`${fast.url.replace("http", "ws")}/v1/stomp`, {}, { headers });
      stomp.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs", receipt: "r" });
      await stomp.heard("RECEIPT");
      return stomp;
    };
    const reader = await subscribed(as(leaver));
    expect(await status()).toBe(200);
    await client.delete(coreV1.ServiceAccount, { namespace: "default", name: "leaver" });
    await eventually(async () => (await status()) === 401);
    expect(await stream.text()).toMatch(/^: Berth\n/); // it has an end
    await reader.heard("ERROR", { code: "BERTH_UNAUTHENTICATED" });
    expect(await reader.closed()).toBe(1008);
    await makeAccount(client, "demoted", { namespaced: [rule(BERTH, "batchjobs", READ)] });
    const other = as(await token("demoted"));
    expect((await asking(fast)("GET", "/v1/jobs", undefined, other)).status).toBe(200);
    const demoted = await subscribed(other);
    await client.delete(rbacV1.RoleBinding, { namespace: "default", name: "demoted" });
    await eventually(async () => (await asking(fast)("GET", "/v1/jobs", undefined, other)).status === 403);
    const message = `${ME}:demoted may not watch batchjobs.berth.dev`;
    await demoted.heard("ERROR", { code: "BERTH_FORBIDDEN", message });
    expect(await demoted.closed()).toBe(1008);
    const brief = as(await token("viewer", { expirationSeconds: 600 }));
    expect((await asking(fast)("GET", "/v1/jobs", undefined, brief)).status).toBe(200);
    await sleep(world.clock, 600_000);
    await eventually(async () => (await asking(fast)("GET", "/v1/jobs", undefined, brief)).status === 401);
    await fast.stop();
  });

  it("A9 is short for those who try many tokens: they are slowed down, and others are not", async () => {
    const clock = new VirtualClock();
    const { asked, client } = counting(world.sim.transport);
    const guard = new ReviewGuard({ client, clock, namespace: "default" });
    const attempt = (token: string, from: string) =>
      guard.authenticate(token, from).then(
        ({ name }) => name,
        (error: { code: string }) => error.code,
      );
    const codes = await Promise.all(Array.from({ length: 200 }, (_, index) => attempt(`guess-${index}`, "attacker")));
    expect(codes.filter((code) => code === "BERTH_TOO_MANY_REQUESTS")).toHaveLength(150);
    expect(asked).toHaveLength(50);
    const token = tokens.get("reader") as string;
    expect(await attempt(token, "attacker")).toBe("BERTH_TOO_MANY_REQUESTS");
    expect(await attempt(token, "somebody")).toBe(`${ME}:reader`);
    expect(await attempt(token, "attacker")).toBe(`${ME}:reader`); // it is known by now
    await clock.advance(10_000);
    expect(await attempt("guess-999", "attacker")).toBe("BERTH_UNAUTHENTICATED");
  });
});

describe("the gateway", () => {
  it("A10 refuses to be open to others than this machine", async () => {
    const { transport } = world.sim;
    for (const host of ["0.0.0.0", "::", "", "10.0.0.1", "example.org"]) {
      for (const more of [{}, { authentication: "none" as const }]) {
        await expect(Gateway.start({ transport, host, ...more }), host).rejects.toMatchObject({
          code: "BERTH_GATEWAY_OPEN",
        });
      }
    }
    const safe = await Gateway.start({
      ...{ transport, namespace: "default", host: "0.0.0.0", authentication: "kubernetes", clock: world.clock },
    });
    const url = safe.url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${url}/v1/jobs`)).status).toBe(401);
    await safe.stop();
  });

  it("H6 lets each user ask only so often, and says when again", async () => {
    const slow = await world.another({ authentication: "kubernetes", limits: { rate: { perSecond: 0.01, burst: 3 } } });
    const answers = [];
    for (let index = 0; index < 4; index++)
      answers.push(await asking(slow)("GET", "/v1/jobs", undefined, as("reader")));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const last = answers.at(-1);
    expect(last?.body.code).toBe("BERTH_TOO_MANY_REQUESTS");
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(90);
    expect((await asking(slow)("GET", "/v1/jobs", undefined, as("viewer"))).status).toBe(200);
  });

  it("A11 writes no token into any log or answer", async () => {
    const secret = "secret-token-0123456789";
    const answers: string[] = [];
    for (const [method, path] of [
      ["GET", "/v1/jobs"],
      ["GET", `/v1/jobs?token=${secret}`],
      ["POST", "/v1/jobs"],
      ["GET", `/v1/events?access_token=${secret}`],
    ] as const) {
      for (const who of ["reader", secret]) answers.push(JSON.stringify((await ask(who, method, path)).body));
    }
    // Also not when the API server fails, of which the log tells.
    const failing: Transport = {
      ...{ namespace: "default", watch: world.sim.transport.watch.bind(world.sim.transport) },
      request: async (each: Parameters<Transport["request"]>[0]) => {
        if (each.kind.kind === "TokenReview") throw new TypeError("the API server has failed");
        return world.sim.transport.request(each);
      },
    } as unknown as Transport;
    const lines: string[] = [];
    const broken = await Gateway.start({
      ...{ transport: failing, namespace: "default", authentication: "kubernetes", clock: world.clock },
      log: logTo((level, message, fields) =>
        lines.push(`${level} ${message} ${JSON.stringify(fields)} ${fields.error}`),
      ),
    });
    const { status, body } = await asking(broken)("GET", `/v1/jobs?token=${secret}`, undefined, as(secret));
    expect([status, body.code, body.detail]).toEqual([500, "BERTH_GATEWAY_FAILED", "something went wrong"]);
    await broken.stop();
    expect(lines.join("\n")).toContain("the API server has failed");
    const written = [...lines, ...log, ...answers].join("\n");
    for (const token of [secret, ...tokens.values()]) expect(written).not.toContain(token);
  });

  it("H17 says that it cannot answer now when the API server does not", async () => {
    let isDown = false;
    const shaky: Transport = {
      ...{ namespace: "default", watch: world.sim.transport.watch.bind(world.sim.transport) },
      request: async (each: Parameters<Transport["request"]>[0]) => {
        const { KubeError } = await import("@berth/kube");
        if (isDown) throw new KubeError("KUBE_CONNECTION_FAILED", "connection refused");
        return world.sim.transport.request(each);
      },
    } as unknown as Transport;
    const clock = new WallClock({ speed: 1000 });
    const other = await Gateway.start({ transport: shaky, namespace: "default", clock });
    await sleep(clock, 1);
    isDown = true;
    const { status, headers, body } = await asking(other)("POST", "/v1/jobs", jobManifest("unlucky", 1));
    expect([status, headers.get("retry-after"), body.code]).toEqual([503, "1", "BERTH_UNAVAILABLE"]);
    expect((await asking(other)("GET", "/v1/jobs/mine")).status).toBe(200); // that it knows
    await other.stop();
  });
});
