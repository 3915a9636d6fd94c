import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { VirtualClock } from "@berth/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ApiServer } from "../api/api-server.ts";
import { Access } from "../auth/access.ts";
import { HttpServer } from "./http-server.ts";
import { ask } from "./testing/ask.ts";
import { type Served, served } from "./testing/served.ts";

const JSON_BODY = { "content-type": "application/json" };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, more: object = {}) => ({
  metadata: { name, namespace: "default" },
  data: { a: "b" },
  ...more,
});

let api: Served;
beforeAll(async () => {
  api = await served();
  api.put("v1", "Namespace", { metadata: { name: "default" } });
  api.put("v1", "ConfigMap", configMap("stored"));
});
afterAll(async () => {
  await api.stop();
  expect(api.failures).toEqual([]);
});

describe("objects over HTTP", () => {
  it("are made, read, changed and removed with the codes of the real server", async () => {
    const post = await api.ask("POST", CONFIG_MAPS, { headers: JSON_BODY, body: JSON.stringify(configMap("a")) });
    expect([post.status, post.object.metadata.name]).toEqual([201, "a"]);
    const get = await api.ask("GET", `${CONFIG_MAPS}/a`);
    expect([get.status, get.headers["content-type"], get.object.data]).toEqual([200, "application/json", { a: "b" }]);
    const changed = { ...get.object, data: { a: "c" } };
    const put = await api.ask("PUT", `${CONFIG_MAPS}/a`, { headers: JSON_BODY, body: JSON.stringify(changed) });
    expect([put.status, put.object.data]).toEqual([200, { a: "c" }]);
    const gone = await api.ask("DELETE", `${CONFIG_MAPS}/a`);
    expect([gone.status, gone.object.kind, gone.object.status]).toEqual([200, "Status", "Success"]);
    expect((await api.ask("GET", `${CONFIG_MAPS}/a`)).status).toBe(404);
  });

  it("say in a list once what they are", async () => {
    const { object } = await api.ask("GET", CONFIG_MAPS);
    expect([object.kind, object.apiVersion]).toEqual(["ConfigMapList", "v1"]);
    expect(Object.keys(object.items[0])).toEqual(["metadata", "data"]);
  });

  it("come as YAML, as tables, or with their metadata only", async () => {
    const yaml = await api.ask("GET", `${CONFIG_MAPS}/stored`, { headers: { accept: "application/yaml" } });
    expect([yaml.headers["content-type"], parse(yaml.text).metadata.name]).toEqual(["application/yaml", "stored"]);
    const table = await api.ask("GET", CONFIG_MAPS, { headers: TABLE });
    expect(table.object).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
    expect(table.object.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(["Name", "Data", "Age"]);
    expect(table.object.rows[0]).toMatchObject({
      cells: ["stored", 1, "0s"],
      object: { kind: "PartialObjectMetadata", metadata: { name: "stored" } },
    });
    const bare = await api.ask("GET", `${CONFIG_MAPS}?includeObject=None`, { headers: TABLE });
    expect(bare.object.rows[0].object).toBeNull();
    const partial = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
    const list = await api.ask("GET", CONFIG_MAPS, { headers: partial });
    expect(list.object).toMatchObject({ kind: "PartialObjectMetadataList", items: [{ metadata: { name: "stored" } }] });
    expect(list.object.items[0]).not.toHaveProperty("data");
  });

  it("may come with warnings, or be refused, for fields that are unknown or given twice", async () => {
    const body = '{"metadata":{"name":"w"},"bogus":1,"data":{"k":"v"},"data":{"k":"w"}}';
    const warned = await api.ask("POST", `${CONFIG_MAPS}?dryRun=All`, { headers: JSON_BODY, body });
    expect(warned.status).toBe(201);
    expect(warned.headers.warning).toContain('299 - "unknown field \\"bogus\\""');
    expect(warned.headers.warning).toContain('299 - "duplicate field \\"data\\""');
    const strict = await api.ask("POST", `${CONFIG_MAPS}?fieldValidation=Strict`, { headers: JSON_BODY, body });
    expect([strict.status, strict.object.reason]).toEqual([400, "BadRequest"]);
    expect(strict.object.message).toMatch(/strict decoding error: .*duplicate field "data"/);
    const ignored = await api.ask("POST", `${CONFIG_MAPS}?dryRun=All&fieldValidation=Ignore`, {
      headers: JSON_BODY,
      body,
    });
    expect([ignored.status, ignored.headers.warning]).toEqual([201, undefined]);
  });
});

describe("what is not there, or not so", () => {
  const cases: [string, string, number, RegExp][] = [
    ["GET", "/foo", 404, /could not find the requested resource/],
    ["GET", "/api/v1/foo", 404, /could not find the requested resource/],
    ["GET", "/apis/foo.bar/v1", 404, /could not find/],
    ["GET", "/api/v1/pods/foo", 404, /could not find/],
    ["GET", "/api/v1/namespaces/default/nodes", 404, /could not find/],
    ["POST", "/api/v1/pods", 405, /does not allow this method/],
    ["DELETE", "/api/v1/pods", 405, /does not allow this method/],
    ["PUT", CONFIG_MAPS, 405, /does not allow this method/],
    ["POST", `${CONFIG_MAPS}/a`, 405, /does not allow this method/],
    ["OPTIONS", "/api/v1/pods", 405, /does not allow this method/],
    ["POST", "/version", 405, /does not allow this method/],
    ["GET", `${CONFIG_MAPS}/none`, 404, /configmaps "none" not found/],
    ["GET", "/api/v1/namespaces/default/pods/none/log", 404, /pods "none" not found/],
    ["POST", "/api/v1/namespaces/default/pods/none/exec", 400, /nothing runs in simulated containers/],
    ["GET", `${CONFIG_MAPS}?limit=x`, 400, /invalid syntax/],
  ];
  for (const [method, path, status, message] of cases) {
    it(`${method} ${path} is answered with a Status of code ${status}`, async () => {
      const answer = await api.ask(method, path);
      expect(answer.status).toBe(status);
      expect(answer.object).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
      expect(answer.object.message).toMatch(message);
    });
  }

  it("is told from a body that is too large, or in a form that nobody knows", async () => {
    const large = await api.ask("POST", CONFIG_MAPS, { headers: JSON_BODY, body: " ".repeat(3 * 1024 * 1024 + 1) });
    expect([large.status, large.object.reason]).toEqual([413, "RequestEntityTooLarge"]);
    const strange = await api.ask("POST", CONFIG_MAPS, { headers: { "content-type": "application/xml" }, body: "x" });
    expect([strange.status, strange.object.reason]).toEqual([415, "UnsupportedMediaType"]);
    const wanted = await api.ask("GET", CONFIG_MAPS, { headers: { accept: "application/xml" } });
    expect([wanted.status, wanted.object.reason]).toEqual([406, "NotAcceptable"]);
  });
});

describe("a watch", () => {
  it("tells one event in each line, as it happens, and ends when its time is up", async () => {
    const clock = new VirtualClock();
    const own = await served({ clock });
    own.put("v1", "Namespace", { metadata: { name: "default" } });
    own.put("v1", "ConfigMap", configMap("one"));
    const watching = own.ask("GET", `${CONFIG_MAPS}?watch=1&timeoutSeconds=30`);
    while (clock.pending === 0) await turn();
    own.put("v1", "ConfigMap", configMap("two"));
    await clock.advance(30_000);
    const lines = (await watching).text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, object }) => [type, object.kind, object.metadata.name])).toEqual([
      ["ADDED", "ConfigMap", "one"],
      ["ADDED", "ConfigMap", "two"],
    ]);
    await own.stop();
  });

  it("tells of a version that is forgotten in an event, not instead of one", async () => {
    api.server.store.compact();
    const { status, object } = await api.ask("GET", `${CONFIG_MAPS}?watch=1&resourceVersion=1`);
    expect(status).toBe(200);
    expect(object).toMatchObject({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } });
    const wrong = await api.ask("GET", `${CONFIG_MAPS}?watch=1&fieldSelector=x`);
    expect([wrong.status, wrong.object.kind]).toEqual([400, "Status"]);
  });

  it("shows a table if that is wanted, with headers only once", async () => {
    const clock = new VirtualClock();
    const own = await served({ clock });
    own.put("v1", "Namespace", { metadata: { name: "default" } });
    for (const name of ["one", "two"]) own.put("v1", "ConfigMap", configMap(name));
    const watching = own.ask("GET", `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`, { headers: TABLE });
    while (clock.pending === 0) await turn();
    await clock.advance(1000);
    const [first, second] = (await watching).text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).object);
    expect([first.kind, first.columnDefinitions.length, first.rows[0].cells[0]]).toEqual(["Table", 3, "one"]);
    expect([second.columnDefinitions, second.rows[0].cells[0]]).toEqual([null, "two"]);
    await own.stop();
  });

  it("knows who owns what, and so does whoever reads the object after it was told", async () => {
    const clock = new VirtualClock();
    const own = await served({ clock });
    own.put("v1", "Namespace", { metadata: { name: "default" } });
    const watching = own.ask("GET", `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`);
    while (clock.pending === 0) await turn();
    const headers = { ...JSON_BODY, "user-agent": "me/1" };
    await own.ask("POST", CONFIG_MAPS, { headers, body: JSON.stringify(configMap("a")) });
    const read = await own.ask("GET", `${CONFIG_MAPS}/a`);
    await clock.advance(1000);
    const told = (await watching).object.object;
    expect(told.metadata.managedFields).toMatchObject([{ manager: "me", operation: "Update" }]);
    expect(read.object.metadata.managedFields).toEqual(told.metadata.managedFields);
    await own.stop();
  });

  it("H3 is cut off when nobody reads it, before it fills our memory", async () => {
    const own = await served();
    own.put("v1", "Namespace", { metadata: { name: "default" } });
    const asking = request(`${own.http.address}${CONFIG_MAPS}?watch=1`);
    asking.on("error", () => {});
    await new Promise<void>((resolve) => {
      asking.on("response", (response) => {
        response.pause();
        resolve();
      });
      asking.end();
    });
    const watches = async () => (await own.ask("GET", "/metrics")).text.match(/verb="WATCH"} (\d+)/)?.[1];
    expect(await watches()).toBe("1");
    const text = "x".repeat(1000_000);
    for (let count = 0; count < 60 && (await watches()) === "1"; count++) {
      own.put("v1", "ConfigMap", configMap(`large-${count}`, { data: { text } }));
    }
    expect(await watches()).toBe("0");
    await own.stop();
  });
});

describe("users", () => {
  const tokens = { secret: { username: "jane", groups: ["devs"] } };

  it("are known by a token, and told what they may not do", async () => {
    const own = await served({ tls: true, tokens });
    const ca = own.http.authority;
    const bearer = (token: string) => ({ ca, headers: { authorization: `Bearer ${token}` } });
    const jane = await own.ask("GET", "/api/v1/namespaces/default/pods", bearer("secret"));
    expect([jane.status, jane.object.message]).toEqual([
      403,
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
    ]);
    expect((await own.ask("GET", "/version", bearer("secret"))).status).toBe(200);
    const wrong = await own.ask("GET", "/version", bearer("other"));
    expect([wrong.status, wrong.object.reason]).toEqual([401, "Unauthorized"]);
    const nobody = await own.ask("GET", "/api", { ca });
    expect(nobody.object.message).toBe('forbidden: User "system:anonymous" cannot get path "/api"');
    expect((await own.ask("GET", "/healthz", { ca })).text).toBe("ok");
    await own.stop();
  });

  it("are known by a certificate, and may act as others if they may", async () => {
    const own = await served({ tls: true });
    const ca = own.http.authority;
    const certified = (kubeconfig: string) => {
      const { users } = parse(kubeconfig);
      const data = (name: string) => Buffer.from(users[0].user[name], "base64").toString();
      return { ca, cert: data("client-certificate-data"), key: data("client-key-data") };
    };
    const admin = certified(own.http.kubeconfig());
    expect((await own.ask("GET", "/api/v1/pods", admin)).status).toBe(200);
    const joe = certified(own.http.kubeconfig({ username: "joe", groups: ["x"] }));
    expect((await own.ask("GET", "/api/v1/pods", joe)).object.message).toContain('User "joe" cannot list');
    const as = (who: object, headers: Record<string, string>) => own.ask("GET", "/api/v1/pods", { ...who, headers });
    const asJane = await as(admin, { "impersonate-user": "jane" });
    expect(asJane.object.message).toContain('User "jane" cannot list resource "pods"');
    const refused = await as(joe, { "impersonate-user": "jane" });
    expect(refused.object.message).toBe(
      'pods is forbidden: User "joe" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
    );
    await own.stop();
  });

  it("of another authority are nobody", async () => {
    const [one, other] = [await served({ tls: true }), await served({ tls: true })];
    const { users } = parse(other.http.kubeconfig());
    const data = (name: string) => Buffer.from(users[0].user[name], "base64").toString();
    const stranger = { ca: one.http.authority, cert: data("client-certificate-data"), key: data("client-key-data") };
    expect((await one.ask("GET", "/version", stranger)).status).toBe(401);
    await one.stop();
    await other.stop();
  });

  it("are all administrators without TLS, and that only on this machine", async () => {
    expect((await api.ask("GET", "/api/v1/secrets")).status).toBe(200);
    const server = new ApiServer();
    expect(() => new HttpServer({ server, access: new Access(), tls: false, host: "0.0.0.0" })).toThrow(RangeError);
  });
});

describe("the server", () => {
  it("also speaks HTTP/2", async () => {
    const own = await served({ tls: true });
    const session = connectHttp2(own.http.address, own.http.authority === undefined ? {} : { ca: own.http.authority });
    const stream = session.request({ ":path": "/version" });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ major: "1" });
    session.close();
    await own.stop();
  });

  it("H2 holds the clock while it handles a request, and not while somebody watches", async () => {
    let held = 0;
    const own = await served({
      hold: () => {
        held++;
        return () => held--;
      },
    });
    await own.ask("GET", "/api/v1/pods");
    expect(held).toBe(0);
    const seen: number[] = [];
    own.server.listen(undefined, () => seen.push(held));
    const body = JSON.stringify({ metadata: { name: "n" } });
    await own.ask("POST", "/api/v1/namespaces", { headers: JSON_BODY, body });
    expect([seen[0], held]).toEqual([1, 0]);
    const asking = request(`${own.http.address}/api/v1/pods?watch=1`);
    await new Promise((resolve) => asking.on("response", resolve).end());
    expect(held).toBe(0);
    asking.on("error", () => {});
    await own.stop();
  });

  it("says of what it is asked about itself", async () => {
    expect((await api.ask("GET", "/version")).object.gitVersion).toMatch(/^v1\./);
    expect((await api.ask("GET", "/readyz?verbose")).text).toMatch(/\[\+\]etcd ok\nreadyz check passed\n$/);
    expect((await api.ask("GET", "/metrics")).text).toContain('apiserver_storage_objects{resource="configmaps"}');
    expect((await api.ask("GET", "/")).object.paths).toContain("/apis/apps/v1");
    const documents = (await api.ask("GET", "/openapi/v3")).object.paths;
    const { serverRelativeURL } = documents["apis/apps/v1"];
    expect((await api.ask("GET", serverRelativeURL)).object.components.schemas).toHaveProperty([
      "io.k8s.api.apps.v1.Deployment",
    ]);
  });

  it("says whether what somebody knows of it is still true", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const first = await api.ask("GET", "/apis", { headers: { accept } });
    expect(first.object.kind).toBe("APIGroupDiscoveryList");
    const etag = first.headers.etag as string;
    const again = await api.ask("GET", "/apis", { headers: { accept, "if-none-match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });
});

it("a start takes TLS, and what is asked of it after the end is not answered", async () => {
  const own = await served({ tls: true });
  const { address } = own.http;
  await own.stop();
  await expect(ask("GET", `${address}/version`)).rejects.toThrow();
  expect(() => own.http.address).toThrow(/does not listen/);
});

/** Lets everything run that can. */
const turn = () => new VirtualClock().settle();
