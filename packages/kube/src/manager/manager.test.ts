/** Managers on a model of an API server, in virtual time. */
import { describe, expect, it } from "vitest";
import { KubeError } from "../errors.ts";
import { Lease } from "../kinds/coordination-v1.ts";
import { silent } from "../log/logger.ts";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { ModelApi } from "../testing/model-api.ts";
import { ModelTransport } from "../testing/model-transport.ts";
import { sleep, VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { isNotFound } from "../transport/api-error.ts";
import type { ApiRequest } from "../transport/transport.ts";
import { Manager, type ManagerOptions } from "./manager.ts";

interface Thing extends KubernetesObject {
  spec?: { value: number };
  status?: { seen: number };
}

const Thing = kindOf<Thing>("example.org/v1", "Thing", "things");
const Other = kindOf("example.org/v1", "Other", "others");

function setUp() {
  const clock = new VirtualClock();
  const model = new ModelApi({ clock, random: new SeededRandom("model") });
  const manager = (options: ManagerOptions = {}, fail?: (request: ApiRequest) => unknown) => {
    const transport = new ModelTransport(model, { clock, ...(fail && { fail }) });
    const random = new SeededRandom("manager");
    return Object.assign(new Manager({ transport, clock, random, log: silent, ...options }), { transport });
  };
  const create = (name: string, value = 0) =>
    model.create(Thing, { metadata: { namespace: "default", name }, spec: { value } });
  return { clock, model, manager, create };
}

const key = (name: string) => ({ namespace: "default", name });

describe("a manager", () => {
  it("M1 reconciles nothing before all caches are complete, and leads before it works", async () => {
    const { clock, create, manager } = setUp();
    create("a");
    let listable = false;
    const order: string[] = [];
    const made = manager({ leaderElection: { id: "x" } }, (request) => {
      if (request.kind.plural === "leases") order.push(`${request.verb} lease`);
      return undefined;
    });
    // One of the kinds cannot be listed at first, as if its definition came later.
    const { transport } = made;
    const watch = transport.watch.bind(transport);
    transport.watch = (request, onEvent) =>
      request.kind.plural === "others" && !listable
        ? Promise.reject(new KubeError("KUBE_CONNECTION_FAILED", "not yet"))
        : watch(request, onEvent);
    made.addController({ for: Thing, watches: [], owns: [Other], reconcile: async () => void order.push("reconcile") });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal });
    await clock.advance(10_000);
    expect(order).toEqual([]);
    listable = true;
    await clock.advance(60_000);
    expect(order.slice(0, 3)).toEqual(["get lease", "create lease", "reconcile"]);
    stop.abort();
    await done;
  });

  it("M2 reads its own writes, also before the server has told of them", async () => {
    const { clock, create, manager } = setUp();
    create("a", 1);
    const made = manager();
    const { transport } = made;
    // The server's events come a second late.
    const watch = transport.watch.bind(transport);
    transport.watch = (request, onEvent) =>
      watch(request, (event) => {
        if (event.type === "BOOKMARK" || event.object.metadata.generation === 1) return onEvent(event);
        clock.setTimer(1000, () => void onEvent(event));
      });
    const seen: unknown[] = [];
    made.addController({
      for: Thing,
      reconcile: async (request, { client }) => {
        const thing = await client.get(Thing, request);
        if (thing.spec?.value === 5) return;
        await client.update(Thing, { ...thing, spec: { value: 5 } });
        seen.push((await client.get(Thing, request)).spec?.value, (await client.list(Thing)).items[0]?.spec?.value);
        await client.create(Thing, { metadata: { name: "b" }, spec: { value: 5 } });
        seen.push((await client.find(Thing, key("b")))?.spec?.value);
        await client.delete(Thing, key("b"));
        seen.push(await client.find(Thing, key("b")));
        await client.get(Thing, key("b")).catch((error) => seen.push(isNotFound(error), error.message));
      },
    });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal });
    await clock.advance(5000);
    expect(seen).toEqual([5, 5, 5, undefined, true, 'things.example.org "b" not found (404)']);
    // Reads came from the cache.
    expect(transport.requests.filter(({ verb }) => verb === "get" || verb === "list")).toEqual([]);
    stop.abort();
    await done;
  });

  it("M2 reads from the server what nobody watches, and whatever is outside its namespace", async () => {
    const { clock, model, create, manager } = setUp();
    create("a");
    model.create(Thing, { metadata: { namespace: "elsewhere", name: "b" } });
    model.create(Other, { metadata: { namespace: "default", name: "o" } });
    const made = manager({ cache: { namespace: "default" } });
    made.addController({ for: Thing, reconcile: async () => {} });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal });
    await clock.settle();
    const { client, transport } = made;
    const asked = () => transport.requests.splice(0).map(({ verb, kind }) => `${verb} ${kind.plural}`);
    await client.get(Thing, key("a"));
    expect((await client.list(Thing, { namespace: "default", fieldSelector: "metadata.name=a" })).items).toHaveLength(
      1,
    );
    expect(asked()).toEqual([]);
    await client.get(Other, key("o"));
    await client.get(Thing, { namespace: "elsewhere", name: "b" });
    await client.list(Thing);
    await made.apiReader.get(Thing, key("a"));
    expect(asked()).toEqual(["get others", "get things", "list things", "get things"]);
    stop.abort();
    await done;
  });

  it("M2 reads that an object is gone once its last finalizer is, and keeps apart what the writer got", async () => {
    const { clock, model, manager } = setUp();
    model.create(Thing, { metadata: { ...key("a"), finalizers: ["example.org/f"] }, spec: { value: 1 } });
    model.delete(Thing, key("a"));
    const made = manager();
    const { transport } = made;
    const watch = transport.watch.bind(transport);
    // Of the end the server tells a second late.
    transport.watch = (request, onEvent) =>
      watch(request, (event) =>
        event.type === "DELETED" ? void clock.setTimer(1000, () => void onEvent(event)) : onEvent(event),
      );
    const seen: unknown[] = [];
    made.addController({
      for: Thing,
      reconcile: async (request, { client }) => {
        const thing = await client.find(Thing, request);
        if (thing?.metadata.name !== "a") return;
        seen.push("a");
        await client.patch(Thing, request, { merge: { metadata: { finalizers: null } } });
        seen.push(await client.find(Thing, request));
        const created = await client.create(Thing, { metadata: { name: "b" }, spec: { value: 1 } });
        (created.spec as { value: number }).value = 7;
        seen.push((await client.get(Thing, key("b"))).spec);
      },
    });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal });
    await clock.advance(3000);
    expect(seen).toEqual(["a", undefined, { value: 1 }]);
    stop.abort();
    await done;
  });

  it("M2 says so when it is asked before it has begun", async () => {
    const { clock, manager } = setUp();
    const made = manager();
    made.addController({ for: Thing, reconcile: async () => {} });
    await expect(made.client.list(Thing)).rejects.toMatchObject({ code: "KUBE_NOT_SYNCED" });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal });
    await clock.settle();
    expect((await made.client.list(Thing)).items).toEqual([]);
    stop.abort();
    await done;
  });

  it("M4 does not wait for ever for caches, nor for reconcilers that do not listen", async () => {
    const { clock, create, manager } = setUp();
    const blind = manager();
    blind.transport.watch = () => Promise.reject(new KubeError("KUBE_CONNECTION_FAILED", "no such kind"));
    blind.addController({ for: Other, reconcile: async () => {} });
    const failed = expect(blind.start({ signal: new AbortController().signal })).rejects.toMatchObject({
      code: "KUBE_NOT_SYNCED",
      message: expect.stringContaining("others"),
    });
    await clock.advance(121_000);
    await failed;

    create("a");
    const deaf = manager({ gracefulShutdownMs: 1000 });
    deaf.addController({ for: Thing, reconcile: () => new Promise(() => {}) });
    const stop = new AbortController();
    const done = deaf.start({ signal: stop.signal });
    await clock.advance(1000);
    stop.abort();
    await clock.advance(10_000);
    await done;
  });

  it("L4 writes nothing once it does not lead any more, whatever its reconcilers are doing", async () => {
    const { clock, model, create, manager } = setUp();
    create("a");
    const outcomes: unknown[] = [];
    const made = manager({ leaderElection: { id: "x", identity: "me" } });
    made.addController({
      for: Thing,
      reconcile: async (request, { client }) => {
        for (let value = 1; ; value++) {
          await sleep(clock, 1000); // deaf to signals, as bad reconcilers are
          await client.patch(Thing, request, { merge: { spec: { value } } }).catch((error) => {
            outcomes.push(error.code);
            throw error;
          });
        }
      },
    });
    const done = made.start({ signal: new AbortController().signal });
    done.catch(() => {});
    await clock.advance(30_000);
    expect(made.isLeading).toBe(true);
    model.patch(Lease, key("x"), { spec: { holderIdentity: "you" } });
    await clock.advance(5000);
    const { resourceVersion } = model;
    await clock.advance(60_000);
    await expect(done).rejects.toMatchObject({ code: "KUBE_LEADERSHIP_LOST" });
    expect(outcomes).toEqual(["KUBE_LEADERSHIP_LOST"]);
    expect(model.resourceVersion).toBe(resourceVersion);
    expect(made.isLeading).toBe(false);
  });

  it("L4 writes nothing before it leads, but has warm caches", async () => {
    const { clock, create, manager } = setUp();
    create("a");
    const first = manager({ leaderElection: { id: "x", identity: "first" } });
    const stopFirst = new AbortController();
    const firstDone = first.start({ signal: stopFirst.signal });
    await clock.advance(1000);
    const second = manager({ leaderElection: { id: "x", identity: "second" } });
    const seen: string[] = [];
    second.addController({ for: Thing, reconcile: async ({ name }) => void seen.push(name) });
    const stop = new AbortController();
    const done = second.start({ signal: stop.signal });
    await clock.advance(60_000);
    expect(second.cache.informer(Thing).hasSynced).toBe(true);
    expect(seen).toEqual([]);
    await expect(second.client.delete(Thing, key("a"))).rejects.toMatchObject({ code: "KUBE_LEADERSHIP_LOST" });
    stopFirst.abort();
    await firstDone;
    await clock.advance(3000);
    expect(seen).toEqual(["a"]);
    stop.abort();
    await done;
  });

  it("M3 ends in order: work, events, lease, caches", async () => {
    const { clock, model, create, manager } = setUp();
    create("a");
    const order: string[] = [];
    const made = manager({ leaderElection: { id: "x" }, gracefulShutdownMs: 5000 }, ({ verb, kind, body }) => {
      const released = (body as Lease | undefined)?.spec?.holderIdentity === "";
      if (kind.plural === "events") order.push(`${verb} event`);
      if (kind.plural === "leases" && released) order.push("release");
      return undefined;
    });
    const recorder = made.eventRecorder();
    made.addController({
      for: Thing,
      reconcile: async () => {
        await sleep(clock, 2000);
        recorder.event(model.get(Thing, key("a")), { reason: "Done", note: "it is done" });
        order.push("reconciled");
      },
    });
    made.add({
      start: async (signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        order.push("told to end");
      },
    });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal }).then(() => order.push("ended"));
    await clock.advance(1000);
    stop.abort();
    await clock.advance(4000);
    await done;
    expect(order).toEqual(["told to end", "create event", "reconciled", "release", "ended"]);
    await expect(made.start({ signal: stop.signal })).rejects.toMatchObject({ code: "KUBE_MANAGER_MISUSED" });
  });

  it("M4 ends with the error of whatever cannot go on", async () => {
    const { clock, manager } = setUp();
    const made = manager();
    made.add({ start: async () => Promise.reject(new Error("it broke")) });
    const done = expect(made.start({ signal: new AbortController().signal })).rejects.toThrow("it broke");
    await clock.advance(100);
    await done;
  });

  it("M5 says whether it lives and is ready, and what it has done", async () => {
    const { clock, create, manager } = setUp();
    create("a");
    const local = { port: 0, host: "127.0.0.1" };
    const made = manager({ metrics: local, health: local });
    let healthy = true;
    made.addHealthCheck("mine", () => {
      if (!healthy) throw new Error("a secret");
    });
    made.addController({ for: Thing, reconcile: async () => Promise.reject(new Error("no")) });
    const stop = new AbortController();
    const done = made.start({ signal: stop.signal });
    while (made.ports.length < 2) await clock.settle();
    await clock.advance(100);
    const page = async (port: number | undefined, path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    const [metrics, health] = made.ports;
    expect(await page(health, "/healthz")).toEqual({ status: 200, text: "[+]ping ok\n[+]mine ok\nok\n" });
    expect(await page(health, "/readyz")).toEqual({ status: 200, text: "[+]caches ok\nok\n" });
    healthy = false;
    expect(await page(health, "/healthz")).toEqual({ status: 500, text: "[+]ping ok\n[-]mine failed\nfailed\n" });
    expect(await page(health, "/secrets")).toMatchObject({ status: 404 });
    const { text } = await page(metrics, "/metrics");
    for (const line of [
      /^controller_runtime_reconcile_errors_total\{controller="thing"\} [1-9]/m,
      /^controller_runtime_reconcile_total\{controller="thing",result="error"\} [1-9]/m,
      /^controller_runtime_max_concurrent_reconciles\{controller="thing"\} 64$/m,
      /^workqueue_retries_total\{name="thing",controller="thing"\} [1-9]/m,
      /^workqueue_depth\{name="thing",controller="thing",priority="0"\} 0$/m,
      /^controller_runtime_reconcile_time_seconds_bucket\{le="0.005",controller="thing"\} [1-9]/m,
      /^process_resident_memory_bytes \d/m,
    ]) {
      expect(text).toMatch(line);
    }
    stop.abort();
    await done;
  });
});
