/** REST of testbeds, slots, Schedulings and nodes, on a whole embedded cluster. */
import { coreV1, sleep, VirtualClock } from "@berth/kube";
import { Scheduling, Slot } from "@berth/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";

let world: Embedded;
const ask: Embedded["ask"] = (...asked) => world.ask(...asked);
beforeAll(async () => {
  world = await startEmbedded({ clock: new VirtualClock() });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const manifest = (name: string, spec: object) => ({ metadata: { name }, spec: { testbed: { name: "main" }, ...spec } });
const make = async (name: string, spec: object) => {
  const { status, body } = await ask("POST", "/v1/schedulings", manifest(name, spec));
  expect([status, body.code]).toEqual([201, undefined]);
};

describe("the time", () => {
  it("R23 is that of the cluster", async () => {
    const { status, body: before } = await ask("GET", "/v1/time");
    expect([status, before.clock]).toEqual([200, "virtual"]);
    await sleep(world.clock, 60_000);
    expect((await ask("GET", "/v1/time")).body.time).toBeGreaterThanOrEqual(before.time + 60);
  });
});

describe("testbeds and nodes", () => {
  it("R10 are shown with their slots", async () => {
    const { body: testbeds } = await ask("GET", "/v1/testbeds");
    expect(testbeds).toMatchObject({ total: 1, items: [{ name: "main", nodes: 2, ready: true, slots: { total: 4 } }] });
    const { body: slots } = await ask("GET", "/v1/testbeds/main/slots");
    expect(slots.items.map(({ id, node }: { id: number; node: string }) => `${id} ${node}`)).toEqual([
      "0 n0",
      "1 n0",
      "2 n1",
      "3 n1",
    ]);
    const { body: nodes } = await ask("GET", "/v1/nodes");
    expect(nodes.items).toMatchObject([
      { name: "n0", ready: true, schedulable: true, slots: [{ id: 0 }, { id: 1 }] },
      { name: "n1", ready: true, schedulable: true, slots: [{ id: 2 }, { id: 3 }] },
    ]);
    expect((await ask("GET", "/v1/nodes/n1")).body).toMatchObject({ name: "n1", allocatable: { cpu: "8" } });
  });

  it("R10 are not shown if there are none", async () => {
    for (const path of [
      "/v1/testbeds/x",
      "/v1/testbeds/x/slots",
      "/v1/nodes/x",
      "/v1/schedulings/x",
      "/v1/jobs/x/runs",
    ]) {
      const { status, body } = await ask("GET", path);
      expect([status, body.code], path).toEqual([404, "BERTH_NOT_FOUND"]);
    }
  });

  it("R12 are shown page by page, slots as well", async () => {
    const first = await ask("GET", "/v1/testbeds/main/slots?limit=3");
    expect(first.body).toMatchObject({ total: 4, next: 2 });
    const second = await ask("GET", "/v1/testbeds/main/slots?limit=3&after=2");
    expect(second.body.items).toMatchObject([{ id: 3 }]);
    expect(second.body).not.toHaveProperty("next");
    const { body } = await ask("GET", "/v1/nodes?limit=1");
    expect(body).toMatchObject({ items: [{ name: "n0" }], total: 2, next: "n0" });
    expect((await ask("GET", `/v1/nodes?limit=1&after=${body.next}`)).body.items).toMatchObject([{ name: "n1" }]);
  });

  it("R12 are chosen by labels", async () => {
    const { body } = await ask("GET", "/v1/nodes?labelSelector=example.org/slots%20in%20(1,7)");
    expect(body).toMatchObject({ total: 1, items: [{ name: "n1" }] });
    const wrong = await ask("GET", "/v1/nodes?labelSelector=a%20b");
    expect([wrong.status, wrong.body.code]).toEqual([400, "BERTH_BODY_INVALID"]);
    expect(wrong.body.detail).toContain("query.labelSelector");
  });

  it("R13 have ETags that change with everything that is shown, also what comes from elsewhere", async () => {
    const { headers } = await ask("GET", "/v1/nodes/n0");
    const etag = headers.get("etag") as string;
    for (const known of [etag, `W/${etag}`, `"1", ${etag}`, "*"]) {
      const { status, body } = await ask("GET", "/v1/nodes/n0", undefined, { "if-none-match": known });
      expect([status, body], known).toEqual([304, ""]);
    }
    // A slot more, and the node is the same object as before.
    const [slot] = (await world.sim.client.list(Slot, { namespace: "default" })).items;
    const version = (await world.sim.client.get(coreV1.Node, { name: "n0" })).metadata.resourceVersion;
    await world.sim.client.create(Slot, {
      metadata: { name: "extra", namespace: "default" },
      spec: { ...slot?.spec, testbed: "other", nodeName: "n0", position: 77 },
    } as Slot);
    await eventually(async () => (await ask("GET", "/v1/nodes/n0")).body.slots.length === 3);
    const after = await ask("GET", "/v1/nodes/n0", undefined, { "if-none-match": etag });
    expect([after.status, after.body.version]).toEqual([200, version]);
    await world.sim.client.delete(Slot, { namespace: "default", name: "extra" });
    await eventually(async () => (await ask("GET", "/v1/nodes/n0")).body.slots.length === 2);
  });

  it("R13 are answered without a body to HEAD, with the same headers", async () => {
    const [get, head] = [await ask("GET", "/v1/testbeds/main"), await ask("HEAD", "/v1/testbeds/main")];
    expect([head.status, head.body, head.headers.get("etag")]).toEqual([200, "", get.headers.get("etag")]);
  });
});

describe("Schedulings", () => {
  it("R11 are made, shown, replaced, changed and deleted", async () => {
    await ask("POST", "/v1/jobs", jobManifest("endless", 1e6));
    const made = await ask(
      "POST",
      "/v1/schedulings",
      manifest("one", { slotBased: [{ name: "endless", slots: [0] }] }),
    );
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe("/v1/schedulings/one");
    expect(made.body).toMatchObject({ strategy: "slots", exclusive: false, jobs: [{ name: "endless", slots: [0] }] });
    await eventually(async () => (await ask("GET", "/v1/jobs/endless")).body.phase === "Running");
    const changed = await ask("PATCH", "/v1/schedulings/one", {
      spec: { reason: "by hand" },
      metadata: { labels: { a: "b" } },
    });
    expect([changed.status, changed.body.reason]).toEqual([200, "by hand"]);
    const replaced = await ask("PUT", "/v1/schedulings/one", manifest("one", { queueBased: [] }));
    expect([replaced.status, replaced.body.strategy]).toEqual([200, "queue"]);
    expect(replaced.body).not.toHaveProperty("reason");
    await eventually(async () => (await ask("GET", "/v1/jobs/endless")).body.waiting);
    expect((await ask("DELETE", "/v1/schedulings/one")).status).toBe(204);
    await eventually(async () => (await ask("GET", "/v1/schedulings/one")).status === 404);
  });

  it("R11 are replaced whatever they are now, unless somebody says what they have to be", async () => {
    await make("busy", { queueBased: [] });
    const { headers } = await ask("GET", "/v1/schedulings/busy");
    const next = manifest("busy", { queueBased: [], reason: "newer" });
    // Somebody else writes behind the gateway's back, again and again.
    const writes = Array.from({ length: 5 }, (_, index) =>
      world.sim.client.patch(
        Scheduling,
        { namespace: "default", name: "busy" },
        { merge: { spec: { reason: `${index}` } } },
      ),
    );
    const [answer] = await Promise.all([ask("PUT", "/v1/schedulings/busy", next), ...writes]);
    expect(answer.status).toBe(200);
    const etag = { "if-match": headers.get("etag") as string };
    for (const [method, body] of [
      ["PUT", next],
      ["PATCH", { spec: {} }],
      ["DELETE", undefined],
    ] as const) {
      const { status, body: problem } = await ask(method, "/v1/schedulings/busy", body, etag);
      expect([status, problem.code], method).toEqual([412, "BERTH_CHANGED_MEANWHILE"]);
    }
    const now = (await ask("GET", "/v1/schedulings/busy")).headers.get("etag") as string;
    expect((await ask("PUT", "/v1/schedulings/busy", next, { "if-match": now })).status).toBe(200);
  });

  it.each([
    ["PUT", "/v1/schedulings/x", manifest("y", { queueBased: [] }), 422, "BERTH_MANIFEST_INVALID"],
    ["PUT", "/v1/schedulings/nobody", manifest("nobody", { queueBased: [] }), 404, "BERTH_NOT_FOUND"],
    ["PATCH", "/v1/schedulings/nobody", { spec: {} }, 404, "BERTH_NOT_FOUND"],
    ["PATCH", "/v1/schedulings/nobody", { status: {} }, 400, "BERTH_BODY_INVALID"],
    ["PATCH", "/v1/schedulings/nobody", { metadata: { name: "x" } }, 400, "BERTH_BODY_INVALID"],
    ["DELETE", "/v1/schedulings/nobody", undefined, 404, "BERTH_NOT_FOUND"],
    ["POST", "/v1/schedulings", manifest("z", {}), 422, "BERTH_MANIFEST_INVALID"],
    ["POST", "/v1/schedulings", manifest("z", { queueBased: [], slotBased: [] }), 422, "BERTH_MANIFEST_INVALID"],
    [
      "POST",
      "/v1/schedulings",
      manifest("z", { slotBased: [{ name: "a", slots: [-1] }] }),
      422,
      "BERTH_MANIFEST_INVALID",
    ],
    ["POST", "/v1/schedulings", manifest("z", { queueBased: [], other: 1 }), 422, "BERTH_MANIFEST_INVALID"],
  ])("R11 are not made of what makes no sense: %s %s %o", async (method, path, body, status, code) => {
    const answer = await ask(method, path, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});

describe("a list", () => {
  it("R12 is continued after the last name, whatever comes and goes meanwhile", async () => {
    for (const name of ["p-1", "p-2", "p-3", "p-4"]) await make(name, { queueBased: [] });
    const labels = { labelSelector: "" };
    const page = async (after = "") => {
      const query = new URLSearchParams({ ...labels, limit: "2", ...(after && { after }) });
      return (await ask("GET", `/v1/schedulings?${query}`)).body;
    };
    const seen: string[] = [];
    let { items, next } = await page("o");
    seen.push(...items.map(({ name }: { name: string }) => name));
    await ask("DELETE", "/v1/schedulings/p-1");
    await make("p-0", { queueBased: [] });
    while (next !== undefined) {
      ({ items, next } = await page(next));
      seen.push(...items.map(({ name }: { name: string }) => name));
    }
    expect(seen).toEqual(["p-1", "p-2", "p-3", "p-4"]);
  });

  it.each(["limit=0", "limit=1001", "limit=1.5", "limit=x", "limit=", "after=a&after=b", "offset=3"])(
    "R12 is not asked for by %s",
    async (query) => {
      const { status, body } = await ask("GET", `/v1/jobs?${query}`);
      expect([status, body.code]).toEqual([400, "BERTH_BODY_INVALID"]);
    },
  );
});
