/**
 * After any sequence of writes and faults, drawn from a seed: every informer's cache equals the server's list, each change
 * was seen, and no reconciler ran twice at once for one object. A failure names its seed; `FUZZ_SEED=… FUZZ_ROUNDS=1`
 * repeats it.
 */
import { afterEach, describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { Controller } from "../controller/controller.ts";
import { silent } from "../log/logger.ts";
import { keyOf, keyText } from "../objects/key.ts";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { eventually } from "../testing/eventually.ts";
import { FaultServer } from "../testing/fault-server.ts";
import { sleep, WallClock } from "../time/clock.ts";
import { integer, pick, SeededRandom } from "../time/random.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import { Cache } from "./cache.ts";
import { Informer } from "./informer.ts";

interface Thing extends KubernetesObject {
  spec?: { value: number };
}

const Thing = kindOf<Thing>("example.org/v1", "Thing", "things");
const textOf = (thing: Thing) => keyText(keyOf(thing));
const clock = new WallClock();
const rounds = Number(process.env.FUZZ_ROUNDS ?? 12);
const first = Number(process.env.FUZZ_SEED ?? 1);

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

/** Writes at random, straight into the server; also what nobody would do in this order. */
function write(server: FaultServer, random: SeededRandom): void {
  const key = { namespace: pick(random, ["n", "m"]), name: `t${integer(random, 0, 8)}` };
  const present = server.model
    .list(Thing, { namespace: key.namespace })
    .items.some((t) => t.metadata.name === key.name);
  const draw = random.next();
  if (!present) server.model.create(Thing, { metadata: key, spec: { value: integer(random, 0, 100) } });
  else if (draw < 0.3) server.model.delete(Thing, key);
  else server.model.patch(Thing, key, { spec: { value: integer(random, 0, 100) } });
  if (draw > 0.95) server.model.compact();
  if (draw > 0.9) server.disconnect();
}

describe("after any writes and faults", () => {
  it.each(Array.from({ length: rounds }, (_, round) => first + round))(
    "I1, I2, T1, T2 hold (seed %i)",
    async (seed) => {
      const random = new SeededRandom(seed);
      const server = await FaultServer.start({ bookmarkInterval: 40, random: random.fork("server") });
      cleanUp.push(() => server.stop());
      const connection = { server: server.url, namespace: "n", tls: {}, identity: { kind: "none" } } as const;
      const transport = new HttpTransport(connection, { timeoutMs: 150 });
      cleanUp.push(() => transport.close());
      const client = new Client(transport, { maxRetries: 0 });
      server.watchList = pick(random, ["supported", "refused", "ignored"]);
      server.randomFaults(random.fork("faults"), { rate: 0.7 });

      // Two informers on their own, and a cache with a controller on it.
      const informers = ["a", "b"].map((name) => {
        const options = { random: random.fork(name), inactivityMs: 150, pageSize: 3 };
        return new Informer(client, Thing, options).start();
      });
      // Found inside handlers and reconcilers, where a failed expectation would only be one more exception to contain.
      const wrong: string[] = [];
      const [cache, reconciled] = startController(client, random, wrong);
      informers.push(cache.informer(Thing));
      for (const informer of informers) cleanUp.push(() => informer.stop());

      // What handlers are told adds up to the cache.
      const mirrors = informers.map((informer) => {
        const mirror = new Map<string, string | undefined>();
        const is = (fine: boolean, what: string, object: Thing) => {
          if (!fine) wrong.push(`${what}: ${textOf(object)}`);
        };
        informer.addEventHandler({
          onAdd: (object) => {
            is(!mirror.has(textOf(object)), "added twice", object);
            mirror.set(textOf(object), object.metadata.resourceVersion);
          },
          onUpdate: (old, object) => {
            is(mirror.get(textOf(object)) === old.metadata.resourceVersion, "updated from a state not told", object);
            mirror.set(textOf(object), object.metadata.resourceVersion);
          },
          onDelete: (object) => is(mirror.delete(textOf(object)), "deleted without having been added", object),
        });
        return mirror;
      });

      for (let i = 0; i < 120; i++) {
        write(server, random);
        if (random.next() < 0.3) await sleep(clock, integer(random, 0, 20));
      }
      server.heal();
      server.disconnect(); // or watches that have fallen silent would have to be waited for

      const truth = () =>
        server.model
          .list(Thing)
          .items.map((t) => [textOf(t), t.metadata.resourceVersion])
          .sort();
      await eventually(() => {
        for (const [index, informer] of informers.entries()) {
          expect(
            informer
              .list()
              .map((t) => [textOf(t), t.metadata.resourceVersion])
              .sort(),
          ).toEqual(truth());
          expect([...(mirrors[index] as Map<string, string>)].sort()).toEqual(truth());
        }
        // The last state of each object has been reconciled, the end of those that are gone included.
        const present = new Map(truth() as [string, string][]);
        for (const [key, version] of reconciled) expect([key, version]).toEqual([key, present.get(key)]);
        for (const key of present.keys()) expect(reconciled.has(key), key).toBe(true);
      }, 20);
      expect(wrong).toEqual([]);
    },
  );
});

/** Its reconciler notes what it saw last, and fails now and then. */
function startController(
  client: Client,
  random: SeededRandom,
  wrong: string[],
): [Cache, Map<string, string | undefined>] {
  const cache = new Cache(client, { random: random.fork("cache"), kinds: [] });
  const informer = cache.informer(Thing);
  const running = new Set<string>();
  const reconciled = new Map<string, string | undefined>();
  const chance = random.fork("reconciler");
  const controller = new Controller(
    {
      for: Thing,
      maxConcurrentReconciles: 4,
      async reconcile(request) {
        const key = keyText(request);
        if (running.has(key)) wrong.push(`reconciled twice at once: ${key}`);
        running.add(key);
        const seen = informer.get(request)?.metadata.resourceVersion;
        await sleep(clock, integer(chance, 0, 10));
        running.delete(key);
        if (chance.next() < 0.2) throw new Error("no luck");
        reconciled.set(key, seen);
      },
    },
    { client, cache, clock, random: random.fork("controller"), log: silent },
  );
  cache.start();
  void controller.start().catch(() => {}); // stopped before it has synced
  cleanUp.push(
    () => cache.stop(),
    () => controller.stop(),
  );
  return [cache, reconciled];
}
