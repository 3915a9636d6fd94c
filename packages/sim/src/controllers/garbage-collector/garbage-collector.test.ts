import { coreV1, type ObjectMeta, type OwnerReference, SeededRandom } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testCluster } from "../testing/cluster.ts";
import { GarbageCollector } from "./garbage-collector.ts";

function world() {
  const cluster = testCluster();
  const { api } = cluster;
  const key = (name: string, namespace = "default") => ({ namespace, name });
  const get = (name: string, namespace?: string) => api.get(coreV1.ConfigMap, key(name, namespace));
  const create = (name: string, owners: readonly OwnerReference[] = [], more: ObjectMeta = {}) =>
    api.create(coreV1.ConfigMap, {
      metadata: { ...key(name), ...(owners.length > 0 && { ownerReferences: [...owners] }), ...more },
    });
  const remove = (name: string, propagationPolicy?: string) =>
    api.delete(coreV1.ConfigMap, key(name), propagationPolicy ? { propagationPolicy } : {});
  const release = (name: string) => {
    const object = get(name) as coreV1.ConfigMap;
    api.update(coreV1.ConfigMap, { ...object, metadata: { ...object.metadata, finalizers: [] } });
  };
  cluster.start(new GarbageCollector(cluster.surroundings("gc")));
  return { ...cluster, get, create, remove, release };
}

const by = ({ metadata }: coreV1.ConfigMap, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: metadata.name ?? "",
  uid: metadata.uid ?? "",
  ...more,
});

describe("in the background", () => {
  it("what belonged to an object goes after it, and what belonged to that", async () => {
    const { clock, get, create, remove } = world();
    const owner = create("owner");
    const child = create("child", [by(owner)]);
    create("grandchild", [by(child)]);
    create("other");
    remove("owner");
    expect(get("owner")).toBeUndefined();
    expect(get("child")).toBeDefined();
    await clock.settle();
    expect([get("child"), get("grandchild")]).toEqual([undefined, undefined]);
    expect(get("other")).toBeDefined();
  });

  it("what belongs to two stays with the other, and forgets the one", async () => {
    const { clock, get, create, remove } = world();
    const [a, b] = [create("a"), create("b")];
    create("child", [by(a), by(b)]);
    remove("a");
    await clock.settle();
    expect(get("child")?.metadata.ownerReferences).toEqual([by(b)]);
    remove("b");
    await clock.settle();
    expect(get("child")).toBeUndefined();
  });

  it("what belongs to nobody who ever was goes at once", async () => {
    const { clock, get, create } = world();
    const owner = create("owner");
    create("lost", [by(owner, { uid: "another" })]);
    create("gone", [by(owner, { name: "never" })]);
    await clock.settle();
    expect([get("lost"), get("gone")]).toEqual([undefined, undefined]);
    expect(get("owner")).toBeDefined();
  });

  it("a new object of the same name is somebody else", async () => {
    const { clock, get, create, remove } = world();
    create("child", [by(create("owner"))]);
    remove("owner");
    create("owner");
    await clock.settle();
    expect(get("child")).toBeUndefined();
  });

  it("of owners that nobody can know, nothing is said", async () => {
    const { clock, get, create, api } = world();
    create("child", [{ apiVersion: "unknown.org/v1", kind: "Thing", name: "x", uid: "y" }]);
    const owner = create("owner");
    api.create(coreV1.Node, { metadata: { name: "n1", ownerReferences: [by(owner, { name: "never" })] } });
    await clock.settle();
    expect(get("child")).toBeDefined();
    expect(api.get(coreV1.Node, { name: "n1" })).toBeDefined();
  });

  it("an owner without a namespace is found from everywhere, one in another namespace from nowhere", async () => {
    const { clock, get, create, api } = world();
    const node = api.create(coreV1.Node, { metadata: { name: "n1" } });
    const reference = { apiVersion: "v1", kind: "Node", name: "n1", uid: node.metadata.uid ?? "" };
    create("by-node", [reference]);
    const elsewhere = api.create(coreV1.ConfigMap, { metadata: { name: "there", namespace: "other" } });
    create("by-other", [by(elsewhere)]);
    await clock.settle();
    expect(get("by-node")).toBeDefined();
    expect(get("by-other")).toBeUndefined();
    api.delete(coreV1.Node, { name: "n1" });
    await clock.settle();
    expect(get("by-node")).toBeUndefined();
  });

  it("finalizers are waited for", async () => {
    const { clock, get, create, remove, release } = world();
    create("child", [by(create("owner"))], { finalizers: ["example.org/f"] });
    remove("owner");
    await clock.settle();
    expect(get("child")?.metadata.deletionTimestamp).toBeDefined();
    release("child");
    expect(get("child")).toBeUndefined();
  });

  it("what was there before the collector is looked at too", async () => {
    const cluster = testCluster();
    const { api, clock } = cluster;
    api.create(coreV1.ConfigMap, {
      metadata: {
        name: "lost",
        namespace: "default",
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "y" }],
      },
    });
    cluster.start(new GarbageCollector(cluster.surroundings("gc")));
    await clock.settle();
    expect(api.get(coreV1.ConfigMap, { namespace: "default", name: "lost" })).toBeUndefined();
  });
});

describe("in the foreground", () => {
  it("an owner waits for those who block it", async () => {
    const { clock, get, create, remove, release } = world();
    const owner = create("owner");
    create("blocking", [by(owner, { blockOwnerDeletion: true })], { finalizers: ["example.org/f"] });
    create("other", [by(owner)], { finalizers: ["example.org/f"] });
    remove("owner", "Foreground");
    await clock.settle();
    expect(get("owner")?.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect(get("blocking")?.metadata.deletionTimestamp).toBeDefined();
    expect(get("other")?.metadata.deletionTimestamp).toBeDefined();
    release("blocking");
    await clock.settle();
    expect(get("owner")).toBeUndefined();
    expect(get("other")).toBeDefined();
  });

  it("those in between wait for theirs", async () => {
    const { clock, get, create, remove, release } = world();
    const owner = create("owner");
    const child = create("child", [by(owner, { blockOwnerDeletion: true })]);
    create("grandchild", [by(child, { blockOwnerDeletion: true })], { finalizers: ["example.org/f"] });
    remove("owner", "Foreground");
    await clock.settle();
    expect(get("child")?.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect(get("owner")).toBeDefined();
    release("grandchild");
    await clock.settle();
    expect([get("owner"), get("child"), get("grandchild")]).toEqual([undefined, undefined, undefined]);
  });

  it("what has another owner stays", async () => {
    const { clock, get, create, remove } = world();
    const [a, b] = [create("a"), create("b")];
    create("child", [by(a, { blockOwnerDeletion: true }), by(b)]);
    remove("a", "Foreground");
    await clock.settle();
    expect(get("a")).toBeUndefined();
    expect(get("child")?.metadata.ownerReferences).toEqual([by(b)]);
  });

  it("two that wait for each other do not wait for ever", async () => {
    const { clock, get, create, remove, api } = world();
    const a = create("a");
    const b = create("b", [by(a, { blockOwnerDeletion: true })]);
    const present = get("a") as coreV1.ConfigMap;
    api.update(coreV1.ConfigMap, {
      ...present,
      metadata: { ...present.metadata, ownerReferences: [by(b, { blockOwnerDeletion: true })] },
    });
    remove("a", "Foreground");
    await clock.settle();
    expect([get("a"), get("b")]).toEqual([undefined, undefined]);
  });
});

describe("orphans", () => {
  it("are left behind, and forget their owner", async () => {
    const { clock, get, create, remove } = world();
    const owner = create("owner");
    create("child", [by(owner, { blockOwnerDeletion: true })]);
    remove("owner", "Orphan");
    await clock.settle();
    expect(get("owner")).toBeUndefined();
    expect(get("child")?.metadata.ownerReferences ?? []).toEqual([]);
  });
});

describe("whatever happens", () => {
  it("exactly those go who have owners and not one that lives", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 2, max: 14 }), async (seed, size) => {
        const random = new SeededRandom(seed);
        const { clock, create, remove, api, failures } = world();
        const objects: coreV1.ConfigMap[] = [];
        const owners = new Map<string, string[]>();
        for (let index = 0; index < size; index++) {
          const chosen = objects.filter(() => random.next() < 0.25);
          const name = `o${index}`;
          objects.push(
            create(
              name,
              chosen.map((owner) => by(owner, { blockOwnerDeletion: random.next() < 0.5 })),
            ),
          );
          owners.set(
            name,
            chosen.map(({ metadata }) => metadata.name ?? ""),
          );
        }
        const removed = new Set([...owners.keys()].filter(() => random.next() < 0.3));
        for (const name of removed) {
          remove(name, random.next() < 0.5 ? "Foreground" : "Background");
          if (random.next() < 0.5) await clock.settle();
        }
        await clock.settle();
        const alive = new Set<string>();
        for (const [name, of] of owners) {
          if (!removed.has(name) && (of.length === 0 || of.some((owner) => alive.has(owner)))) alive.add(name);
        }
        const left = api.list(coreV1.ConfigMap, "default").map(({ metadata }) => metadata.name ?? "");
        expect(left.toSorted()).toEqual([...alive].toSorted());
        for (const { metadata } of api.list(coreV1.ConfigMap, "default")) {
          for (const { name } of metadata.ownerReferences ?? []) expect(alive).toContain(name);
        }
        expect(failures).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
