/** The honest side of the test server, held to what the real API server answers. */
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { request as overHttps } from "node:https";
import { text } from "node:stream/consumers";
import { type Cluster, poll, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConnection } from "../connect/connection.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import { FaultServer } from "./fault-server.ts";

const THINGS = "/apis/test.io/v1/namespaces/default/things";
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.test.io" },
  spec: {
    group: "test.io",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

let cluster: Cluster;
let server: FaultServer;
let real: Ask;
let ours: Ask;

beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-fault-server` });
  server = await FaultServer.start();
  const { server: url, tls } = loadConnection({ kubeconfig: cluster.kubeconfig });
  const { ca, certificate: cert, key } = tls;
  real = asker((path, options) => overHttps(url + path, { ...options, ca, cert, key, agent: false }));
  ours = asker((path, options) => overHttp(server.url + path, { ...options, agent: false }));
  await cluster.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  // A new resource is refused for a while, first as unknown, then as not ready.
  const ready = async () => ((await real("GET", THINGS)).code === 200 ? true : undefined);
  expect(await poll(ready, { timeoutMs: 60_000 })).toBe(true);
});
afterAll(async () => {
  await server?.stop();
  await cluster?.stop();
});

describe("the real API server", () => {
  it("answers as ours does", async () => {
    const [theirs, mine] = await Promise.all([converse(real), converse(ours)]);
    expect(mine).toEqual(theirs);
    expect(theirs.length).toBeGreaterThan(40);
  });
});

/** Asks for everything that ours can do, one thing after the other. What comes back is without what must differ. */
async function converse(ask: Ask): Promise<unknown[]> {
  const told: unknown[] = [];
  const tidy = tidier();
  const hear = (method: string, path: string, { code, lines }: Reply) => {
    const asked = `${method} ${path.replaceAll(/(ersion|continue)=[^&]+/g, "$1=…")}`;
    told.push([asked, code, lines.filter((line) => !isRoutine(line)).map(tidy)]);
  };
  const say = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const reply = await ask(method, THINGS + path, body);
    hear(method, path, reply);
    return reply.lines[0] ?? { metadata: {} };
  };
  const thing = (name: string, more: object = {}) => ({
    apiVersion: "test.io/v1",
    kind: "Thing",
    metadata: { name },
    ...more,
  });

  const { metadata: start } = await say("GET", "");
  const a = await say(
    "POST",
    "",
    thing("a", { spec: { n: 1 }, status: { s: 1 }, metadata: { name: "a", uid: "mine", generation: 7 } }),
  );
  await say("POST", "", thing("a"));
  await say("POST", "", thing(""));
  await say("POST", "", thing("x", { metadata: { name: "x", namespace: "other" } }));
  await say("POST", "", thing("x", { apiVersion: "test.io/v2" }));
  await say("GET", "/a");
  await say("GET", "/none");

  const changed = await say("PUT", "/a", { ...a, spec: { n: 2 }, status: { s: 9 } });
  await say("PUT", "/a", a);
  await say("PUT", "/a", changed);
  await say("PUT", "/a", { ...changed, metadata: { ...changed.metadata, uid: "other" } });
  await say("PUT", "/b", changed);
  await say("PUT", "/none", thing("none"));
  await say("PUT", "/a/status", {
    ...changed,
    spec: { n: 3 },
    status: { s: 2 },
    metadata: { ...changed.metadata, labels: { l: "m" } },
  });

  await say("PATCH", "/a", { spec: { n: null, m: { k: [1] } }, metadata: { labels: { l: "a" } } });
  await say("PATCH", "/a", { spec: { n: null } });
  await say("PATCH", "/a", { metadata: { annotations: { x: "y" } } });
  await say("PATCH", "/a", { metadata: { resourceVersion: a.metadata.resourceVersion }, spec: { m: 5 } });
  await say("PATCH", "/a", { metadata: { name: "b" } });
  await say("PATCH", "/none", { spec: {} });
  await say("PATCH", "/a/status", { spec: { n: 4 }, status: { t: 3 } });
  await say("GET", "/a/status");

  await say("POST", "", thing("f", { metadata: { name: "f", finalizers: ["test.io/f"] }, spec: { n: 1 } }));
  await say("DELETE", "/f", { preconditions: { uid: "other" } });
  await say("DELETE", "/f", { preconditions: { resourceVersion: "1" } });
  await say("DELETE", "/f");
  await say("DELETE", "/f");
  await say("PATCH", "/f", { metadata: { finalizers: ["test.io/f", "test.io/g"] } });
  await say("PATCH", "/f", { metadata: { finalizers: null }, spec: { n: 2 } });
  await say("GET", "/f");
  await say("DELETE", "/f");

  for (const name of ["d", "c", "b"]) await say("POST", "", thing(name, { metadata: { name, labels: { l: name } } }));
  const page = await say("GET", "?limit=2");
  await say("POST", "", thing("bb"));
  await say("DELETE", "/d");
  const token = encodeURIComponent(String(page.metadata.continue));
  await say("GET", `?limit=1&continue=${token}`);
  await say("GET", `?continue=${token}`);
  await say("GET", `?continue=${token}&resourceVersion=5`);
  await say("GET", "?continue=nonsense");
  await say("GET", "?limit=1&resourceVersion=0");
  await say("GET", `?resourceVersionMatch=Exact&resourceVersion=${page.metadata.resourceVersion}`);
  await say("GET", "?resourceVersionMatch=Exact");
  await say("GET", "?limit=2&labelSelector=l%20in%20(a,b,c)");
  await say("GET", "?labelSelector=l%20in%20(");
  await say("GET", "?fieldSelector=metadata.name%3Da");
  await say("GET", "?fieldSelector=spec.n%3D1");
  await say("GET", "?sendInitialEvents=true");

  const since = `resourceVersion=${start.resourceVersion}`;
  const list = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  // Each of these takes a while, the last because the real server hopes to get there.
  const slow = [
    "",
    since,
    `${since}&labelSelector=l%3Da`,
    "resourceVersion=99999999",
    `${list}&allowWatchBookmarks=true`,
    list,
    `${list.replace("true", "false")}&${since}`,
    `${list}&resourceVersion=99999999`,
    "sendInitialEvents=true",
    "resourceVersionMatch=NotOlderThan",
  ].map((query) => `?watch=1&timeoutSeconds=1&${query}`);
  slow.push("?resourceVersion=99999999");
  const replies = await Promise.all(slow.map((path) => ask("GET", THINGS + path)));
  for (const [index, reply] of replies.entries()) hear("GET", slow[index] ?? "", reply);

  await say("DELETE", "?labelSelector=l");
  await say("GET", "");
  return told;
}

interface Body extends KubernetesObject {
  readonly metadata: KubernetesObject["metadata"] & { readonly continue?: string };
}

interface Reply {
  readonly code: number | undefined;
  /** More than one only for watches, whose lines are events. */
  readonly lines: Body[];
}

type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

function asker(open: (path: string, options: RequestOptions) => ClientRequest): Ask {
  return async (method, path, body) => {
    const content = body === undefined ? "" : JSON.stringify(body);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = content ? { "content-type": type, "content-length": Buffer.byteLength(content) } : {};
    const sent = open(path, { method, headers });
    sent.end(content);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const lines = (await text(response)).split("\n").filter(Boolean);
    return { code: response.statusCode, lines: lines.map((line) => parsed(line)) };
  };
}

/** Bookmarks that come by the clock: each server has its own times for them. */
function isRoutine(line: object): boolean {
  return "type" in line && line.type === "BOOKMARK" && !JSON.stringify(line).includes("initial-events-end");
}

function parsed(line: string): Body {
  try {
    return JSON.parse(line);
  } catch {
    return { kind: "text", metadata: {} };
  }
}

/**
 * Takes out what two servers cannot agree on: uids, times, who wrote which field, how a refusal is worded, how others
 * write. Versions of objects are numbered as they come up, so that it shows which are the same.
 */
function tidier(): (line: unknown) => unknown {
  const versions: string[] = [];
  const number = (version: string) => {
    if (!versions.includes(version)) versions.push(version);
    return `version ${versions.indexOf(version)}`;
  };
  const tidy = (key: string, value: unknown, holder: object): unknown => {
    if (["uid", "creationTimestamp", "deletionTimestamp"].includes(key)) return typeof value;
    if (["managedFields", "message", "causes"].includes(key) || (key === "continue" && value === "")) return undefined;
    if (key === "continue") return "a token";
    if (key === "resourceVersion") return "uid" in holder ? number(String(value)) : "a version";
    return value;
  };
  return (line) =>
    JSON.parse(
      JSON.stringify(line, function (this: object, key, value) {
        return tidy(key, value, this);
      }),
    );
}
