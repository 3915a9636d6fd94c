/** The client against a server that misbehaves on command. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Connection, Identity } from "../connect/connection.ts";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { eventually } from "../testing/eventually.ts";
import { FaultServer } from "../testing/fault-server.ts";
import { VirtualClock, WallClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { isConflict, isInvalid, isNotFound } from "../transport/api-error.ts";
import type { Answer } from "../transport/http-transport.ts";
import { HttpTransport, type HttpTransportOptions } from "../transport/http-transport.ts";
import { Client } from "./client.ts";
import type { ClientOptions } from "./sender.ts";

interface Thing extends KubernetesObject {
  spec?: { value: number };
}

const Thing = kindOf<Thing>("example.org/v1", "Thing", "things");
const key = { namespace: "n", name: "a" };
const thing = (name: string): Thing => ({ metadata: { namespace: "n", name }, spec: { value: 1 } });

let server: FaultServer;
let folder: string;
const transports: HttpTransport[] = [];

beforeEach(async () => {
  server = await FaultServer.start();
  folder = mkdtempSync(join(tmpdir(), "berth-client-"));
});
afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await server.stop();
  rmSync(folder, { recursive: true });
});

function connected(
  connection: Partial<Connection> = {},
  options: HttpTransportOptions = {},
  clientOptions: ClientOptions = {},
): Client {
  const given = { server: server.url, namespace: "n", tls: {}, identity: { kind: "none" }, ...connection } as const;
  const transport = new HttpTransport(given, { timeoutMs: 300, ...options });
  transports.push(transport);
  return new Client(transport, { random: new SeededRandom("client"), ...clientOptions });
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const received: T[] = [];
  for await (const event of events) received.push(event);
  return received;
}

const as = (identity: Identity, options: HttpTransportOptions = {}) => connected({ identity }, options);

describe("requests", () => {
  it("N6 share their connections, and watches have others", async () => {
    const client = connected({}, { connections: 4 });
    for (let i = 0; i < 20; i++) await client.create(Thing, thing(`t${i}`));
    expect(server.connections).toBeLessThanOrEqual(2); // a second one if the first was still being read from
    await Promise.all(Array.from({ length: 20 }, () => client.list(Thing)));
    expect(server.connections).toBe(4);
    for (let i = 1; i < 20; i++)
      await client.delete(Thing, { namespace: "n", name: `t${i}` }, { gracePeriodSeconds: 0 });
    expect(server.connections).toBe(4);
    const events = client.watch(Thing)[Symbol.asyncIterator]();
    await events.next();
    expect(server.connections).toBe(5);
    await events.return?.(undefined);
  });

  it("N4 are sent again where that is safe", async () => {
    const client = connected();
    server.fault({ verb: "create", count: 2 }, { type: "status", code: 429, retryAfter: 0 });
    server.fault({ verb: "get" }, { type: "reset" });
    server.fault({ verb: "list" }, { type: "cut" });
    await client.create(Thing, thing("a"));
    expect((await client.get(Thing, key)).spec).toEqual({ value: 1 });
    expect((await client.list(Thing)).items).toHaveLength(1);
    expect(server.faultsLeft).toBe(0);
  });

  it("N5 are not sent again if they may have been carried out", async () => {
    const client = connected();
    server.fault({ verb: "create" }, { type: "reset", executed: true });
    await expect(client.create(Thing, thing("a"))).rejects.toMatchObject({ code: "KUBE_CONNECTION_FAILED" });
    expect(server.requests.filter(({ verb }) => verb === "create")).toHaveLength(1);
    expect(server.model.list(Thing).items).toHaveLength(1);
  });

  it("N4 give up after so many attempts, and say why", async () => {
    const client = connected({}, {}, { maxRetries: 2 });
    server.fault({ verb: "get", count: 100 }, { type: "status", code: 503, bare: true, retryAfter: 0 });
    await expect(client.get(Thing, key)).rejects.toMatchObject({
      code: "KUBE_API_UNAVAILABLE",
      status: 503,
      message: expect.stringContaining("GET /apis/example.org/v1/namespaces/n/things/a"),
    });
    expect(server.requests).toHaveLength(3);
  });

  it("N7 end with what the API server says, by its reason", async () => {
    const client = connected();
    await client.create(Thing, thing("a"));
    await expect(client.get(Thing, { name: "b" })).rejects.toSatisfy(isNotFound);
    expect(await client.find(Thing, { name: "b" })).toBeUndefined();
    const present = await client.get(Thing, key);
    await client.update(Thing, { ...present, spec: { value: 2 } });
    await expect(client.update(Thing, { ...present, spec: { value: 3 } })).rejects.toSatisfy(isConflict);
    await expect(client.create(Thing, { metadata: {} })).rejects.toSatisfy(
      (error) => isInvalid(error) && error.causes[0]?.field === "metadata.name",
    );
  });

  it("N8 can be given up at any time", async () => {
    const client = connected();
    server.fault({ count: 100 }, { type: "silence" });
    const giveUp = () => {
      const controller = new AbortController();
      void eventually(() => expect(server.requests.length).toBeGreaterThan(0)).then(() =>
        controller.abort(new Error("enough")),
      );
      return controller.signal;
    };
    await expect(client.get(Thing, key, { signal: giveUp() })).rejects.toThrow("enough");
    await expect(client.create(Thing, thing("a"), { signal: giveUp() })).rejects.toThrow("enough");
    await expect(client.list(Thing, { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
    await expect(all(client.watch(Thing, { signal: giveUp() }))).rejects.toThrow("enough");
    server.heal();
    // Also while it waits for the next attempt.
    server.fault({ count: 100 }, { type: "status", code: 429, retryAfter: 3600 });
    await expect(client.delete(Thing, key, { signal: giveUp() })).rejects.toThrow("enough");
  });

  it("N9 do not wait for ever for a server that says nothing", async () => {
    const client = connected({}, {}, { maxRetries: 0 });
    server.fault({ verb: "get" }, { type: "silence" });
    await expect(client.get(Thing, key)).rejects.toMatchObject({ code: "KUBE_CONNECTION_FAILED" });
  });

  it("N10 list page by page, as of one moment", async () => {
    const client = connected();
    for (let i = 0; i < 7; i++) server.model.create(Thing, thing(`t${i}`));
    const { items, resourceVersion } = await client.list(Thing, { pageSize: 3, namespace: "n" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    expect(items[0]).toMatchObject({ apiVersion: "example.org/v1", kind: "Thing" });
    expect(resourceVersion).toBe(server.model.resourceVersion);
    const pages = [];
    for await (const page of client.pages(Thing, { pageSize: 3 })) {
      pages.push(page.items.length);
      server.model.create(Thing, thing(`later${pages.length}`));
    }
    expect(pages).toEqual([3, 3, 1]);
  });

  it("N11 are told of to whoever observes", async () => {
    const answers: Answer[] = [];
    const client = connected({}, { onAnswer: (answer) => answers.push(answer) }, { maxRetries: 0 });
    await client.find(Thing, key);
    server.fault({ verb: "get" }, { type: "reset" });
    await client.find(Thing, key).catch(() => {});
    expect(answers.map(({ method, status }) => [method, status])).toEqual([
      ["GET", 404],
      ["GET", undefined],
    ]);
  });

  it("N12 say for whom they act, and under which name", async () => {
    const client = connected(
      { impersonate: { user: "jane", groups: ["dev", "ops"], uid: "7" } },
      { userAgent: "me/1" },
      { fieldManager: "me" },
    );
    await client.create(Thing, thing("a"), { fieldValidation: "Strict" });
    expect(server.requests[0]?.headers).toMatchObject({
      "impersonate-user": "jane",
      "impersonate-group": "dev, ops",
      "impersonate-uid": "7",
      "user-agent": "me/1",
    });
    expect(server.requests[0]?.query).toEqual({ fieldManager: "me", fieldValidation: "Strict" });
  });

  it("N6 keep to a path before the API, and go through a proxy", async () => {
    const asked: string[] = [];
    // A proxy that is asked for a tunnel to the API server.
    const proxy: Server = createServer().on("connect", (request, client) => {
      asked.push(request.url ?? "");
      const upstream = connect(Number(new URL(server.url).port), "127.0.0.1", () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on("error", () => client.destroy());
      client.on("error", () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    try {
      const client = connected({ proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
      await client.create(Thing, thing("a"));
      expect(asked).toEqual([new URL(server.url).host]);
      await expect(connected({ server: `${server.url}/clusters/x/` }).get(Thing, key)).rejects.toSatisfy(isNotFound);
      expect(server.requests.at(-1)?.path).toBe("/clusters/x/apis/example.org/v1/namespaces/n/things/a");
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

describe("a watch", () => {
  it("N3 waits for its reader, and ends with it", async () => {
    const client = connected();
    for (const name of ["a", "b", "c"]) server.model.create(Thing, thing(name));
    const seen: string[] = [];
    for await (const event of client.watch(Thing)) {
      seen.push(`${event.type} ${event.object.metadata.name}`);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(["ADDED a", "ADDED b"]);
    await eventually(() => expect(server.openWatches).toBe(0));
  });

  it("N13 ends when the server ends it, and breaks when it breaks", async () => {
    const client = connected();
    server.model.create(Thing, thing("a"));
    server.model.create(Thing, thing("b"));
    server.fault({ verb: "watch" }, { type: "end", after: 2 });
    expect(await all(client.watch(Thing))).toHaveLength(2);
    server.fault({ verb: "watch" }, { type: "cut", after: 1 });
    await expect(all(client.watch(Thing))).rejects.toMatchObject({ code: "KUBE_WATCH_BROKEN" });
    server.fault({ verb: "watch" }, { type: "garbage", after: 1 });
    await expect(all(client.watch(Thing))).rejects.toMatchObject({ code: "KUBE_WATCH_BROKEN" });
    server.fault({ verb: "watch" }, { type: "error", code: 410, after: 1 });
    await expect(all(client.watch(Thing))).rejects.toMatchObject({ code: "KUBE_API_EXPIRED", status: 410 });
  });

  it("N3 passes on what its reader throws", async () => {
    server.model.create(Thing, thing("a"));
    const transport = connected().transport;
    const failing = transport.watch({ kind: Thing }, () => {
      throw new TypeError("in the handler");
    });
    await expect(failing).rejects.toThrow("in the handler");
  });
});

describe("credentials", () => {
  it("K10 are sent along", async () => {
    server.acceptToken("secret");
    await expect(as({ kind: "token", token: "secret" }).find(Thing, key)).resolves.toBeUndefined();
    await expect(as({ kind: "token", token: "wrong" }).find(Thing, key)).rejects.toMatchObject({
      code: "KUBE_API_UNAUTHORIZED",
    });
    await as({ kind: "basic", username: "me", password: "p" })
      .find(Thing, key)
      .catch(() => {});
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from("me:p").toString("base64")}`);
  });

  it("K11 in a file are read again after a while, and at once when they are refused", async () => {
    const file = join(folder, "token");
    writeFileSync(file, "first\n");
    const clock = new VirtualClock();
    const client = as({ kind: "tokenFile", file }, { clock });
    const sent = async () => {
      await client.find(Thing, key);
      return server.requests.at(-1)?.headers.authorization;
    };
    expect(await sent()).toBe("Bearer first");
    writeFileSync(file, "second");
    expect(await sent()).toBe("Bearer first");
    await clock.advance(61_000);
    expect(await sent()).toBe("Bearer second");
    writeFileSync(file, "third");
    server.acceptToken("third");
    expect(await sent()).toBe("Bearer third");
    rmSync(file);
    await clock.advance(61_000);
    expect(await sent()).toBe("Bearer third"); // it is still good
    const other = as({ kind: "tokenFile", file }, { clock });
    await expect(other.find(Thing, key)).rejects.toMatchObject({ code: "KUBE_CREDENTIALS_FAILED" });
  });

  /** A plug-in that hands out "1", "2", "3" …, each for an hour by the clock given, and notes what it was told. */
  const plugin = (status: string): Identity => {
    const script = join(folder, "plugin.mjs");
    writeFileSync(
      script,
      `import { existsSync, readFileSync, writeFileSync } from "node:fs";
       const count = "${join(folder, "count")}";
       const n = existsSync(count) ? Number(readFileSync(count, "utf8")) + 1 : 1;
       writeFileSync(count, String(n));
       writeFileSync("${join(folder, "info")}", process.env.KUBERNETES_EXEC_INFO);
       console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: (${status}) }));`,
    );
    return {
      kind: "exec",
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: process.execPath,
        args: [script],
        provideClusterInfo: true,
        env: [{ name: "UNUSED", value: "x" }],
      },
    };
  };

  it("K12 from a program are asked for once, again before they end, and again when they are refused", async () => {
    const clock = new VirtualClock();
    const hour = new Date(clock.now() + 3_600_000).toISOString();
    const client = as(plugin(`{ token: String(n), expirationTimestamp: "${hour}" }`), { clock });
    await Promise.all([client.find(Thing, key), client.find(Thing, key), client.list(Thing)]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill("Bearer 1"));
    expect(JSON.parse(readFileSync(join(folder, "info"), "utf8"))).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false, cluster: { server: server.url } },
    });
    server.acceptToken("2");
    await Promise.all([client.find(Thing, key), client.find(Thing, key)]);
    server.acceptToken(undefined);
    await clock.advance(3_595_000);
    await client.find(Thing, key);
    expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer 3");
  });

  it.each<[string, string]>([
    ["process.exit(3)", "failed with exit code 3"],
    ["console.log('{'), process.exit(0)", "not JSON"],
    ["console.log(JSON.stringify({kind:'Other'})), process.exit(0)", "did not print an ExecCredential"],
    ["{}", "neither a token nor a certificate"],
    ["{ clientKeyData: 'x' }", "a key alone"],
  ])("K12 from a program that does %s are refused", async (status, message) => {
    await expect(as(plugin(status)).find(Thing, key)).rejects.toMatchObject({
      code: "KUBE_CREDENTIALS_FAILED",
      message: expect.stringContaining(message),
    });
  });

  it("K12 from a program are never shown", async () => {
    const secret = "console.log('s3cr3t {'), process.exit(0)";
    const error = await as(plugin(secret))
      .find(Thing, key)
      .catch((reason) => reason);
    expect(JSON.stringify([error.message, String(error.cause ?? "")])).not.toContain("s3cr3t");
  });

  it("K12 from a program that is not there come with a hint how to get it", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "/no/such/plugin",
      installHint: "get it at …",
    };
    await expect(as({ kind: "exec", exec }).find(Thing, key)).rejects.toMatchObject({
      code: "KUBE_CREDENTIALS_FAILED",
      message: expect.stringContaining("get it at …"),
    });
    const talkative = { ...exec, interactiveMode: "Always" };
    await expect(as({ kind: "exec", exec: talkative }).find(Thing, key)).rejects.toThrow("wants to ask questions");
  });
});

describe("the end", () => {
  it("N14 comes at once, for what is under way too", async () => {
    const client = connected({}, { timeoutMs: 60_000, clock: new WallClock() }, { maxRetries: 0 });
    server.fault({ verb: "get" }, { type: "silence" });
    const waiting = expect(client.get(Thing, key)).rejects.toMatchObject({ code: "KUBE_SHUT_DOWN" });
    const watching = expect(all(client.watch(Thing))).rejects.toBeDefined();
    await eventually(() => expect(server.requests).toHaveLength(2));
    await client.transport.close();
    await Promise.all([waiting, watching]);
    await expect(client.get(Thing, key)).rejects.toMatchObject({ code: "KUBE_SHUT_DOWN" });
    await eventually(() => expect(server.openConnections).toBe(0));
  });
});
