import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyObject } from "../api/json.ts";
import type { Change } from "./collection.ts";
import { Store } from "./store.ts";

const thing = (name: string, value?: unknown, namespace = "n"): AnyObject => ({
  metadata: { name, namespace },
  ...(value !== undefined && { value }),
});
const names = (objects: Iterable<AnyObject>) => Array.from(objects, ({ metadata }) => metadata.name);

describe("a store", () => {
  it("S1 gives each write a version of its own, whatever it writes", () => {
    const store = new Store();
    const first = store.put("a", thing("x"));
    const second = store.put("b", thing("x"));
    store.remove("a", first);
    const versions = [first, second].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions[1]).toBeGreaterThan(versions[0] as number);
    expect(store.version).toBeGreaterThan(versions[1] as number);
  });

  it("S2 keeps objects frozen, all the way down", () => {
    const stored = new Store().put("a", thing("x", { deep: [{ list: 1 }] }));
    expect(() => {
      (stored.value as { deep: { list: number }[] }).deep[0] = { list: 2 };
    }).toThrow(TypeError);
  });

  it("S3 tells everybody of one change before anybody of the next, also if a listener writes", () => {
    const store = new Store();
    const told: string[] = [];
    store.listen("a", ({ after }) => {
      told.push(`first ${after?.metadata.name}`);
      if (after?.metadata.name === "x") store.put("a", thing("y"));
    });
    store.listen("a", ({ after }) => told.push(`second ${after?.metadata.name}`));
    store.listen(undefined, ({ after }, name) => told.push(`all ${name} ${after?.metadata.name}`));
    store.put("a", thing("x"));
    expect(told).toEqual(["all a x", "first x", "second x", "all a y", "first y", "second y"]);
  });

  it("S4 survives a listener that throws, and says so", () => {
    const failures: unknown[] = [];
    const store = new Store({ onFailure: (error) => failures.push(error) });
    const told: Change[] = [];
    store.listen("a", () => {
      throw new Error("mine");
    });
    store.listen("a", (change) => told.push(change));
    store.put("a", thing("x"));
    store.put("a", thing("y"));
    expect([failures.length, told.length]).toEqual([2, 2]);
  });

  it("S5 lists by namespace and name, and knows what a namespace has", () => {
    const store = new Store();
    for (const [name, namespace] of ["b n", "a n", "c m", "a-b n"].map((each) => each.split(" ") as [string, string])) {
      store.put("a", thing(name, 1, namespace));
    }
    const collection = store.collection("a");
    expect(collection.keys()).toEqual(["m/c", "n/a", "n/a-b", "n/b"]);
    expect(collection.keys("n")).toEqual(["n/a", "n/a-b", "n/b"]);
    store.remove("a", collection.get("n/a") as AnyObject);
    expect(names(collection.at(store.version, "n").map(([, object]) => object))).toEqual(["a-b", "b"]);
    expect([collection.count("n"), collection.count("m"), collection.count("o")]).toEqual([2, 1, 0]);
  });

  it("S6 knows what there was at any version that it remembers", () => {
    const writes = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(writes, fc.nat(59), (all, compactAt) => {
        const store = new Store();
        const collection = store.collection("c");
        const truth = new Map<number, string>();
        const state = () => JSON.stringify(collection.keys().map((key) => collection.get(key)));
        for (const [index, { name, remove }] of all.entries()) {
          const present = collection.get(`n/${name}`);
          if (remove && present) store.remove("c", present);
          else store.put("c", thing(name, index));
          truth.set(store.version, state());
          if (index === compactAt) store.compact();
        }
        for (const [version, expected] of truth) {
          if (version < collection.forgotten) continue;
          expect(JSON.stringify(collection.at(version).map(([, object]) => object))).toBe(expected);
          // And what has changed since leads from there to the present.
          const replayed = new Map(collection.at(version));
          for (const { key, after } of collection.since(version)) {
            if (after) replayed.set(key, after);
            else replayed.delete(key);
          }
          expect([...replayed].sort(([a], [b]) => (a < b ? -1 : 1))).toEqual(collection.at(store.version));
        }
      }),
    );
  });

  it("S7 forgets the oldest changes, and says up to where", () => {
    const store = new Store({ remembered: 10 });
    for (let i = 0; i < 100; i++) store.put("a", thing("x", i));
    const { forgotten } = store.collection("a");
    expect(forgotten).toBeGreaterThan(0);
    expect(store.collection("a").since(forgotten).length).toBeGreaterThanOrEqual(10);
    expect(store.collection("a").since(forgotten).length).toBeLessThanOrEqual(20);
    // A collection that came later never remembered what was before it.
    expect(store.collection("b").forgotten).toBe(store.version);
  });
});
