import type { ApiError, ApiRequest, Parameters } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Place, Thing, thingResource, thingServer } from "../testing/things.ts";
import type { AnyObject } from "./json.ts";
import { Refusal } from "./refusal.ts";
import type { WatchEvent } from "./watching.ts";

const namespace = "n";

function setup(rules = {}) {
  const { server, clock } = thingServer();
  if (Object.keys(rules).length > 0) server.resources.add(thingResource({ rules }));
  const request = (asked: Partial<ApiRequest>) =>
    server.request({ verb: "get", kind: Thing, namespace, ...asked }) as AnyObject & Record<string, never>;
  const create = (name: string, more: object = {}, parameters: Parameters = {}) =>
    request({ verb: "create", body: { metadata: { name }, ...more }, parameters });
  const refused = (asked: Partial<ApiRequest>): ApiError & Refusal => {
    try {
      request(asked);
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
    throw new Error("it was not refused");
  };
  return { server, clock, request, create, refused };
}

describe("creating", () => {
  it("A1 gives an object its identity, and keeps nothing of what only the server may say", () => {
    const { create, clock } = setup();
    const mine = { uid: "mine", creationTimestamp: "x", deletionTimestamp: "y", generation: 7 };
    const made = create("a", { metadata: { name: "a", ...mine }, spec: { size: 1 }, status: { phase: "Done" } });
    expect(made).toMatchObject({ apiVersion: "test.io/v1", kind: "Thing", spec: { size: 1 } });
    expect(made.status).toBeUndefined();
    const { uid, creationTimestamp, deletionTimestamp, generation, resourceVersion } = made.metadata;
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([Date.parse(creationTimestamp as string), deletionTimestamp, generation]).toEqual([
      clock.now(),
      undefined,
      1,
    ]);
    expect(Number(resourceVersion)).toBeGreaterThan(0);
  });

  it("A2 keeps nothing that the caller can still change, and hands out nothing that can be changed", () => {
    const { request } = setup();
    const body = { metadata: { name: "a" }, spec: { list: ["x"] } };
    const made = request({ verb: "create", body });
    body.spec.list.push("y");
    expect(request({ name: "a" })).toMatchObject({ spec: { list: ["x"] } });
    expect(() => Object.assign(made.metadata, { name: "b" })).toThrow(TypeError);
  });

  it("A3 makes names, a different one each time", () => {
    const { create } = setup();
    const made = Array.from({ length: 50 }, () => create("", { metadata: { generateName: "job-" } }).metadata.name);
    for (const name of made) expect(name).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(new Set(made).size).toBe(50);
  });

  it("A4 refuses what is no such object, by the API's own reasons", () => {
    const { create, refused } = setup();
    create("a");
    const creating = (body: unknown) => {
      const { status, reason, causes } = refused({ verb: "create", body });
      return [status, reason, ...causes.map(({ field }) => field)];
    };
    expect(creating({ metadata: { name: "a" } })).toEqual([409, "AlreadyExists"]);
    expect(creating({ metadata: {} })).toEqual([422, "Invalid", "metadata.name"]);
    expect(creating({ metadata: { name: "No Good" } })).toEqual([422, "Invalid", "metadata.name"]);
    expect(creating({ metadata: { name: "b", labels: { "a b": "!" } } })).toEqual([
      422,
      "Invalid",
      "metadata.labels",
      "metadata.labels",
    ]);
    expect(creating({ metadata: { name: "b" }, kind: "Other" })).toEqual([400, "BadRequest"]);
    expect(creating({ metadata: { name: "b" }, apiVersion: "test.io/v2" })).toEqual([400, "BadRequest"]);
    expect(creating({ metadata: { name: "b", namespace: "other" } })).toEqual([400, "BadRequest"]);
    for (const nonsense of [undefined, null, 1, "text", [], [{}]])
      expect(creating(nonsense)).toEqual([400, "BadRequest"]);
    expect(refused({ verb: "create", kind: { ...Thing, plural: "others" } }).status).toBe(404);
  });

  it("A5 only pretends in a dry run", () => {
    const { create, refused, server } = setup();
    const before = server.store.version;
    expect(create("a", {}, { dryRun: "All" }).metadata.uid).toBeDefined();
    expect(server.store.version).toBe(before);
    expect(refused({ name: "a" }).reason).toBe("NotFound");
    expect(refused({ verb: "create", body: { metadata: { name: "a" } }, parameters: { dryRun: "Some" } }).status).toBe(
      422,
    );
  });
});

describe("changing", () => {
  it("A6 counts what was wanted, not what was seen; and is no write if nothing changes", () => {
    const { create, request, server } = setup();
    const made = create("a", { spec: { size: 1 } });
    const update = (body: object, subresource?: string) => request({ verb: "update", name: "a", body, subresource });
    const labelled = update({ ...made, metadata: { ...made.metadata, labels: { x: "y" } } });
    expect(labelled.metadata.generation).toBe(1);
    const seen = update({ ...labelled, status: { phase: "Up" }, spec: { size: 9 } }, "status");
    expect([seen.metadata.generation, seen.spec, seen.status]).toEqual([1, { size: 1 }, { phase: "Up" }]);
    const wanted = update({ ...seen, spec: { size: 2 }, status: { phase: "Down" } });
    expect([wanted.metadata.generation, wanted.spec, wanted.status]).toEqual([2, { size: 2 }, { phase: "Up" }]);
    const version = server.store.version;
    expect(update({ ...wanted })).toBe(request({ name: "a" }));
    expect(server.store.version).toBe(version);
  });

  it("A7 refuses an older version, another uid, another name", () => {
    const { create, request, refused } = setup();
    const made = create("a", { spec: { size: 1 } });
    request({ verb: "update", name: "a", body: { ...made, spec: { size: 2 } } });
    const updating = (body: object) => refused({ verb: "update", name: "a", body }).reason;
    expect(updating({ ...made, spec: { size: 3 } })).toBe("Conflict");
    expect(updating({ metadata: { name: "a", uid: "other" } })).toBe("Conflict");
    expect(updating({ metadata: { name: "b" } })).toBe("BadRequest");
    // Without a version, the last to write wins.
    expect(request({ verb: "update", name: "a", body: { metadata: { name: "a" }, spec: { size: 4 } } }).spec).toEqual({
      size: 4,
    });
    expect(refused({ verb: "update", name: "z", body: { metadata: { name: "z" } } }).reason).toBe("NotFound");
  });
});

describe("deleting", () => {
  it("A8 removes at once what nobody holds on to, and says what it was", () => {
    const { create, request, refused } = setup();
    const { metadata } = create("a");
    expect(request({ verb: "delete", name: "a" })).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", group: "test.io", kind: "things", uid: metadata.uid },
    });
    expect(refused({ verb: "delete", name: "a" }).reason).toBe("NotFound");
  });

  it("A9 waits for finalizers; the last one to go takes the object along", () => {
    const { create, request, refused } = setup();
    create("a", { metadata: { name: "a", finalizers: ["test.io/f"] } });
    const marked = request({ verb: "delete", name: "a" });
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect(request({ verb: "delete", name: "a" })).toBe(marked);
    const added = { ...marked, metadata: { ...marked.metadata, finalizers: ["test.io/f", "test.io/g"] } };
    expect(refused({ verb: "update", name: "a", body: added }).causes).toMatchObject([
      { reason: "FieldValueForbidden" },
    ]);
    request({ verb: "update", name: "a", body: { ...marked, metadata: { ...marked.metadata, finalizers: [] } } });
    expect(refused({ name: "a" }).reason).toBe("NotFound");
  });

  it("A10 gives notice where the kind asks for it; a later and shorter one counts, a longer one does not", () => {
    const { create, request, clock } = setup({ gracePeriod: (_: AnyObject, asked?: number) => asked ?? 30 });
    create("a");
    const end = (gracePeriodSeconds?: number) =>
      request({
        verb: "delete",
        name: "a",
        body: gracePeriodSeconds === undefined ? undefined : { gracePeriodSeconds },
      }).metadata;
    const inSeconds = ({ deletionTimestamp }: { deletionTimestamp?: string }) =>
      (Date.parse(deletionTimestamp as string) - clock.now()) / 1000;
    expect([inSeconds(end()), inSeconds(end(60)), inSeconds(end(5))]).toEqual([30, 30, 5]);
    end(0);
    expect(() => request({ name: "a" })).toThrow("not found");
  });

  it("A11 refuses if it is not the object that was meant", () => {
    const { create, refused } = setup();
    create("a");
    for (const preconditions of [{ uid: "other" }, { resourceVersion: "1" }]) {
      expect(refused({ verb: "delete", name: "a", body: { preconditions } }).reason).toBe("Conflict");
    }
    expect(refused({ verb: "delete", name: "a", body: { propagationPolicy: "Sideways" } }).status).toBe(422);
  });

  it("A12 deletes what is selected, and nothing else", () => {
    const { create, request } = setup();
    for (const name of ["a", "b", "c"]) create(name, { metadata: { name, labels: { of: name < "c" ? "x" : "y" } } });
    request({ verb: "deletecollection", parameters: { labelSelector: "of=x" } });
    const { items } = request({ verb: "list" }) as unknown as { items: AnyObject[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["c"]);
  });
});

describe("listing", () => {
  type List = {
    items: AnyObject[];
    metadata: { continue?: string; resourceVersion: string; remainingItemCount?: number };
  };

  it("A13 shows one moment on all its pages", () => {
    const { create, request, server } = setup();
    for (const name of ["a", "b", "c", "d", "e"]) create(name);
    const list = (parameters: Parameters) => request({ verb: "list", parameters }) as unknown as List;
    const first = list({ limit: 2 });
    expect([first.metadata.remainingItemCount, first.items.length]).toEqual([3, 2]);
    request({ verb: "delete", name: "c" });
    create("cc");
    const second = list({ limit: 2, continue: first.metadata.continue });
    const third = list({ limit: 2, continue: second.metadata.continue });
    const names = [first, second, third].map(({ items }) => items.map(({ metadata }) => metadata.name));
    expect(names).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect(third.metadata.continue).toBeUndefined();
    server.store.compact();
    // What is too old comes with a token for the rest as it is now.
    let token: string | undefined;
    try {
      list({ continue: first.metadata.continue });
    } catch (error) {
      const { body } = error as Refusal;
      expect([body.code, body.reason]).toEqual([410, "Expired"]);
      token = body.metadata.continue;
    }
    expect(list({ continue: token }).items.map(({ metadata }) => metadata.name)).toEqual(["cc", "d", "e"]);
  });

  it("A14 selects by labels and fields, and refuses selectors that mean nothing", () => {
    const { create, request, refused } = setup({ fields: () => ({ "spec.size": "1" }) });
    create("a", { metadata: { name: "a", labels: { app: "x" } } });
    create("b");
    const count = (parameters: Parameters) => (request({ verb: "list", parameters }) as unknown as List).items.length;
    expect([
      count({ labelSelector: "app=x" }),
      count({ labelSelector: "!app" }),
      count({ fieldSelector: "metadata.name!=a" }),
    ]).toEqual([1, 1, 1]);
    expect(count({ fieldSelector: "spec.size=1" })).toBe(2);
    for (const parameters of [
      { fieldSelector: "spec.color=red" },
      { labelSelector: "a b c" },
      { continue: "nonsense" },
      { limit: "many" },
      { resourceVersion: "x" },
    ]) {
      expect(refused({ verb: "list", parameters }).status, JSON.stringify(parameters)).toBe(400);
    }
    expect(refused({ verb: "list", parameters: { resourceVersion: "999999" } }).status).toBe(504);
  });

  it("A15 knows all namespaces, and kinds without any", () => {
    const { create, request } = setup();
    create("a");
    request({ verb: "create", namespace: "other", body: { metadata: { name: "a" } } });
    request({ verb: "create", kind: Place, namespace: undefined, body: { metadata: { name: "here" } } });
    expect((request({ verb: "list", namespace: undefined }) as unknown as List).items).toHaveLength(2);
    expect((request({ verb: "list" }) as unknown as List).items).toHaveLength(1);
    expect(request({ kind: Place, name: "here", namespace: undefined }).metadata.namespace).toBeUndefined();
  });
});

describe("watching", () => {
  function watching(server: ReturnType<typeof setup>["server"], parameters: Parameters) {
    const seen: string[] = [];
    const tell = ({ type, object: { metadata } }: WatchEvent) =>
      seen.push(metadata.annotations ? `${type} ${Object.keys(metadata.annotations)}` : `${type} ${metadata.name}`);
    const stop = server.watch({ kind: Thing, namespace, parameters }, { send: tell, end: () => seen.push("end") });
    return { seen, stop };
  }

  it("A16 begins with what is there, or with a version, or with the list and a mark", () => {
    const { create, server } = setup();
    const first = create("a");
    create("b");
    expect(watching(server, {}).seen).toEqual(["ADDED a", "ADDED b"]);
    expect(watching(server, { resourceVersion: first.metadata.resourceVersion }).seen).toEqual(["ADDED b"]);
    const streamed = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
    const { seen, stop } = watching(server, streamed);
    expect(seen).toEqual(["ADDED a", "ADDED b", "BOOKMARK k8s.io/initial-events-end"]);
    create("c");
    stop();
    create("d");
    expect(seen.at(-1)).toBe("ADDED c");
    server.store.compact();
    expect(() => watching(server, { resourceVersion: first.metadata.resourceVersion })).toThrow(
      "too old resource version",
    );
    expect(() => watching(server, { sendInitialEvents: true })).toThrow("NotOlderThan");
  });

  it("A17 tells of what comes into the selection as added, and of what leaves it as deleted", () => {
    const { create, request, server } = setup();
    const { seen } = watching(server, { labelSelector: "of=x" });
    const made = create("a");
    const labelled = (object: AnyObject, of: string) =>
      request({ verb: "update", name: "a", body: { ...object, metadata: { ...object.metadata, labels: { of } } } });
    const inside = labelled(made, "x");
    labelled(inside, "y");
    labelled(request({ name: "a" }), "x");
    request({ verb: "delete", name: "a" });
    expect(seen).toEqual(["ADDED a", "DELETED a", "ADDED a", "DELETED a"]);
  });

  it("A18 sends bookmarks each minute and ends when its time is up", async () => {
    const { server, clock } = setup();
    const { seen } = watching(server, { allowWatchBookmarks: true, timeoutSeconds: 150 });
    await clock.advance(200_000);
    expect(seen).toEqual(["BOOKMARK undefined", "BOOKMARK undefined", "BOOKMARK undefined", "end"]);
    expect(clock.pending).toBe(0);
  });
});
