import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { KubernetesObject } from "../objects/meta.ts";
import { VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import { ModelApi } from "./model-api.ts";
import type { WatchEvent } from "./selection.ts";
import { ApiFailure } from "./status.ts";
import { at, inShort, namesOf, refusal, Thing, thing, Zone } from "./things.ts";

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

describe("listing", () => {
  beforeEach(() => {
    for (const name of ["c", "a", "d", "b"]) api.create(Thing, thing(name, { metadata: { labels: { name } } }));
    api.create(Thing, thing("a", { metadata: { namespace: "b-side" } }));
  });

  it("sorts by namespace and name, and selects", () => {
    expect(api.list(Thing)).toMatchObject({
      apiVersion: "test.io/v1",
      kind: "ThingList",
      metadata: { resourceVersion: "6" },
    });
    expect(namesOf(api.list(Thing))).toEqual(["a", "a", "b", "c", "d"]);
    expect(namesOf(api.list(Thing, { namespace: "b-side" }))).toEqual(["a"]);
    expect(namesOf(api.list(Thing, { labelSelector: "name in (a,b),name!=b" }))).toEqual(["a"]);
    expect(namesOf(api.list(Thing, { fieldSelector: "metadata.name=a,metadata.namespace!=default" }))).toEqual(["a"]);
    expect(namesOf(api.list(Zone))).toEqual([]);
    expect(refusal(() => api.list(Thing, { labelSelector: "a in (" })).reason).toBe("BadRequest");
    expect(refusal(() => api.list(Thing, { fieldSelector: "spec.size=1" })).message).toBe(
      "field label not supported: spec.size",
    );
  });

  it("gives pages of one moment, whatever happens in between", () => {
    const first = api.list(Thing, { namespace: "default", limit: 2 });
    expect(namesOf(first)).toEqual(["a", "b"]);
    expect(first.metadata.remainingItemCount).toBe(2);
    api.create(Thing, thing("bb"));
    api.delete(Thing, at("d"));
    api.patch(Thing, at("c"), { spec: { size: 1 } });
    const second = api.list(Thing, { namespace: "default", limit: 2, continue: first.metadata.continue });
    expect(namesOf(second)).toEqual(["c", "d"]);
    expect(second.items[0]?.spec).toBeUndefined();
    expect(second.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
  });

  it("does not count what a selector leaves out", () => {
    const { metadata } = api.list(Thing, { labelSelector: "name", limit: 2 });
    expect(metadata).toEqual({ resourceVersion: "6", continue: expect.any(String) });
  });

  it("expires a page whose moment has been compacted, and offers the rest as it is now", () => {
    const { metadata } = api.list(Thing, { namespace: "default", limit: 2 });
    api.create(Thing, thing("bb"));
    api.compact();
    const status = refusal(() => api.list(Thing, { namespace: "default", continue: metadata.continue }));
    expect(status).toMatchObject({ reason: "Expired", code: 410, metadata: { continue: expect.any(String) } });
    const rest = api.list(Thing, { namespace: "default", continue: status.metadata.continue });
    expect(namesOf(rest)).toEqual(["bb", "c", "d"]);
    expect(rest.metadata.resourceVersion).toBe(api.resourceVersion);
  });

  it("takes versions as the API server does", () => {
    const before = api.resourceVersion;
    api.delete(Thing, at("a"));
    const exactly = { resourceVersion: before, resourceVersionMatch: "Exact" };
    expect(namesOf(api.list(Thing, { namespace: "default", ...exactly }))).toEqual(["a", "b", "c", "d"]);
    expect(namesOf(api.list(Thing, { namespace: "default", resourceVersion: before }))).toEqual(["b", "c", "d"]);
    expect(namesOf(api.list(Thing, { namespace: "default", resourceVersion: "0", limit: 1 }))).toEqual(["b", "c", "d"]);
    expect(refusal(() => api.list(Thing, { resourceVersion: "99" }))).toMatchObject({
      message: "Timeout: Too large resource version: 99, current: 7",
      code: 504,
    });
    expect(refusal(() => api.list(Thing, { resourceVersionMatch: "Exact" })).code).toBe(422);
    expect(refusal(() => api.list(Thing, { resourceVersion: "x" })).code).toBe(400);
    expect(refusal(() => api.list(Thing, { continue: "nonsense" })).code).toBe(400);
    api.compact();
    expect(refusal(() => api.list(Thing, exactly)).reason).toBe("Expired");
  });
});

describe("watching", () => {
  it("begins with what is there, or goes on from a version", () => {
    api.create(Thing, thing("b"));
    api.create(Thing, thing("a"));
    api.patch(Thing, at("b"), { spec: { size: 1 } });
    const all = watching();
    const some = watching({ resourceVersion: "3" });
    const future = watching({ resourceVersion: "5" });
    api.delete(Thing, at("a"));
    api.create(Thing, thing("c"));
    expect(all.map(inShort)).toEqual(["ADDED a@3", "ADDED b@4", "DELETED a@5", "ADDED c@6"]);
    expect(some.map(inShort)).toEqual(["MODIFIED b@4", "DELETED a@5", "ADDED c@6"]);
    expect(future.map(inShort)).toEqual(["ADDED c@6"]);
  });

  it("tells of objects that come into the selection and leave it", () => {
    const events = watching({ labelSelector: "colour=red", namespace: "default" });
    api.create(Thing, thing("a", { metadata: { labels: { colour: "red" } }, spec: { size: 1 } }));
    api.patch(Thing, at("a"), { metadata: { labels: { colour: "blue" } }, spec: { size: 2 } });
    api.patch(Thing, at("a"), { spec: { size: 3 } });
    api.patch(Thing, at("a"), { metadata: { labels: { colour: "red" } } });
    api.create(Thing, thing("a", { metadata: { namespace: "other", labels: { colour: "red" } } }));
    expect(events.map(inShort)).toEqual(["ADDED a@2", "DELETED a@3", "ADDED a@5"]);
    expect(events[1]?.object).toMatchObject({ metadata: { labels: { colour: "red" } }, spec: { size: 1 } });
  });

  it("cannot go on from before a compaction", () => {
    api.create(Thing, thing("a"));
    api.create(Thing, thing("b"));
    api.compact();
    expect(refusal(() => watching({ resourceVersion: "2" }))).toMatchObject({
      message: "too old resource version: 2 (3)",
      reason: "Expired",
      code: 410,
    });
    expect(watching({ resourceVersion: "3" })).toEqual([]);
    expect(watching().map(inShort)).toEqual(["ADDED a@2", "ADDED b@3"]);
  });

  it("is over when it is called off", () => {
    const events: WatchEvent[] = [];
    const stop = api.watch(Thing, {}, (event) => events.push(event));
    stop();
    api.create(Thing, thing("a"));
    expect(events).toEqual([]);
  });

  it("comes to the same as the list, whenever it breaks off and goes on", () => {
    const actions = ["create", "patch", "delete", "compact", "connect", "disconnect"] as const;
    const script = fc.array(fc.tuple(fc.constantFrom(...actions), fc.constantFrom("a", "b", "c")), { maxLength: 40 });
    fc.assert(
      fc.property(script, (steps) => {
        api = new ModelApi({ clock, random: new SeededRandom("script") });
        const reader = new Reader();
        for (const [size, [action, name]] of [...steps, ["connect", ""] as const].entries()) {
          try {
            if (action === "create") api.create(Thing, thing(name));
            if (action === "patch") api.patch(Thing, at(name), { spec: { size } });
            if (action === "delete") api.delete(Thing, at(name));
            if (action === "compact") api.compact();
            if (action === "disconnect") reader.disconnect();
            if (action === "connect") reader.connect();
          } catch (error) {
            if (!(error instanceof ApiFailure)) throw error; // there is nothing to patch, or there is already
          }
        }
        expect([...reader.seen.values()].sort(byName)).toEqual(api.list(Thing).items);
      }),
      { numRuns: 100 },
    );
  });
});

/** The least that an informer does. */
class Reader {
  readonly seen = new Map<string | undefined, KubernetesObject>();
  #version = "0";
  disconnect = () => {};

  connect(): void {
    this.disconnect();
    try {
      this.disconnect = api.watch(Thing, { resourceVersion: this.#version }, (event) => this.#take(event));
    } catch (error) {
      if (!(error instanceof ApiFailure && error.code === 410)) throw error;
      this.seen.clear();
      this.disconnect = api.watch(Thing, {}, (event) => this.#take(event));
    }
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "ERROR") throw new Error("the model throws, and sends no such events");
    if (type === "DELETED") this.seen.delete(object.metadata.name);
    else this.seen.set(object.metadata.name, object);
    this.#version = object.metadata.resourceVersion ?? "";
  }
}

function byName(a: KubernetesObject, b: KubernetesObject): number {
  return (a.metadata.name ?? "").localeCompare(b.metadata.name ?? "");
}
