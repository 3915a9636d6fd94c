/** Controllers on a model of an API server, in virtual time. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { Cache } from "../informer/cache.ts";
import { type LogFields, logTo } from "../log/logger.ts";
import { keyOf } from "../objects/key.ts";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { withController } from "../objects/owners.ts";
import { ModelApi } from "../testing/model-api.ts";
import { ModelTransport } from "../testing/model-transport.ts";
import { sleep, VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { Controller, type ControllerOptions } from "./controller.ts";
import { generationChanged } from "./predicates.ts";
import { type Request, TerminalError } from "./request.ts";
import { watch } from "./watches.ts";

interface Thing extends KubernetesObject {
  spec?: { value: number };
}

const Thing = kindOf<Thing>("example.org/v1", "Thing", "things");
const Part = kindOf("example.org/v1", "Part", "parts");
const Node = kindOf("v1", "Node", "nodes", "Cluster");

let clock: VirtualClock;
let model: ModelApi;
let cache: Cache;
let logged: { level: string; message: string; fields: LogFields }[];
let controllers: Controller[];

beforeEach(() => {
  clock = new VirtualClock();
  const random = new SeededRandom("controller");
  model = new ModelApi({ clock, random });
  logged = [];
  controllers = [];
  cache = new Cache(new Client(new ModelTransport(model, { clock }), { clock, random }), { clock, random });
});

afterEach(async () => {
  const stopping = controllers.map((controller) => controller.stop({ signal: AbortSignal.abort() }));
  await Promise.all([...stopping, cache.stop()]);
});

function controller(options: Partial<ControllerOptions> & Pick<ControllerOptions, "reconcile">): Controller {
  const random = new SeededRandom("c");
  const log = logTo((level, message, fields) => void logged.push({ level, message, fields }));
  const client = new Client(new ModelTransport(model, { clock }), { clock, random });
  const made = new Controller({ for: Thing, ...options }, { client, cache, clock, random, log });
  controllers.push(made);
  return made;
}

async function start(options: Parameters<typeof controller>[0]): Promise<Controller> {
  const made = controller(options);
  cache.start();
  await made.start();
  await clock.settle();
  return made;
}

const create = (name: string, value = 0) =>
  model.create(Thing, { metadata: { namespace: "n", name }, spec: { value } });

describe("a controller", () => {
  it("T4 works on what is there, and then on what changes", async () => {
    create("a");
    const seen: string[] = [];
    await start({ reconcile: async ({ namespace, name }) => void seen.push(`${namespace}/${name}`) });
    expect(seen).toEqual(["n/a"]);
    create("b");
    model.patch(Thing, { namespace: "n", name: "a" }, { spec: { value: 1 } });
    model.delete(Thing, { namespace: "n", name: "b" });
    await clock.settle();
    expect(new Set(seen.splice(1))).toEqual(new Set(["n/a", "n/b"]));
  });

  it("T1, T2 runs once at a time for an object, and again for what has changed meanwhile", async () => {
    let running = 0;
    let most = 0;
    const seen: (number | undefined)[] = [];
    create("a");
    await start({
      reconcile: async (request) => {
        most = Math.max(most, ++running);
        seen.push(cache.informer(Thing).get(request)?.spec?.value);
        await sleep(clock, 100);
        running--;
      },
    });
    for (const value of [1, 2, 3]) model.patch(Thing, { namespace: "n", name: "a" }, { spec: { value } });
    await clock.advance(1000);
    expect(seen).toEqual([0, 3]);
    expect(most).toBe(1);
  });

  it("T5 works on so many at once, and no more", async () => {
    let running = 0;
    let most = 0;
    for (let i = 0; i < 10; i++) create(`t${i}`);
    await start({
      maxConcurrentReconciles: 3,
      reconcile: async () => {
        most = Math.max(most, ++running);
        await sleep(clock, 10);
        running--;
      },
    });
    await clock.advance(100);
    expect(most).toBe(3);
    expect(running).toBe(0);
  });

  it("T3 calls again whoever throws, later each time; and starts over after a success", async () => {
    const at: number[] = [];
    create("a");
    create("other");
    const others: string[] = [];
    await start({
      baseDelay: 10,
      reconcile: async ({ name }) => {
        if (name === "other") return void others.push(name);
        at.push(clock.now());
        if (at.length % 4 !== 0) throw new Error("no luck");
      },
    });
    await clock.advance(1000);
    expect(at.map((time, i) => time - (at[i - 1] ?? time))).toEqual([0, 10, 20, 40]);
    model.patch(Thing, { namespace: "n", name: "a" }, { spec: { value: 1 } });
    await clock.advance(1000);
    expect(at.map((time, i) => time - (at[i - 1] ?? time)).slice(5)).toEqual([10, 20, 40]);
    expect(others).toEqual(["other"]);
    expect(logged.filter(({ level }) => level === "error")).toHaveLength(6);
    expect(logged.find(({ level }) => level === "error")?.fields).toMatchObject({
      controller: "thing",
      namespace: "n",
      name: "a",
      failures: 1,
      reconcileID: expect.stringMatching(/^[0-9a-f]{10}$/),
    });
  });

  it("T3 leaves alone what can only fail, until it changes", async () => {
    let calls = 0;
    create("a");
    await start({
      reconcile: async () => {
        calls++;
        throw new TerminalError("this is never going to work");
      },
    });
    await clock.advance(100_000);
    expect(calls).toBe(1);
    model.patch(Thing, { namespace: "n", name: "a" }, { spec: { value: 1 } });
    await clock.settle();
    expect(calls).toBe(2);
  });

  it("T6 calls again when it is asked to", async () => {
    const at: number[] = [];
    create("a");
    await start({
      reconcile: async () => {
        at.push(clock.now());
        return at.length < 4 ? { requeueAfter: 500 } : at.length < 7 ? { requeue: true } : undefined;
      },
    });
    await clock.advance(10_000);
    expect(at.map((time, i) => time - (at[i - 1] ?? time))).toEqual([0, 500, 500, 500, 5, 10, 20]);
  });

  it("T7 tells whoever takes too long", async () => {
    const reasons: unknown[] = [];
    create("a");
    await start({
      reconcileTimeout: 50,
      maxDelay: 1e9,
      baseDelay: 1e9,
      reconcile: async (_request, { signal }) => {
        await sleep(clock, 1000, signal).catch((reason) => {
          reasons.push(reason);
          throw new Error("something else");
        });
      },
    });
    await clock.advance(60);
    expect(reasons).toMatchObject([{ code: "KUBE_RECONCILE_TIMEOUT" }]);
    expect(logged.find(({ level }) => level === "error")?.fields.error).toMatchObject({
      code: "KUBE_RECONCILE_TIMEOUT",
    });
  });

  it("T7 counts whoever ends too late as failed, even without an error", async () => {
    let calls = 0;
    create("a");
    await start({
      reconcileTimeout: 50,
      baseDelay: 10,
      reconcile: async () => {
        if (calls++ === 0) await sleep(clock, 100); // deaf to the signal
      },
    });
    await clock.advance(99);
    expect(calls).toBe(1);
    await clock.advance(100);
    expect(calls).toBe(2);
  });

  it("T11 takes no work before it works, and none after", async () => {
    const seen: string[] = [];
    const made = controller({ reconcile: async ({ name }) => void seen.push(name) });
    cache.start();
    await clock.settle();
    for (let i = 0; i < 100; i++) {
      create(`t${i}`);
      model.delete(Thing, { namespace: "n", name: `t${i}` });
    }
    create("last");
    await clock.settle();
    await made.start();
    await clock.settle();
    expect(seen).toEqual(["last"]);
    await made.stop();
    create("after");
    await clock.settle();
    expect(seen).toEqual(["last"]);
  });

  it("T8 looks at owners when what they own changes, and at both when it changes hands", async () => {
    const a = create("a");
    const b = create("b");
    const seen: string[] = [];
    await start({ owns: [Part], reconcile: async ({ name }) => void seen.push(name) });
    seen.length = 0;
    const part = (owner: Thing) => withController({ metadata: { namespace: "n", name: "p" } }, owner);
    model.create(Part, part(a));
    await clock.settle();
    expect(seen.splice(0)).toEqual(["a"]);
    model.replace(Part, part(b));
    await clock.settle();
    expect(seen.splice(0).sort()).toEqual(["a", "b"]);
    model.create(Part, { metadata: { namespace: "n", name: "nobody's" } });
    const stranger: KubernetesObject = {
      apiVersion: "other.org/v1",
      kind: "Thing",
      metadata: { namespace: "n", name: "a", uid: "1" },
    };
    model.create(Part, withController({ metadata: { namespace: "n", name: "stranger's" } }, stranger));
    await clock.settle();
    expect(seen).toEqual([]);
  });

  it("T8 looks at whatever a mapper says, if the predicates let it", async () => {
    create("a");
    const seen: Request[] = [];
    const ready = (value: boolean) => ({ metadata: { name: "node", labels: { ready: String(value) } } });
    await start({
      watches: [watch(Node, () => [{ namespace: "n", name: "a" }], { predicates: [({ type }) => type !== "create"] })],
      predicates: [generationChanged],
      reconcile: async (request) => void seen.push(request),
    });
    seen.length = 0;
    model.create(Node, ready(false));
    await clock.settle();
    expect(seen).toEqual([]);
    model.patch(Node, { name: "node" }, ready(true));
    await clock.settle();
    expect(seen.splice(0)).toEqual([{ namespace: "n", name: "a" }]);
    model.patch(Thing, { namespace: "n", name: "a" }, { metadata: { labels: { x: "y" } } });
    await clock.settle();
    expect(seen).toEqual([]);
  });

  it("T8 lets mappers ask, and survives mappers and predicates that fail", async () => {
    create("a");
    create("b");
    const seen: string[] = [];
    let broken = false;
    await start({
      watches: [
        watch(Node, async (_node, client) => {
          if (broken) throw new Error("no map");
          return (await client.list(Thing)).items.map(keyOf);
        }),
      ],
      predicates: [
        () => {
          throw new Error("no opinion");
        },
      ],
      reconcile: async ({ name }) => void seen.push(name),
    });
    expect(seen.splice(0).sort()).toEqual(["a", "b"]);
    model.create(Node, { metadata: { name: "node" } });
    await clock.settle();
    expect(seen.splice(0).sort()).toEqual(["a", "b"]);
    broken = true;
    model.patch(Node, { name: "node" }, { metadata: { labels: { x: "y" } } });
    await clock.settle();
    expect(seen).toEqual([]);
    const errors = logged.filter(({ level }) => level === "error").map(({ message }) => message);
    expect(errors).toEqual(["a predicate of Thing failed", "a predicate of Thing failed", "the mapper of Node failed"]);
  });

  it("T9 lets what has just changed go before what was there", async () => {
    const order: string[] = [];
    for (let i = 0; i < 5; i++) create(`old${i}`);
    const made = controller({
      maxConcurrentReconciles: 1,
      reconcile: async ({ name }) => {
        order.push(name);
        await sleep(clock, 10);
      },
    });
    cache.start();
    await made.start();
    await clock.settle();
    create("new");
    await clock.advance(100);
    expect(order.indexOf("new")).toBe(1);
    expect(order).toHaveLength(6);
  });

  it("T10 ends what it has begun, begins nothing new, and is not kept waiting for ever", async () => {
    const ended: string[] = [];
    for (const name of ["a", "b", "c"]) create(name);
    const made = await start({
      maxConcurrentReconciles: 2,
      reconcile: async ({ name }, { signal }) => {
        await sleep(clock, name === "a" ? 100 : 1e6, signal).catch(() => {});
        ended.push(name);
      },
    });
    const hurry = new AbortController();
    const stopped = made.stop({ signal: hurry.signal });
    await clock.advance(200);
    expect(ended).toEqual(["a"]);
    hurry.abort();
    await stopped;
    expect(ended).toEqual(["a", "b"]);
  });
});
