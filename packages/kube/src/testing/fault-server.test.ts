import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { eventually } from "./eventually.ts";
import { FaultServer } from "./fault-server.ts";
import { RawClient, THINGS } from "./raw-client.ts";
import { namesOf, Thing, thing, Zone } from "./things.ts";

let clock: VirtualClock;
let server: FaultServer;
let client: RawClient;
beforeEach(async () => {
  clock = new VirtualClock();
  server = await FaultServer.start({ clock, random: new SeededRandom("server") });
  client = new RawClient(server.url);
});
afterEach(() => server.stop());

/** Writes straight to the model, as somebody else would. */
const put = (...names: string[]) => names.map((name) => server.model.create(Thing, thing(name)));

describe("an honest server", () => {
  it("creates, reads, replaces, patches and deletes", async () => {
    const created = await client.create("a");
    expect(created).toMatchObject({
      code: 201,
      body: { kind: "Thing", metadata: { name: "a", namespace: "default" } },
    });
    expect((await client.call("GET", `${THINGS}/a`)).body).toEqual(created.body);
    expect(created.body).toEqual(server.model.get(Thing, { namespace: "default", name: "a" }));

    const changed = { ...created.body, spec: { text: "x" }, status: { ready: true } };
    expect(await client.call("PUT", `${THINGS}/a`, { body: changed })).toMatchObject({
      code: 200,
      body: { spec: { text: "x" } },
    });
    const stale = await client.call("PUT", `${THINGS}/a/status`, { body: changed });
    expect(stale).toMatchObject({ code: 409, body: { kind: "Status", reason: "Conflict" } });
    const patched = await client.call("PATCH", `${THINGS}/a/status`, { body: { spec: null, status: { ready: true } } });
    expect(patched.body).toMatchObject({ spec: { text: "x" }, status: { ready: true } });

    const preconditions = { uid: "other" };
    expect((await client.call("DELETE", `${THINGS}/a`, { body: { preconditions } })).code).toBe(409);
    expect(await client.call("DELETE", `${THINGS}/a`)).toMatchObject({
      code: 200,
      body: { kind: "Status", status: "Success", details: { name: "a", group: "test.io", kind: "things" } },
    });
    expect(await client.call("GET", `${THINGS}/a`)).toMatchObject({ code: 404, body: { reason: "NotFound" } });
  });

  it("lists in pages, and deletes collections", async () => {
    put("a", "b", "c");
    const { body } = await client.call("GET", `${THINGS}?limit=2`);
    expect(namesOf(body)).toEqual(["a", "b"]);
    const rest = await client.call("GET", `/apis/test.io/v1/things?limit=2&continue=${body.metadata.continue}`);
    expect(namesOf(rest.body)).toEqual(["c"]);
    expect(namesOf((await client.call("DELETE", `${THINGS}?fieldSelector=metadata.name%21%3Db`)).body)).toEqual([
      "a",
      "c",
    ]);
    expect(namesOf((await client.list()).body)).toEqual(["b"]);
  });

  it("knows objects without a namespace, namespaces themselves, and names that must be escaped", async () => {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } };
    expect((await client.call("POST", "/api/v1/namespaces", { body })).code).toBe(201);
    expect(
      (await client.call("PATCH", "/api/v1/namespaces/a/status", { body: { status: { phase: "Active" } } })).code,
    ).toBe(200);
    expect((await client.call("GET", "/api/v1/namespaces/a")).body).toMatchObject({
      kind: "Namespace",
      status: { phase: "Active" },
    });
    const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    await client.call("POST", roles, { body: { metadata: { name: "system:node" } } });
    expect((await client.call("GET", `${roles}/system%3Anode`)).body.metadata).not.toHaveProperty("namespace");
  });

  it.each([
    ["GET", "/nothing", undefined, {}, 404],
    ["GET", `${THINGS}/%`, undefined, {}, 404],
    ["POST", `${THINGS}/a`, thing("a"), {}, 404],
    ["PUT", `${THINGS}/a/scale`, thing("a"), {}, 404],
    ["PUT", `${THINGS}/a`, thing("b"), {}, 400],
    ["POST", THINGS, { metadata: { name: "a", namespace: "other" } }, {}, 400],
    ["POST", THINGS, [], {}, 400],
    ["POST", THINGS, thing("a"), { "content-type": "text/plain" }, 415],
    ["PATCH", `${THINGS}/a`, [], { "content-type": "application/json-patch+json" }, 415],
    ["GET", `${THINGS}?limit=x`, undefined, {}, 400],
    ["GET", `${THINGS}?sendInitialEvents=true`, undefined, {}, 422],
    ["GET", `${THINGS}?watch=1&sendInitialEvents=true`, undefined, {}, 422],
    ["GET", `${THINGS}?watch=1&resourceVersionMatch=NotOlderThan`, undefined, {}, 422],
    ["GET", `${THINGS}?watch=1&labelSelector=a%3D%3D%3D`, undefined, {}, 400],
  ])("refuses %s %s of %j with %j", async (method, path, body, headers, code) => {
    expect(await client.call(method, path, { body, headers })).toMatchObject({ code, body: { kind: "Status", code } });
  });

  it("wants the token that it accepts", async () => {
    server.acceptToken("secret");
    server.fault({}, { type: "status", code: 500 });
    expect(await client.list()).toMatchObject({ code: 401, body: { message: "Unauthorized", reason: "Unauthorized" } });
    const authorization = "Bearer secret";
    expect(await client.call("GET", THINGS, { headers: { authorization } })).toMatchObject({ code: 500 });
    server.acceptToken(undefined);
    expect(await client.list()).toMatchObject({ code: 200 });
  });

  it("remembers what it was asked, and by how many connections", async () => {
    await client.call("GET", `${THINGS}?limit=1&labelSelector=a%3Db`, { headers: { "user-agent": "tester" } });
    await client.list();
    const asked = { method: "GET", path: THINGS, query: { limit: "1", labelSelector: "a=b" }, verb: "list" };
    expect(server.requests[0]).toMatchObject({ ...asked, headers: { "user-agent": "tester" } });
    expect(server.connections).toBe(2);
    await eventually(() => expect(server.openConnections).toBe(0));
  });
});

describe("an honest watch", () => {
  const LIST = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  it("goes on from a list", async () => {
    put("a");
    const { metadata } = (await client.list()).body;
    put("b");
    const changes = await client.watch(`&resourceVersion=${metadata.resourceVersion}`);
    server.model.delete(Thing, { namespace: "default", name: "a" });
    await changes.sees("ADDED b", "DELETED a");
  });

  it("begins with what is there if it has nothing to go on from", async () => {
    put("b", "a");
    for (const query of ["", "&resourceVersion=0"]) await (await client.watch(query)).sees("ADDED a", "ADDED b");
    expect(server.openWatches).toBe(2);
  });

  it("streams a list, and says where it ends", async () => {
    put("a", "b");
    const streamed = await client.watch(LIST);
    await streamed.sees("ADDED a", "ADDED b", "BOOKMARK 3 end");
    put("c");
    await streamed.sees("ADDED a", "ADDED b", "BOOKMARK 3 end", "ADDED c");
    const [unlisted, unmarked] = [
      await client.watch(LIST.replace("true", "false")),
      await client.watch(LIST.replace(/&allow.*/, "")),
    ];
    put("d");
    await unlisted.sees("ADDED d");
    await unmarked.sees("ADDED a", "ADDED b", "ADDED c", "ADDED d");
    await (await client.watch(`${LIST}&resourceVersion=99`)).sees("ERROR 504");
  });

  it("does without where that is not known, and says so where it is switched off", async () => {
    put("a");
    server.watchList = "ignored";
    const plain = await client.watch(LIST);
    await plain.sees("ADDED a");
    await clock.advance(500);
    await plain.sees("ADDED a", "BOOKMARK 2");
    server.watchList = "refused";
    const refused = await client.call("GET", `${THINGS}?watch=1${LIST}`);
    expect(refused.code).toBe(422);
    expect(refused.body.message).toBe(
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: ' +
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
    );
  });

  it("has bookmarks now and then for who wants them, and a last one when its time is up", async () => {
    const [marked, plain] = [
      await client.watch("&allowWatchBookmarks=1&timeoutSeconds=1"),
      await client.watch("&timeoutSeconds=1"),
    ];
    await clock.advance(500);
    put("a");
    await clock.advance(400);
    await marked.sees("BOOKMARK 1", "ADDED a");
    server.model.create(Zone, { metadata: { name: "b" } });
    await clock.advance(100);
    expect([await marked.ending, await plain.ending]).toEqual(["ended", "ended"]);
    expect(marked.seen()).toEqual(["BOOKMARK 1", "ADDED a", "BOOKMARK 3"]);
    expect(plain.seen()).toEqual(["ADDED a"]);
  });

  it("ends with an error if it cannot go on", async () => {
    put("a", "b");
    server.model.compact();
    const expired = await client.watch("&resourceVersion=2");
    expect(await expired.ending).toBe("ended");
    expect(expired.seen()).toEqual(["ERROR 410"]);
  });

  it("leaves nothing behind when it is closed", async () => {
    const closed = await client.watch("&allowWatchBookmarks=1&timeoutSeconds=60");
    expect(clock.pending).toBe(2);
    closed.close();
    await eventually(() => expect([server.openWatches, clock.pending]).toEqual([0, 0]));
  });
});
