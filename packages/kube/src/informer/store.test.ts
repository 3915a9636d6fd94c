import { describe, expect, it } from "vitest";
import type { KubernetesObject } from "../objects/meta.ts";
import { type Change, Store } from "./store.ts";

interface Thing extends KubernetesObject {
  value?: string;
}

const thing = (name: string, version: number, more: { uid?: string; value?: string } = {}): Thing => ({
  metadata: { namespace: "n", name, uid: more.uid ?? `uid-${name}`, resourceVersion: String(version) },
  ...(more.value !== undefined && { value: more.value }),
});

function setUp(...listed: Thing[]) {
  const told: string[] = [];
  const errors: string[] = [];
  const store = new Store<Thing>({
    onChange: (change) => {
      const { name, resourceVersion } = change.object.metadata;
      told.push(`${change.type} ${name}@${resourceVersion}`);
    },
    onIndexError: (error, index, key) => void errors.push(`${index} ${key}: ${error}`),
  });
  store.beginList();
  for (const object of listed) store.listed(object);
  store.endList("10");
  told.length = 0;
  const versions = () =>
    Array.from(store.values(), ({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`);
  return { store, told, versions, errors };
}

describe("what the server tells", () => {
  it("I2 becomes changes, one for each difference", () => {
    const { store, told, versions } = setUp(thing("a", 5));
    store.applied(thing("b", 11));
    store.applied(thing("a", 12));
    store.deleted(thing("b", 13));
    expect(told).toEqual(["add b@11", "update a@12", "delete b@13"]);
    expect(versions()).toEqual(["a@12"]);
  });

  it("I2 shows an object that took another one's name as an end and a beginning", () => {
    const { store, told } = setUp(thing("a", 5));
    store.applied(thing("a", 12, { uid: "another" }));
    expect(told).toEqual(["delete a@5", "add a@12"]);
  });

  it("I4 may be told twice", () => {
    const { store, told, versions } = setUp(thing("a", 5));
    expect(store.applied(thing("a", 11))).toBe("fine");
    expect(store.applied(thing("a", 11))).toBe("fine");
    expect(store.deleted(thing("a", 12))).toBe("fine");
    expect(store.deleted(thing("a", 12))).toBe("fine");
    expect(told).toEqual(["update a@11", "delete a@12"]);
    expect(versions()).toEqual([]);
  });

  it("I9 is not believed if it cannot have been in order", () => {
    expect(setUp(thing("a", 5), thing("b", 6)).store.applied(thing("a", 7))).toBe("disorder");
    const { store } = setUp(thing("a", 5), thing("b", 6));
    store.applied(thing("a", 12));
    expect(store.applied(thing("b", 11))).toBe("disorder");
    expect(store.deleted(thing("b", 11))).toBe("disorder");
    store.deleted(thing("a", 14));
    expect(store.applied(thing("a", 13))).toBe("disorder");
    // An older state of what is known better harms nobody.
    store.applied(thing("c", 16));
    expect(store.applied(thing("c", 15))).toBe("fine");
    expect(store.deleted(thing("c", 15))).toBe("fine");
  });

  it("I6 replaces everything at once when it is a list", () => {
    const { store, told, versions } = setUp(thing("a", 5), thing("b", 6), thing("c", 7));
    store.beginList();
    store.listed(thing("b", 12));
    store.listed(thing("c", 7));
    store.listed(thing("d", 13));
    expect(versions()).toEqual(["a@5", "b@6", "c@7"]);
    store.endList("20");
    expect(told).toEqual(["delete a@5", "update b@12", "add d@13"]);
    expect(versions()).toEqual(["b@12", "c@7", "d@13"]);
  });

  it("I6 shows the whole of it to whoever is told of a part", () => {
    const seen: number[] = [];
    const onChange = () => void seen.push(store.size);
    const store: Store<Thing> = new Store({ onChange, onIndexError: () => {} });
    store.beginList();
    for (const name of ["a", "b", "c"]) store.listed(thing(name, 1));
    store.endList("3");
    expect(seen).toEqual([3, 3, 3]);
  });
});

describe("what this process has written", () => {
  it("I5 is there at once, and is told once", () => {
    const { store, told, versions } = setUp();
    store.wrote(thing("a", 12));
    expect(versions()).toEqual(["a@12"]);
    store.applied(thing("a", 12));
    expect(told).toEqual(["add a@12"]);
  });

  it("I5 is not undone by what happened before it", () => {
    const { store, told, versions } = setUp(thing("a", 5));
    store.wrote(thing("a", 14));
    store.applied(thing("a", 12));
    store.applied(thing("a", 13));
    expect(versions()).toEqual(["a@14"]);
    store.applied(thing("a", 15));
    expect(told).toEqual(["update a@14", "update a@15"]);
  });

  it("I5 outlives the end of an object that it came after", () => {
    const { store, versions } = setUp(thing("a", 5));
    store.wrote(thing("a", 14, { uid: "second" }));
    store.deleted(thing("a", 13));
    expect(versions()).toEqual(["a@14"]);
  });

  it("I5 outlives a list that was made before it, and not one that was made after", () => {
    const { store, versions } = setUp(thing("a", 5));
    store.wrote(thing("b", 14));
    store.beginList();
    store.listed(thing("a", 5));
    store.endList("13");
    expect(versions()).toEqual(["a@5", "b@14"]);
    store.beginList();
    store.listed(thing("a", 5));
    store.endList("15");
    expect(versions()).toEqual(["a@5"]);
  });

  it("I5 counts for nothing if the server was faster", () => {
    const { store, told, versions } = setUp();
    store.applied(thing("a", 12));
    store.deleted(thing("a", 13));
    store.wrote(thing("a", 12));
    expect(versions()).toEqual([]);
    expect(told).toEqual(["add a@12", "delete a@13"]);
  });

  it("I5 waits for the first list", () => {
    const told: Change<Thing>[] = [];
    const store = new Store<Thing>({ onChange: (change) => void told.push(change), onIndexError: () => {} });
    store.wrote(thing("a", 12));
    expect([...store.values()]).toEqual([]);
    store.beginList();
    store.endList("11");
    expect(told).toMatchObject([{ type: "add", initial: true }]);
  });

  it("I5 stays deleted, until there is another of the name", () => {
    const { store, told, versions } = setUp(thing("a", 5));
    store.wroteDeletion("n/a", "uid-a");
    store.applied(thing("a", 12));
    expect(versions()).toEqual([]);
    store.deleted(thing("a", 13));
    store.applied(thing("a", 14, { uid: "second" }));
    expect(told).toEqual(["delete a@5", "add a@14"]);
    // Of an object that is not the one that is known, nothing is to be deleted.
    store.wroteDeletion("n/a", "uid-a");
    store.wroteDeletion("n/a", undefined);
    expect(versions()).toEqual(["a@14"]);
  });

  it("I5 stays deleted in a list that was made before, and is forgotten with one that was made after", () => {
    const { store, told, versions } = setUp(thing("a", 5));
    store.wroteDeletion("n/a", "uid-a");
    store.beginList();
    store.listed(thing("a", 5));
    store.endList("12");
    expect(versions()).toEqual([]);
    store.beginList();
    store.endList("13");
    store.applied(thing("a", 14, { uid: "second" }));
    expect(told).toEqual(["delete a@5", "add a@14"]);
  });

  it("I13 leaves when it is none of those that are meant, and comes back when it is again", () => {
    const { store, told, versions } = setUp(thing("a", 5));
    store.outgrew("n/a", "12");
    expect(versions()).toEqual([]);
    store.applied(thing("a", 11)); // from before
    expect(versions()).toEqual([]);
    store.applied(thing("a", 13)); // the server thinks that it is meant, or it is so again
    expect(versions()).toEqual(["a@13"]);
    store.outgrew("n/a", "12"); // an answer that comes late
    expect(versions()).toEqual(["a@13"]);
    expect(told).toEqual(["delete a@5", "add a@13"]);
  });

  it("I5 is left to the server if its versions cannot be compared", () => {
    const { store, versions } = setUp();
    store.wrote({ metadata: { namespace: "n", name: "a", uid: "u", resourceVersion: "abc" } });
    expect(versions()).toEqual([]);
    store.applied({ metadata: { namespace: "n", name: "a", uid: "u", resourceVersion: "abc" } });
    expect(versions()).toEqual(["a@abc"]);
  });
});

describe("an index", () => {
  it("I11 finds objects by what they say now", () => {
    const { store } = setUp(thing("a", 5, { value: "x" }), thing("b", 6, { value: "y" }));
    store.addIndex("value", ({ value }) => (value === undefined ? [] : [value, "all"]));
    const names = (value: string) => store.byIndex("value", value).map(({ metadata }) => metadata.name);
    expect(names("x")).toEqual(["a"]);
    store.applied(thing("a", 11, { value: "y" }));
    store.applied(thing("c", 12));
    expect(names("x")).toEqual([]);
    expect(names("y").sort()).toEqual(["a", "b"]);
    expect(names("all").sort()).toEqual(["a", "b"]);
    store.deleted(thing("a", 13));
    expect(names("y")).toEqual(["b"]);
    expect(() => store.byIndex("other", "x")).toThrow(expect.objectContaining({ code: "KUBE_INDEX_UNKNOWN" }));
  });

  it("I11 that throws harms nobody: neither the object, nor its other indexes, nor what comes after", () => {
    const { store, told, errors } = setUp(thing("a", 5, { value: "x" }));
    store.addIndex("first", ({ value }) => [(value as string).toUpperCase()]);
    store.addIndex("second", ({ metadata }) => [metadata.name ?? ""]);
    store.applied(thing("a", 11)); // without a value
    store.applied(thing("a", 12, { value: "y" }));
    store.applied(thing("b", 13));
    store.deleted(thing("b", 14));
    expect(told).toEqual(["update a@11", "update a@12", "add b@13", "delete b@14"]);
    expect(store.byIndex("first", "Y")).toHaveLength(1);
    expect(store.byIndex("first", "X")).toEqual([]);
    expect(store.byIndex("second", "a")).toHaveLength(1);
    expect(store.byIndex("second", "b")).toEqual([]);
    expect(errors).toEqual([expect.stringContaining("first n/a"), expect.stringContaining("first n/b")]);
  });
});
