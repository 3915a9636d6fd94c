import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { ModelApi } from "./model-api.ts";
import type { WatchEvent } from "./selection.ts";
import { at, inShort, refusal, Thing, thing, Zone } from "./things.ts";

let clock: VirtualClock;
let api: ModelApi;
beforeEach(() => {
  clock = new VirtualClock();
  api = new ModelApi({ clock, random: new SeededRandom("model") });
});

/** Everything that a watch tells, as it comes. */
function watching(options: Parameters<ModelApi["watch"]>[1] = {}) {
  const events: WatchEvent[] = [];
  api.watch(Thing, options, (event) => events.push(event));
  return events;
}

describe("creating", () => {
  it("fills in what is the server's to decide, and leaves status for later", () => {
    const metadata = { namespace: "default", uid: "mine", generation: 7, labels: { a: "b" }, finalizers: [] };
    const created = api.create(Thing, thing("a", { metadata, spec: { size: 1 }, status: { ready: true } }));
    expect(created).toEqual({
      apiVersion: "test.io/v1",
      kind: "Thing",
      metadata: {
        name: "a",
        namespace: "default",
        uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
        resourceVersion: "2",
        generation: 1,
        creationTimestamp: "2020-01-01T00:00:00Z",
        labels: { a: "b" },
      },
      spec: { size: 1 },
    });
    expect(api.get(Thing, at("a"))).toBe(created);
  });

  it("makes up names, and counts all resources by one counter", () => {
    const first = api.create(Thing, { metadata: { namespace: "default", generateName: "a-" } });
    const second = api.create(Zone, { metadata: { generateName: "a-" } });
    expect(first.metadata.name).toMatch(/^a-[a-z0-9]{5}$/);
    expect(second.metadata.name).not.toBe(first.metadata.name);
    expect([first, second].map(({ metadata }) => metadata.resourceVersion)).toEqual(["2", "3"]);
    expect(api.resourceVersion).toBe("3");
  });

  it("refuses a name that is taken in the namespace, and objects without one", () => {
    api.create(Thing, thing("a"));
    api.create(Thing, thing("a", { metadata: { namespace: "other" } }));
    expect(refusal(() => api.create(Thing, thing("a")))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'things.test.io "a" already exists',
      reason: "AlreadyExists",
      details: { name: "a", group: "test.io", kind: "things" },
      code: 409,
    });
    expect(refusal(() => api.create(Thing, { metadata: {} }))).toMatchObject({
      reason: "Invalid",
      details: { kind: "Thing", causes: [{ field: "metadata.name" }] },
    });
    expect(refusal(() => api.create(Thing, thing("b", { apiVersion: "test.io/v2" }))).code).toBe(400);
    expect(refusal(() => api.create(Thing, thing("b", { metadata: { resourceVersion: "1" } }))).code).toBe(500);
  });

  it("hands out what nobody can change", () => {
    const given = thing("a", { spec: { size: 1 } });
    const created = api.create(Thing, given);
    given.spec = { size: 2 };
    expect(() => Object.assign(created.spec ?? {}, { size: 3 })).toThrow(TypeError);
    expect(api.get(Thing, at("a")).spec).toEqual({ size: 1 });
  });
});

describe("reading", () => {
  it("refuses what is not there", () => {
    expect(refusal(() => api.get(Zone, { name: "a" }))).toMatchObject({
      message: 'zones "a" not found',
      reason: "NotFound",
      details: { name: "a", kind: "zones" },
      code: 404,
    });
  });
});

describe("replacing", () => {
  it("counts generations of what is wanted, not of metadata and status", () => {
    const created = api.create(Thing, thing("a", { spec: { size: 1 } }));
    const bigger = api.replace(Thing, { ...created, spec: { size: 2 }, status: { ready: true } });
    expect(bigger).toMatchObject({ metadata: { generation: 2, resourceVersion: "3" }, spec: { size: 2 } });
    expect(bigger.status).toBeUndefined();
    const labelled = api.replace(Thing, { ...bigger, metadata: { ...bigger.metadata, labels: { a: "b" } } });
    expect(labelled.metadata).toEqual({ ...bigger.metadata, labels: { a: "b" }, resourceVersion: "4" });
    const ready = api.replace(Thing, { ...labelled, spec: { size: 9 }, status: { ready: true } }, "status");
    expect(ready).toEqual({
      ...labelled,
      metadata: { ...labelled.metadata, resourceVersion: "5" },
      status: { ready: true },
    });
    expect(api.replace(Thing, { ...ready, status: {} }).status).toEqual({ ready: true });
  });

  it("refuses a version that is not the present one, and another object of the same name", () => {
    const first = api.create(Thing, thing("a"));
    api.replace(Thing, { ...first, spec: { size: 2 } });
    expect(refusal(() => api.replace(Thing, { ...first, spec: { size: 3 } }))).toMatchObject({
      message: expect.stringContaining("the object has been modified"),
      reason: "Conflict",
      code: 409,
    });
    expect(refusal(() => api.replace(Thing, thing("a", { metadata: { uid: "other" } }))).reason).toBe("Conflict");
    expect(refusal(() => api.replace(Thing, thing("none"))).reason).toBe("NotFound");
    expect(api.replace(Thing, thing("a", { spec: { size: 4 } })).spec).toEqual({ size: 4 });
  });

  it("writes nothing if nothing changes", () => {
    const created = api.create(Thing, thing("a", { spec: { size: 1 } }));
    const events = watching({ resourceVersion: api.resourceVersion });
    const same = { ...created, metadata: { ...created.metadata, generation: 99, finalizers: [] } };
    expect(api.replace(Thing, same)).toBe(created);
    expect(api.patch(Thing, at("a"), { spec: { size: 1, colour: null } })).toBe(created);
    expect(api.resourceVersion).toBe(created.metadata.resourceVersion);
    expect(events).toEqual([]);
  });
});

describe("patching", () => {
  it("merges, and removes what is null", () => {
    api.create(Thing, thing("a", { spec: { size: 1, colour: "red" } }));
    expect(api.patch(Thing, at("a"), { spec: { size: null }, metadata: { labels: { a: "b" } } })).toMatchObject({
      metadata: { labels: { a: "b" }, generation: 2 },
      spec: { colour: "red" },
    });
    const patched = api.patch(Thing, at("a"), { spec: { size: 5 }, status: { seen: 1 } }, "status");
    expect(patched).toMatchObject({ spec: { colour: "red" }, status: { seen: 1 }, metadata: { generation: 2 } });
  });

  it("refuses a stale version, another name, and what is not there", () => {
    const { metadata } = api.create(Thing, thing("a"));
    api.patch(Thing, at("a"), { spec: { size: 1 } });
    const stale = { metadata: { resourceVersion: metadata.resourceVersion } };
    expect(refusal(() => api.patch(Thing, at("a"), stale)).reason).toBe("Conflict");
    expect(refusal(() => api.patch(Thing, at("a"), { metadata: { name: "b" } })).reason).toBe("BadRequest");
    expect(refusal(() => api.patch(Thing, at("none"), {})).reason).toBe("NotFound");
  });
});

describe("deleting", () => {
  it("is a write of its own, told with its own version", () => {
    const created = api.create(Thing, thing("a", { spec: { size: 1 } }));
    const events = watching({ resourceVersion: api.resourceVersion });
    expect(api.delete(Thing, at("a"))).toEqual({ object: created, gone: true });
    expect(events).toEqual([
      { type: "DELETED", object: { ...created, metadata: { ...created.metadata, resourceVersion: "3" } } },
    ]);
    expect(refusal(() => api.delete(Thing, at("a"))).reason).toBe("NotFound");
  });

  it("waits until the finalizers are gone", async () => {
    api.create(Thing, thing("a", { metadata: { finalizers: ["test.io/f"] } }));
    const events = watching();
    await clock.advance(60_000);
    const { object, gone } = api.delete(Thing, at("a"));
    expect(gone).toBe(false);
    expect(object.metadata).toMatchObject({
      deletionTimestamp: "2020-01-01T00:01:00Z",
      deletionGracePeriodSeconds: 0,
      generation: 2,
      resourceVersion: "3",
    });
    expect(api.delete(Thing, at("a"))).toEqual({ object, gone: false });
    const more = { metadata: { finalizers: ["test.io/f", "test.io/g"] } };
    expect(refusal(() => api.patch(Thing, at("a"), more)).reason).toBe("Invalid");

    const last = api.patch(Thing, at("a"), { metadata: { finalizers: null } });
    expect(last.metadata.resourceVersion).toBe("3");
    expect(refusal(() => api.get(Thing, at("a"))).reason).toBe("NotFound");
    expect(events.map(inShort)).toEqual(["ADDED a@2", "MODIFIED a@3", "DELETED a@4"]);
    expect(events[2]?.object.metadata).toMatchObject({ finalizers: ["test.io/f"] });
  });

  it("holds to its preconditions", () => {
    const { metadata } = api.create(Thing, thing("a"));
    for (const must of [{ uid: "other" }, { resourceVersion: "1" }]) {
      expect(refusal(() => api.delete(Thing, at("a"), must)).reason).toBe("Conflict");
    }
    const { uid, resourceVersion } = metadata;
    expect(api.delete(Thing, at("a"), { uid, resourceVersion }).gone).toBe(true);
  });
});
