/** Informers against a server that misbehaves on command. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { eventually } from "../testing/eventually.ts";
import { FaultServer } from "../testing/fault-server.ts";
import type { Fault } from "../testing/faults.ts";
import { SeededRandom } from "../time/random.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import { Cache, informed } from "./cache.ts";
import { Informer, type InformerOptions } from "./informer.ts";

interface Thing extends KubernetesObject {
  spec?: { value: number; more?: string };
}

const Thing = kindOf<Thing>("example.org/v1", "Thing", "things");
const thing = (name: string, value = 0): Thing => ({ metadata: { namespace: "n", name }, spec: { value } });

let server: FaultServer;
let transport: HttpTransport;
let informer: Informer<Thing> | undefined;

beforeEach(async () => {
  server = await FaultServer.start({ bookmarkInterval: 50 });
  transport = new HttpTransport(
    { server: server.url, namespace: "n", tls: {}, identity: { kind: "none" } },
    { timeoutMs: 300 },
  );
});

afterEach(async () => {
  await informer?.stop();
  informer = undefined;
  await transport.close();
  await server.stop();
});

function start(options: InformerOptions<Thing> = {}): Informer<Thing> {
  const client = new Client(transport, { maxRetries: 0 });
  informer = new Informer(client, Thing, { random: new SeededRandom("informer"), ...options }).start();
  return informer;
}

const names = (from: Informer<Thing>) =>
  from
    .list()
    .map(({ metadata }) => metadata.name)
    .sort();
const listed = () => server.model.list(Thing).items;

/** The cache is what the server has. */
const same = (from: Informer<Thing>) =>
  eventually(() => {
    const versions = (objects: readonly KubernetesObject[]) =>
      objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
    expect(versions(from.list())).toEqual(versions(listed()));
  }, 5);

describe("an informer", () => {
  it("I7 gets everything as a stream, and follows", async () => {
    server.model.create(Thing, thing("a"));
    const started = start();
    await started.waitForSync();
    expect(names(started)).toEqual(["a"]);
    expect(started.hasSynced).toBe(true);
    server.model.create(Thing, thing("b"));
    server.model.delete(Thing, { namespace: "n", name: "a" });
    await same(started);
    expect(server.requests.map(({ verb }) => verb)).toEqual(["watch"]);
    expect(server.requests[0]?.query).toMatchObject({ sendInitialEvents: "true", allowWatchBookmarks: "true" });
  });

  it.each(["refused", "ignored"] as const)("I7 gets it in pages where streams are %s", async (watchList) => {
    server.watchList = watchList;
    for (let i = 0; i < 7; i++) server.model.create(Thing, thing(`t${i}`));
    const started = start({ pageSize: 3 });
    await started.waitForSync();
    expect(started.size).toBe(7);
    expect(server.requests.filter(({ verb }) => verb === "list")).toHaveLength(3);
    server.model.create(Thing, thing("after"));
    await same(started);
    expect(started.get({ namespace: "n", name: "t0" })).toMatchObject({ apiVersion: "example.org/v1", kind: "Thing" });
  });

  const faults: [string, Fault][] = [
    ["a refusal", { type: "status", code: 500 }],
    ["a page of a proxy", { type: "status", code: 503, bare: true }],
    ["too many requests", { type: "status", code: 429, retryAfter: 0 }],
    ["a reset", { type: "reset" }],
    ["no answer", { type: "silence" }],
    ["silence after some events", { type: "silence", after: 1 }],
    ["a cut inside a line", { type: "cut", after: 1 }],
    ["something that is not JSON", { type: "garbage", after: 1 }],
    ["bytes that dribble", { type: "slow" }],
    ["an early end", { type: "end", after: 1 }],
    ["an end without a word", { type: "end" }],
    ["a history that is gone", { type: "error", code: 410, after: 1 }],
    ["an error in the stream", { type: "error", code: 500, after: 1 }],
    ["doubled events", { type: "double" }],
    ["swapped events", { type: "swap" }],
  ];

  it.each(faults)("I1 survives %s at the beginning", async (_, fault) => {
    for (const name of ["ä", "b", "c"]) server.model.create(Thing, thing(name));
    server.fault({ verb: "watch", count: 2 }, fault);
    const started = start({ inactivityMs: 200 });
    await same(started);
    server.model.create(Thing, thing("d"));
    await same(started);
    expect(server.faultsLeft).toBe(fault.type === "double" || fault.type === "slow" || fault.type === "swap" ? 1 : 0);
  });

  it.each(faults)("I1 survives %s later on", async (_, fault) => {
    server.model.create(Thing, thing("a"));
    const started = start({ inactivityMs: 200 });
    await started.waitForSync();
    server.fault({ verb: "watch" }, fault);
    server.disconnect();
    for (let i = 0; i < 10; i++) {
      server.model.create(Thing, thing(`t${i}`));
      if (i % 3 === 0) server.model.delete(Thing, { namespace: "n", name: i === 0 ? "a" : `t${i - 1}` });
      server.model.patch(Thing, { namespace: "n", name: `t${i}` }, { spec: { value: i } });
    }
    await same(started);
    expect(server.faultsLeft).toBe(0);
  });

  it("I9 lists anew when the server has forgotten what has changed since", async () => {
    server.model.create(Thing, thing("a"));
    server.model.create(Thing, thing("b"));
    const started = start();
    await started.waitForSync();
    const told: string[] = [];
    started.addEventHandler({ onDelete: ({ metadata }) => told.push(`delete ${metadata.name}`) });
    server.fault({ verb: "watch" }, { type: "status", code: 500 });
    server.disconnect();
    server.model.delete(Thing, { namespace: "n", name: "a" });
    server.model.create(Thing, thing("c"));
    server.model.compact();
    await same(started);
    expect(told).toEqual(["delete a"]);
  });

  it("I8 goes on where it was, without another list", async () => {
    const started = start();
    await started.waitForSync();
    for (let i = 0; i < 3; i++) {
      server.model.create(Thing, thing(`t${i}`));
      await same(started);
      server.disconnect();
    }
    server.model.create(Thing, thing("last"));
    await same(started);
    const initial = server.requests.filter(({ query }) => query.sendInitialEvents);
    expect(initial).toHaveLength(1);
  });

  it("I2 tells handlers of everything, the late ones of what is there; one that throws harms nobody", async () => {
    server.model.create(Thing, thing("a"));
    const errors: string[] = [];
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (message: string) => void errors.push(message),
      with: () => log,
    };
    const started = start({ log });
    const told: string[] = [];
    started.addEventHandler({
      onAdd() {
        throw new Error("no");
      },
    });
    const handler = {
      onAdd: ({ metadata }: Thing, initial: boolean) => void told.push(`add ${metadata.name} ${initial}`),
      onUpdate: (old: Thing, { metadata, spec }: Thing) =>
        void told.push(`update ${metadata.name} ${old.spec?.value}→${spec?.value}`),
      onDelete: ({ metadata }: Thing) => void told.push(`delete ${metadata.name}`),
    };
    const remove = started.addEventHandler(handler);
    await started.waitForSync();
    server.model.create(Thing, thing("b", 1));
    server.model.patch(Thing, { namespace: "n", name: "b" }, { spec: { value: 2 } });
    server.model.delete(Thing, { namespace: "n", name: "a" });
    await eventually(() => expect(told).toEqual(["add a true", "add b false", "update b 1→2", "delete a"]));
    expect(errors).toEqual(["a handler failed at the add of n/a", "a handler failed at the add of n/b"]);
    remove();
    const late: string[] = [];
    started.addEventHandler({ onAdd: ({ metadata }, initial) => void late.push(`${metadata.name} ${initial}`) });
    expect(late).toEqual(["b true"]);
    server.model.create(Thing, thing("c"));
    await eventually(() => expect(late).toEqual(["b true", "c false"]));
    expect(told).toHaveLength(4);
  });

  it("I12 keeps what it is told to keep, and nobody can change it", async () => {
    const managed = { ...thing("a", 1), metadata: { ...thing("a").metadata, managedFields: [{ manager: "me" }] } };
    managed.spec = { value: 1, more: "a long text" };
    server.model.create(Thing, managed);
    const started = start({
      project: (object) => ({ metadata: object.metadata, spec: { value: object.spec?.value ?? 0 } }),
    });
    await started.waitForSync();
    const kept = started.get({ namespace: "n", name: "a" }) as Thing;
    expect(kept.spec).toEqual({ value: 1 });
    expect(kept.metadata.managedFields).toBeUndefined();
    expect(() => {
      (kept.spec as { value: number }).value = 2;
    }).toThrow(TypeError);
  });

  it("I12 keeps whole what cannot be projected, and always knows which object it is", async () => {
    server.model.create(Thing, thing("a", 1));
    server.model.create(Thing, thing("bad", 1));
    const started = start({
      project: ({ metadata: { name }, spec }) => {
        if (name === "bad") throw new Error("no projection");
        return { metadata: { labels: { kept: "yes" } }, spec: { value: (spec?.value ?? 0) * 10 } };
      },
    });
    await started.waitForSync();
    const told: unknown[] = [];
    started.addEventHandler({ onUpdate: (_, { spec }) => void told.push(spec?.value) });
    server.model.patch(Thing, { namespace: "n", name: "a" }, { spec: { value: 2 } });
    server.model.patch(Thing, { namespace: "n", name: "bad" }, { spec: { value: 2 } });
    await eventually(() => expect(told).toEqual([20, 2]));
    expect(started.get({ namespace: "n", name: "a" })?.metadata).toMatchObject({ name: "a", labels: { kept: "yes" } });
  });

  it("I11 finds objects by namespace, and those that have none by name alone", async () => {
    const Node = kindOf("v1", "Node", "nodes", "Cluster");
    server.model.create(Node, { metadata: { name: "node" } });
    server.model.create(Thing, thing("a"));
    server.model.create(Thing, { metadata: { namespace: "m", name: "b" } });
    const things = start();
    const nodes = new Informer(new Client(transport), Node).start();
    await Promise.all([things.waitForSync(), nodes.waitForSync()]);
    expect(things.list({ namespace: "m" }).map(({ metadata }) => metadata.name)).toEqual(["b"]);
    expect(things.list({ namespace: "nowhere" })).toEqual([]);
    expect(nodes.get({ namespace: "", name: "node" })).toBeDefined(); // as requests of reconcilers have it
    await nodes.stop();
  });

  it("I13 is what those say who use a cache, before they ask for it", async () => {
    const cache = new Cache(new Client(transport, { maxRetries: 0 }), { random: new SeededRandom("cache") });
    cache.keep(informed(Thing, { labelSelector: "app" }));
    server.model.create(Thing, {
      ...thing("ours"),
      metadata: { namespace: "n", name: "ours", labels: { app: "web" } },
    });
    server.model.create(Thing, thing("theirs"));
    informer = cache.informer(Thing);
    expect(() => cache.keep(informed(Thing, {}))).toThrow(/already/);
    cache.start();
    await cache.waitForSync();
    expect(names(informer)).toEqual(["ours"]);
  });

  it("I13 keeps to its namespace and selectors, also for what it has written itself", async () => {
    const labelled = (name: string, app: string): Thing => ({
      metadata: { namespace: "n", name, labels: { app } },
      spec: { value: 1 },
    });
    server.model.create(Thing, labelled("a", "web"));
    server.model.create(Thing, labelled("b", "db"));
    server.model.create(Thing, { metadata: { namespace: "other", name: "c", labels: { app: "web" } } });
    const started = start({ namespace: "n", labelSelector: "app=web" });
    await started.waitForSync();
    expect(names(started)).toEqual(["a"]);
    started.wrote(server.model.create(Thing, labelled("d", "db")));
    started.wrote(server.model.create(Thing, labelled("e", "web")));
    expect(names(started)).toEqual(["a", "e"]);
    started.wrote(server.model.patch(Thing, { namespace: "n", name: "a" }, { metadata: { labels: { app: "db" } } }));
    expect(names(started)).toEqual(["e"]);
    server.model.patch(Thing, { namespace: "n", name: "a" }, { metadata: { labels: { app: "web" } } });
    await eventually(() => expect(names(started)).toEqual(["a", "e"]));
  });

  it("I14 tells of everything again when that is wanted", async () => {
    server.model.create(Thing, thing("a"));
    const started = start({ resyncMs: 20 });
    const resyncs: boolean[] = [];
    started.addEventHandler({ onUpdate: (old, object, resync) => void resyncs.push(resync && old === object) });
    await eventually(() => expect(resyncs.slice(0, 2)).toEqual([true, true]));
  });

  it("I3 ends when it is stopped, whatever it is doing, and leaves nothing open", async () => {
    server.fault({ verb: "watch", count: 100 }, { type: "silence" });
    const started = start();
    const waiting = expect(started.waitForSync()).rejects.toMatchObject({ code: "KUBE_SHUT_DOWN" });
    await eventually(() => expect(server.requests).toHaveLength(1));
    await started.stop();
    await waiting;
    await eventually(() => expect(server.openConnections).toBe(0));
  });

  it("I3 lets whoever waits for it give up", async () => {
    server.fault({ verb: "watch", count: 100 }, { type: "status", code: 403 });
    const giveUp = new AbortController();
    const waiting = start().waitForSync({ signal: giveUp.signal });
    giveUp.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});
