import { describe, expect, it } from "vitest";
import type { Rules } from "../api/resource.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { AppServer, appResource, refusalOf } from "./testing.ts";

const fieldsOf = (...names: string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
const spec = (...names: string[]) => ({ "f:spec": fieldsOf(...names) });

describe("whoever writes a field owns it", () => {
  it("when it begins", () => {
    const app = new AppServer();
    app.create(
      { metadata: { labels: { a: "1" } }, spec: { replicas: 1, labels: { x: "y" }, args: ["a"] } },
      { as: "ann" },
    );
    expect(app.owners()).toEqual({
      "ann/Update": {
        "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
        "f:spec": { ".": {}, "f:replicas": {}, "f:labels": { ".": {}, "f:x": {} }, "f:args": {} },
      },
    });
  });

  it("and takes it from others", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1, image: "a" } }, { as: "ann" });
    app.merge({ spec: { replicas: 2 } }, { as: "bob" });
    expect(app.owners()).toEqual({
      "ann/Update": { "f:spec": { ".": {}, "f:image": {} } },
      "bob/Update": spec("replicas"),
    });
    app.merge({ spec: { image: null } }, { as: "cid" });
    expect(app.owners()).toEqual({ "ann/Update": { "f:spec": {} }, "bob/Update": spec("replicas") });
  });

  it("unless it was so anyway", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    const before = app.get();
    app.merge({ spec: { replicas: 1 } }, { as: "bob" });
    expect(app.get()).toBe(before);
    expect(Object.keys(app.owners())).toEqual(["ann/Update"]);
  });

  it("by subresource", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 }, status: { phase: "Ignored" } }, { as: "ann" });
    app.merge({ status: { phase: "On" }, spec: { replicas: 5 } }, { as: "ann", under: "status" });
    expect(app.owners()).toEqual({
      "ann/Update": { "f:spec": { ".": {}, "f:replicas": {} } },
      "ann/Update/status": { "f:status": { ".": {}, "f:phase": {} } },
    });
  });

  it("but not what the server adds", () => {
    const rules: Rules = { prepareForCreate: ({ spec }) => void Object.assign(spec as object, { image: "i" }) };
    const app = new AppServer(appResource({ rules }));
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    expect(app.get().spec).toEqual({ replicas: 1, image: "i" });
    expect(app.owners()).toEqual({ "ann/Update": { "f:spec": { ".": {}, "f:replicas": {} } } });
    app.merge({ spec: { image: "j" } }, { as: "bob" });
    expect(app.owners()["bob/Update"]).toEqual(spec("image"));
  });

  it("and has the time of his last change", async () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    const start = app.times().ann;
    await app.clock.advance(5000);
    app.merge({ spec: { image: "x" } }, { as: "bob" });
    app.merge({ spec: { replicas: null } }, { as: "cid" });
    expect(app.times()).toEqual({ ann: start, bob: "2020-01-01T00:00:05Z" });
  });

  it("also after more writes than are kept", () => {
    const [app, asked] = [new AppServer(), new AppServer()];
    for (const each of [app, asked]) each.create({ spec: { replicas: 0 } }, { as: "ann" });
    for (let i = 1; i < 50; i++) {
      const write = { spec: i % 7 === 0 ? { image: null } : { replicas: i, labels: { [`l${i % 5}`]: `${i}` } } };
      for (const each of [app, asked]) each.merge(write, { as: `m${i % 3}` });
      asked.owners(); // worked out after every write
    }
    expect(app.owners()).toEqual(asked.owners());
  });

  it("and old versions of an object keep their owners", () => {
    const app = new AppServer();
    const first = app.create({ spec: { replicas: 1 } }, { as: "ann" });
    app.merge({ spec: { replicas: 2 } }, { as: "bob" });
    expect(app.owners(first)).toEqual({ "ann/Update": { "f:spec": { ".": {}, "f:replicas": {} } } });
  });

  it("until there are too many, and the oldest are put together", async () => {
    const app = new AppServer();
    app.create({ spec: { labels: { l0: "x" } } }, { as: "m00" });
    for (let i = 1; i < 12; i++) {
      await app.clock.advance(1000);
      app.merge({ spec: { labels: { [`l${i}`]: "x" } } }, { as: `m${String(i).padStart(2, "0")}` });
    }
    const owners = app.owners();
    expect(Object.keys(owners)).toEqual([
      "ancient-changes/Update",
      ...["03", "04", "05", "06", "07", "08", "09", "10", "11"].map((each) => `m${each}/Update`),
    ]);
    expect(owners["ancient-changes/Update"]).toEqual({
      "f:spec": { ".": {}, "f:labels": { ".": {}, "f:l0": {}, "f:l1": {}, "f:l2": {} } },
    });
  });
});

describe("apply", () => {
  it("begins an object, and owns what it says and nothing else", () => {
    const app = new AppServer(appResource({ schema: withDefault() }));
    app.apply(
      { metadata: { labels: { a: "1" } }, spec: { replicas: 1, tags: ["t"], ports: [{ port: 80 }] } },
      { as: "ann" },
    );
    expect(app.get().spec).toMatchObject({ image: "default", ports: [{ port: 80, protocol: "TCP" }] });
    expect(app.owners()).toEqual({
      "ann/Apply": {
        "f:metadata": { "f:labels": { "f:a": {} } },
        "f:spec": {
          "f:replicas": {},
          "f:tags": { 'v:"t"': {} },
          "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
        },
      },
    });
  });

  it("twice is as good as once", async () => {
    const app = new AppServer();
    const configuration = { spec: { replicas: 1, containers: [{ name: "c", image: "i" }] } };
    const once = app.apply(configuration, { as: "ann" });
    await app.clock.advance(60_000);
    expect(app.apply(configuration, { as: "ann" })).toBe(once);
  });

  it("leaves alone what it does not mention", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1, labels: { x: "1" }, containers: [{ name: "a", image: "1" }] } }, { as: "ann" });
    app.apply({ spec: { labels: { y: "2" }, containers: [{ name: "b", image: "2" }] } }, { as: "bob" });
    expect(app.get().spec).toEqual({
      replicas: 1,
      labels: { x: "1", y: "2" },
      containers: [
        { name: "a", image: "1" },
        { name: "b", image: "2" },
      ],
    });
  });

  it("shares a field with those who say the same", () => {
    const app = new AppServer();
    app.apply({ spec: { replicas: 1, image: "i" } }, { as: "ann" });
    const version = app.get().metadata.resourceVersion;
    app.apply({ spec: { replicas: 1 } }, { as: "bob" });
    expect(app.owners()).toEqual({ "ann/Apply": spec("replicas", "image"), "bob/Apply": spec("replicas") });
    // It is a change of the object, though only of who owns what.
    expect(app.get().metadata.resourceVersion).not.toBe(version);
    expect(app.get().metadata.generation).toBe(1);
    // Whoever changes nothing has no time, as in the real server.
    expect(app.times().bob).toBeUndefined();
  });

  it("refuses to change what others own", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1, containers: [{ name: "c", image: "i" }] } }, { as: "ann" });
    expect(refusalOf(() => app.apply({ spec: { replicas: 2 } }, { as: "bob" }))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      reason: "Conflict",
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "ann" using test.io/v1: .spec.replicas',
      details: {
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "ann" using test.io/v1', field: ".spec.replicas" },
        ],
      },
    });
    app.merge({ status: { phase: "On" } }, { as: "kit", under: "status" });
    app.apply({ spec: { image: "x" } }, { as: "cid" });
    const { message } = refusalOf(() =>
      app.apply({ spec: { replicas: 2, image: "y", containers: [{ name: "c", image: "j" }] } }, { as: "bob" }),
    );
    expect(message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "ann" using test.io/v1:',
        "- .spec.replicas",
        '- .spec.containers[name="c"].image',
        'conflicts with "cid":',
        "- .spec.image",
      ].join("\n"),
    );
    expect(refusalOf(() => app.apply({ status: { phase: "Off" } }, { as: "bob", under: "status" })).message).toContain(
      '"kit" with subresource "status" using test.io/v1: .status.phase',
    );
  });

  it("takes it, if forced", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1, image: "i" } }, { as: "ann" });
    app.apply({ spec: { replicas: 2 } }, { as: "bob", force: true });
    expect(app.get().spec).toEqual({ replicas: 2, image: "i" });
    expect(app.owners()).toEqual({
      "bob/Apply": spec("replicas"),
      "ann/Update": { "f:spec": { ".": {}, "f:image": {} } },
    });
  });

  it("loses what others write, and may then not take it back", () => {
    const app = new AppServer();
    app.apply({ spec: { replicas: 1 } }, { as: "ann" });
    app.merge({ spec: { replicas: 2 } }, { as: "bob" });
    expect(app.owners()).toEqual({ "bob/Update": spec("replicas") });
    expect(() => app.apply({ spec: { replicas: 1 } }, { as: "ann" })).toThrow("Apply failed with 1 conflict");
    app.apply({ spec: { replicas: 2 } }, { as: "ann" });
    expect(app.owners()).toEqual({ "ann/Apply": spec("replicas"), "bob/Update": spec("replicas") });
  });

  it("removes what it no longer says, if nobody else owns it", () => {
    const app = new AppServer();
    const containers = [{ name: "a", image: "1" }, { name: "b" }];
    app.apply(
      { spec: { replicas: 1, image: "i", tags: ["x", "y"], containers, pair: { a: "1", b: "2" } } },
      { as: "ann" },
    );
    app.apply({ spec: { replicas: 1, tags: ["y"], containers: [{ name: "b" }] } }, { as: "bob" });
    app.merge({ spec: { pair: { a: "9" } } }, { as: "cid" });
    app.apply({ spec: { tags: ["z"] } }, { as: "ann" });
    expect(app.get().spec).toEqual({ replicas: 1, tags: ["y", "z"], containers: [{ name: "b" }], pair: { a: "9" } });
  });

  it("sees some lists and maps as one thing", () => {
    const app = new AppServer();
    app.apply({ spec: { args: ["a"], selector: { x: "1" } } }, { as: "ann" });
    expect(app.owners()).toEqual({ "ann/Apply": spec("args", "selector") });
    const { details } = refusalOf(() => app.apply({ spec: { args: ["b"], selector: { y: "1" } } }, { as: "bob" }));
    expect(details?.causes?.map(({ field }) => field)).toEqual([".spec.args", ".spec.selector"]);
    app.apply({ spec: { args: ["b"], selector: { y: "1" } } }, { as: "bob", force: true });
    expect(app.get().spec).toEqual({ args: ["b"], selector: { y: "1" } });
    expect(app.owners()).toEqual({ "bob/Apply": spec("args", "selector") });
  });

  it("puts items in its own order, and others between them", () => {
    const app = new AppServer();
    app.create({ spec: { tags: ["a", "b", "c", "d"] } }, { as: "ann" });
    app.apply({ spec: { tags: ["d", "new", "b"] } }, { as: "bob" });
    expect(app.get().spec).toEqual({ tags: ["a", "c", "d", "new", "b"] });
  });

  it("owns each field of what has no schema", () => {
    const app = new AppServer();
    app.apply({ spec: { free: { a: { b: 1 }, list: [1] } } }, { as: "ann" });
    expect(app.owners()).toEqual({
      "ann/Apply": { "f:spec": { "f:free": { "f:a": { ".": {}, "f:b": {} }, "f:list": {} } } },
    });
    app.apply({ spec: { free: { other: true } } }, { as: "bob" });
    app.apply({ spec: { free: { a: { c: 2 } } } }, { as: "ann" });
    expect(app.get().spec).toEqual({ free: { a: { c: 2 }, other: true } });
  });

  it("does not come near the status, except under that name", () => {
    const app = new AppServer();
    app.apply({ spec: { replicas: 1 }, status: { phase: "No" } }, { as: "ann" });
    expect(app.get().status).toBeUndefined();
    app.apply({ spec: { replicas: 9 }, status: { phase: "Yes" } }, { as: "ann", under: "status" });
    expect(app.get()).toMatchObject({ spec: { replicas: 1 }, status: { phase: "Yes" } });
    expect(app.owners()).toEqual({
      "ann/Apply": spec("replicas"),
      "ann/Apply/status": { "f:status": { "f:phase": {} } },
    });
    app.apply({ status: { ready: 1 } }, { as: "ann", under: "status" });
    expect(app.get().status).toEqual({ ready: 1 });
  });

  it("follows when a definition makes one thing of a list or map", () => {
    const app = new AppServer();
    app.apply({ spec: { tags: ["a"], containers: [{ name: "c", image: "i" }], pair: { a: "1" } } }, { as: "ann" });
    const { schema } = appResource();
    const { spec, ...others } = schema.fields as Readonly<Record<string, SchemaNode>>;
    const fields = { ...spec?.fields };
    fields.containers = { ...(fields.containers as SchemaNode), listType: "atomic" };
    fields.pair = { ...(fields.pair as SchemaNode), mapType: "atomic" };
    app.server.resources.add(
      appResource({ schema: { ...schema, fields: { ...others, spec: { type: "object", fields } } } }),
    );
    const changed = { spec: { containers: [{ name: "d" }], pair: { b: "2" }, tags: ["b"] } };
    expect(refusalOf(() => app.apply(changed, { as: "bob" })).details?.causes?.map(({ field }) => field)).toEqual([
      ".spec.containers",
      ".spec.pair",
    ]);
    app.apply(changed, { as: "bob", force: true });
    expect(app.owners()).toEqual({
      "ann/Apply": { "f:spec": { "f:tags": { 'v:"a"': {} } } },
      "bob/Apply": { "f:spec": { "f:containers": {}, "f:pair": {}, "f:tags": { 'v:"b"': {} } } },
    });
  });

  it("does nothing in a dry run, and shows what it would have done", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    const before = app.get();
    const shown = app.apply({ spec: { replicas: 2 } }, { as: "bob", force: true, dryRun: true });
    expect(shown.spec).toEqual({ replicas: 2 });
    expect(Object.keys(app.owners(shown))).toEqual(["bob/Apply", "ann/Update"]);
    expect(app.get()).toBe(before);
    expect(Object.keys(app.owners())).toEqual(["ann/Update"]);
  });

  it.each([
    [{ metadata: { managedFields: [] } }, 400, "metadata.managedFields must be nil"],
    [{ kind: "Other" }, 400, "invalid object type: test.io/v1, Kind=Other"],
    [{ apiVersion: "v1" }, 400, "invalid object type: /v1, Kind=App"],
    [
      { metadata: { namespace: "x" } },
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [{ metadata: { resourceVersion: "1" } }, 409, "the object has been modified"],
    [{ metadata: { uid: "1" } }, 422, "field is immutable"],
    [
      { foo: 1 },
      500,
      "failed to create typed patch object (/it; test.io/v1, Kind=App): .foo: field not declared in schema",
    ],
    [{ spec: { replicas: "1" } }, 500, ".spec.replicas: expected numeric (int or float), got string"],
    [
      { spec: { containers: [{}] } },
      500,
      '.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"]',
    ],
    [{ spec: { tags: ["a", "a"] } }, 500, '.spec.tags: duplicate entries for key [="a"]'],
    [
      { spec: { image: 5, args: {} } },
      500,
      "errors:\n  .spec.args: expected list, got &{map[]}\n  .spec.image: expected string",
    ],
  ])("refuses %j", (fields, code, message) => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } });
    const body = refusalOf(() => app.apply(fields, { as: "ann" }));
    expect(body.code).toBe(code);
    expect(body.message).toContain(message);
  });

  it("wants to know by whom", () => {
    const app = new AppServer();
    expect(refusalOf(() => app.apply({}, { as: "" }))).toMatchObject({
      code: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    });
    expect(refusalOf(() => app.apply({}, { as: "x".repeat(129) })).message).toContain("fieldManager: Too long");
    expect(refusalOf(() => app.merge({}, { as: "a\nb" })).message).toContain(
      "invalid character U+000A (at position 1)",
    );
  });

  it("only begins an object under its own name, and only where there may be none", () => {
    const app = new AppServer();
    expect(() => app.apply({ metadata: { uid: "u" } }, { as: "ann" })).toThrow("no existing object was found");
    expect(() => app.apply({ status: {} }, { as: "ann", under: "status" })).toThrow('apps.test.io "it" not found');
  });
});

describe("a client that says itself who owns what", () => {
  const owned = (manager: string, field: string, operation = "Apply") => ({
    manager,
    operation,
    apiVersion: "test.io/v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { [`f:${field}`]: {} } },
    time: "2020-01-01T00:00:00Z",
  });

  it("is believed", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    app.json([{ op: "replace", path: "/metadata/managedFields", value: [owned("bob", "replicas")] }]);
    expect(app.owners()).toEqual({ "bob/Apply": spec("replicas") });
    expect(app.times()).toEqual({ bob: "2020-01-01T00:00:00Z" });
    app.merge({ metadata: { managedFields: [owned("cid", "image", "Update")] }, spec: { replicas: 3 } }, { as: "dan" });
    expect(app.owners()).toEqual({ "cid/Update": spec("image"), "dan/Update": spec("replicas") });
  });

  it("may look at what there is and change a part of it, as kubectl does when it goes over to server-side apply", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "kubectl-client-side-apply" });
    const version = app.get().metadata.resourceVersion;
    app.json([
      { op: "test", path: "/metadata/managedFields/0/manager", value: "kubectl-client-side-apply" },
      { op: "replace", path: "/metadata/managedFields/0/manager", value: "kubectl" },
      { op: "replace", path: "/metadata/managedFields/0/operation", value: "Apply" },
      { op: "replace", path: "/metadata/resourceVersion", value: version },
    ]);
    expect(Object.keys(app.owners())).toEqual(["kubectl/Apply"]);
    app.apply({ spec: { image: "x" } }, { as: "kubectl" });
    expect(app.get().spec).toEqual({ image: "x" });
  });

  it("may forget all owners; then nobody owns anything until somebody applies", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    app.json([{ op: "replace", path: "/metadata/managedFields", value: [{}] }]);
    expect(app.owners()).toEqual({});
    app.merge({ spec: { replicas: 2 } }, { as: "bob" });
    expect(app.owners()).toEqual({});
    app.apply({ spec: { image: "i" } }, { as: "cid" });
    expect(app.owners()).toEqual({
      "cid/Apply": spec("image"),
      "before-first-apply/Update": { "f:spec": { ".": {}, "f:replicas": {} } },
    });
  });

  it("is ignored if it makes no sense, says nothing, or writes a subresource", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    const before = app.get();
    const entry = owned("bob", "replicas");
    const nonsense = [
      [{ ...entry, operation: "Zap" }],
      [{ ...entry, apiVersion: "" }],
      [{ ...entry, fieldsType: "" }],
      [{ ...entry, fieldsV1: { nonsense: {} } }],
      null,
      "text",
      [5],
      [null],
    ];
    for (const managedFields of nonsense) {
      try {
        app.merge({ metadata: { managedFields } });
      } catch (error) {
        expect(
          refusalOf(() => {
            throw error;
          }).code,
        ).toBeGreaterThanOrEqual(400);
      }
      expect(app.get()).toBe(before);
    }
    app.merge({ metadata: { managedFields: [entry] } }, { under: "status" });
    expect(app.get()).toBe(before);
  });

  it("may put back what it read", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    const before = app.get();
    const managedFields = app.server.ownership.managedFields(before, app.resource);
    app.update({ ...before, metadata: { ...before.metadata, managedFields } }, { as: "bob" });
    expect(app.get()).toBe(before);
    app.update({ ...before, metadata: { ...before.metadata, managedFields }, spec: { replicas: 2 } }, { as: "bob" });
    expect(Object.keys(app.owners())).toEqual(["ann/Update", "bob/Update"]);
  });

  it("speaks of a version that is not served: it is dropped with the next write", () => {
    const app = new AppServer();
    app.create({ spec: { replicas: 1 } }, { as: "ann" });
    app.merge({
      metadata: { managedFields: [{ ...owned("old", "image"), apiVersion: "test.io/v0" }, owned("ann", "replicas")] },
    });
    app.merge({ spec: { image: "x" } }, { as: "bob" });
    expect(Object.keys(app.owners())).toEqual(["ann/Apply", "bob/Update"]);
  });
});

describe("what client-side apply left behind", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const applied = (fields: object) =>
    JSON.stringify({ apiVersion: "test.io/v1", kind: "App", metadata: { name: "it" }, ...fields });

  it("grants kubectl what it applied, and is kept up to date", () => {
    const app = new AppServer();
    const annotations = { [annotation]: applied({ spec: { replicas: 1 } }) };
    app.create({ metadata: { annotations }, spec: { replicas: 1, image: "i" } }, { as: "kubectl-client-side-apply" });
    app.apply({ spec: { replicas: 2 } }, { as: "kubectl" });
    expect(app.get().spec).toEqual({ replicas: 2, image: "i" });
    const text = app.get().metadata.annotations?.[annotation] ?? "";
    expect(text).toBe(`${applied({ spec: { replicas: 2 } })}\n`);
  });

  it("grants nothing else, and nobody else", () => {
    const app = new AppServer();
    const annotations = { [annotation]: applied({ spec: { replicas: 1 } }) };
    app.create({ metadata: { annotations }, spec: { replicas: 1, image: "i" } }, { as: "kubectl-client-side-apply" });
    expect(refusalOf(() => app.apply({ spec: { image: "j", replicas: 2 } }, { as: "kubectl" })).message).toMatch(
      /1 conflict.*\.spec\.image$/,
    );
    expect(() => app.apply({ spec: { replicas: 2 } }, { as: "other" })).toThrow("1 conflict");
    app.merge({ spec: { replicas: 5 } }, { as: "hpa" });
    expect(() => app.apply({ spec: { replicas: 2 } }, { as: "kubectl" })).toThrow('1 conflict: conflict with "hpa"');
  });

  it("may be nonsense", () => {
    const app = new AppServer();
    app.create({ metadata: { annotations: { [annotation]: "{" } }, spec: { replicas: 1 } }, { as: "ann" });
    expect(() => app.apply({ spec: { replicas: 2 } }, { as: "kubectl" })).toThrow("1 conflict");
  });
});

function withDefault() {
  const { schema } = appResource();
  const fields = schema.fields as NonNullable<typeof schema.fields>;
  const inner = fields.spec?.fields;
  return {
    ...schema,
    fields: {
      ...fields,
      spec: { type: "object" as const, fields: { ...inner, image: { type: "string" as const, default: "default" } } },
    },
  };
}
