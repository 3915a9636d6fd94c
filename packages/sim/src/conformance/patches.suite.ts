/** What becomes of objects when they are patched: JSON, merge and strategic merge patches, and how they are refused. */
import { expect } from "vitest";
import { type PatchName, Subject, serveThings } from "./patching.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";

const REJECTED = "the server rejected our request due to an error in our request";

/** A ConfigMap that is there. */
async function configMap(target: Target, data: Record<string, string> = { x: "1", y: "2" }): Promise<Subject> {
  const subject = new Subject(target, `/api/v1/namespaces/${await target.namespace()}/configmaps`);
  await subject.create({ data });
  return subject;
}

export const patches = suite("Patches", (it, target) => {
  const refused: [type: PatchName, body: unknown, status: number, reason: string | undefined, message: string][] = [
    [
      "json",
      {},
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ],
    [
      "json",
      [1],
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
    ],
    [
      "json",
      [{ op: "add", path: 5 }],
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
    ],
    ["json", [{ op: "zap", path: "/data" }], 422, "Invalid", REJECTED],
    ["json", [{ op: "test", path: "/data/x", value: "2" }], 422, "Invalid", REJECTED],
    ["json", [{ op: "remove", path: "/data/nope" }], 422, "Invalid", REJECTED],
    ["json", [{ op: "add", path: "/nope/a", value: "1" }], 422, "Invalid", REJECTED],
    ["json", [{ op: "add", path: "", value: {} }], 422, "Invalid", REJECTED],
    ["json", [null], 422, "Invalid", REJECTED],
    [
      "json",
      Array(10_001).fill({ op: "test", path: "/data/x", value: "1" }),
      413,
      "RequestEntityTooLarge",
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    ],
    [
      "merge",
      [],
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    ["merge", null, 400, "BadRequest", "Invalid JSON Patch"],
    [
      "merge",
      { metadata: { name: "other" } },
      400,
      "BadRequest",
      "the name of the object (other) does not match the name on the URL (it)",
    ],
    [
      "merge",
      { metadata: { name: null } },
      400,
      "BadRequest",
      "the name of the object (it based on URL) was undeterminable: name must be provided",
    ],
    [
      "merge",
      { metadata: { namespace: "other" } },
      400,
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "merge",
      { metadata: { uid: "u" } },
      422,
      "Invalid",
      'ConfigMap "it" is invalid: metadata.uid: Invalid value: "u": field is immutable',
    ],
    [
      "merge",
      { metadata: { resourceVersion: "1" } },
      409,
      "Conflict",
      'Operation cannot be fulfilled on configmaps "it": the object has been modified; please apply your changes to the latest version and try again',
    ],
    ["merge", { metadata: { resourceVersion: "x" } }, 500, undefined, 'strconv.ParseUint: parsing "x": invalid syntax'],
    ["strategic", [], 400, "BadRequest", "json: cannot unmarshal array into Go value of type map[string]interface {}"],
    ["strategic", { $patch: "zap" }, 500, undefined, "unknown patch type: zap in map: map[$patch:zap]"],
    ["strategic", { $retainKeys: "x" }, 400, "BadRequest", "invalid patch format of retainKeys"],
    ["strategic", { $retainKeys: [], data: {} }, 400, "BadRequest", "invalid patch format of retainKeys"],
    ["strategic", { $setElementOrder: [] }, 400, "BadRequest", "invalid patch format of setElementOrder list"],
  ];
  for (const [type, body, status, reason, message] of refused) {
    it(`${type} ${JSON.stringify(body).slice(0, 60)}: ${status}`, async () => {
      const subject = await configMap(target());
      const answer = await subject.patch(type, body);
      expect({ status: answer.status, reason: answer.body.reason, message: answer.body.message }).toEqual({
        status,
        reason,
        message,
      });
      expect((await subject.get()).body.data).toEqual({ x: "1", y: "2" });
    });
  }

  it("what cannot be read after a patch is an invalid patch", async () => {
    const subject = await configMap(target());
    for (const [type, body] of [
      ["merge", { data: 5 }],
      ["json", [{ op: "add", path: "/data", value: 5 }]],
      ["json", [{ op: "replace", path: "", value: [] }]],
      ["strategic", { data: 5 }],
      ["merge", { kind: "Other" }],
    ] as const) {
      const { status, body: answer } = await subject.patch(type, body);
      expect([status, answer.reason]).toEqual([422, "Invalid"]);
      expect(answer.message).toMatch(/^ "" is invalid: patch: Invalid value: /);
      expect(answer.details.causes[0]).toMatchObject({ reason: "FieldValueInvalid", field: "patch" });
    }
  });

  it("what a kind does not have is told of, or refused", async () => {
    const subject = await configMap(target());
    for (const [type, body, field] of [
      ["merge", { foo: 1 }, "foo"],
      ["json", [{ op: "add", path: "/metadata/foo", value: 1 }], "metadata.foo"],
      ["strategic", { metadata: { foo: 1 } }, "metadata.foo"],
    ] as const) {
      const warned = await subject.patch(type, body);
      expect(warned.status).toBe(200);
      expect(warned.warnings).toEqual([`299 - "unknown field \\"${field}\\""`]);
      const { status, body: answer } = await subject.patch(type, body, "?fieldValidation=Strict");
      expect([status, answer.reason]).toEqual([422, "Invalid"]);
      expect(answer.message).toMatch(`strict decoding error: unknown field "${field}"`);
    }
    const operation = { op: "test", path: "/data/x", value: "1", foo: 1 };
    const warned = await subject.patch("json", [operation]);
    expect(warned.warnings).toEqual(['299 - "json patch unknown field \\"[0].foo\\""']);
    const strict = await subject.patch("json", [operation], "?fieldValidation=Strict");
    expect(strict.status).toBe(422);
  });

  it("force is for apply, and managers have readable names", async () => {
    const subject = await configMap(target());
    const messages = [];
    for (const query of ["force=true", `fieldManager=${"x".repeat(129)}`, "fieldManager=a%0Ab"]) {
      const { status, body } = await subject.patch("merge", {}, `?${query}`);
      expect([status, body.reason, body.details.kind]).toEqual([422, "Invalid", "PatchOptions"]);
      messages.push(body.message);
    }
    expect(messages).toEqual([
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
    ]);
  });

  it("a patch of what is not there is not found", async () => {
    const subject = new Subject(target(), `/api/v1/namespaces/${await target().namespace()}/configmaps`);
    const { status, body } = await subject.patch("merge", { data: {} });
    expect([status, body.message]).toEqual([404, 'configmaps "it" not found']);
  });

  it("a patch that changes nothing writes nothing", async () => {
    const subject = await configMap(target());
    const before = await subject.get();
    for (const [type, body] of [
      ["merge", { data: { x: "1" }, metadata: { labels: { gone: null } } }],
      ["strategic", { data: { x: "1" } }],
      ["json", [{ op: "replace", path: "/data/x", value: "1" }]],
      ["json", null],
    ] as const) {
      const after = await subject.patch(type, body, "?fieldManager=other");
      expect(after.body).toEqual(before.body);
    }
  });

  it("a dry run changes nothing", async () => {
    const subject = await configMap(target());
    const dry = await subject.patch("merge", { data: { x: "9" } }, "?dryRun=All&fieldManager=ann");
    expect(dry.body.data).toEqual({ x: "9", y: "2" });
    expect((await subject.get()).body.data).toEqual({ x: "1", y: "2" });
  });

  const changes: [name: string, type: PatchName, body: unknown, data: Record<string, string> | undefined][] = [
    ["adds", "json", [{ op: "add", path: "/data/z", value: "3" }], { x: "1", y: "2", z: "3" }],
    ["removes", "json", [{ op: "remove", path: "/data/x" }], { y: "2" }],
    [
      "replaces what is not there",
      "json",
      [{ op: "replace", path: "/data/z", value: "3" }],
      { x: "1", y: "2", z: "3" },
    ],
    ["moves", "json", [{ op: "move", from: "/data/x", path: "/data/z" }], { y: "2", z: "1" }],
    ["copies", "json", [{ op: "copy", from: "/data/x", path: "/data/z" }], { x: "1", y: "2", z: "1" }],
    [
      "copies what is not there",
      "json",
      [{ op: "copy", from: "/data/nope", path: "/data/z" }],
      { x: "1", y: "2", z: "" },
    ],
    [
      "tests first",
      "json",
      [
        { op: "test", path: "/data/x", value: "1" },
        { op: "remove", path: "/data" },
      ],
      undefined,
    ],
    [
      "tests for nothing",
      "json",
      [
        { op: "test", path: "/data/nope", value: null },
        { op: "remove", path: "/data/x" },
      ],
      { y: "2" },
    ],
    ["ignores what is before the slash", "json", [{ op: "add", path: "any/data", value: { a: "b" } }], { a: "b" }],
    ["merges", "merge", { data: { x: null, z: "3" } }, { y: "2", z: "3" }],
    ["removes all", "merge", { data: null }, undefined],
    ["merges, too", "strategic", { data: { x: null, z: "3" } }, { y: "2", z: "3" }],
    ["replaces a map", "strategic", { data: { $patch: "replace", z: "3" } }, { z: "3" }],
    ["empties a map", "strategic", { data: { $patch: "delete" } }, undefined],
    ["retains keys", "strategic", { data: { $retainKeys: ["y", "z"], z: "3" } }, { y: "2", z: "3" }],
  ];
  for (const [name, type, body, data] of changes) {
    it(`${type} ${name}`, async () => {
      const subject = await configMap(target());
      expect((await subject.patch(type, body)).body.data).toEqual(data);
      expect((await subject.get()).body.data).toEqual(data);
    });
  }

  it("JSON patches know escaped slashes, the end of lists and negative indices", async () => {
    const subject = await configMap(target());
    await subject.patch("merge", {
      metadata: { annotations: { "a/b": "1", "c/d": "2" }, finalizers: ["e.x/a", "e.x/b"] },
    });
    const { body } = await subject.patch("json", [
      { op: "remove", path: "/metadata/annotations/a~1b" },
      { op: "add", path: "/metadata/finalizers/-", value: "e.x/c" },
      { op: "add", path: "/metadata/finalizers/0", value: "e.x/0" },
      { op: "remove", path: "/metadata/finalizers/-2" },
    ]);
    expect(body.metadata.annotations).toEqual({ "c/d": "2" });
    expect(body.metadata.finalizers).toEqual(["e.x/0", "e.x/a", "e.x/c"]);
    await subject.patch("merge", { metadata: { finalizers: null } });
  });

  it("strategic patches merge lists by their keys, in the order they say: Deployment", async () => {
    const namespace = await target().namespace();
    const subject = new Subject(target(), `/apis/apps/v1/namespaces/${namespace}/deployments`);
    const containers = [
      {
        name: "a",
        image: "1",
        env: [
          { name: "X", value: "x" },
          { name: "Y", value: "y" },
        ],
        args: ["1", "2"],
      },
      { name: "b", image: "1", ports: [{ containerPort: 80 }] },
    ];
    const labels = { app: "it" };
    await subject.create({
      spec: {
        replicas: 0,
        paused: true,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers, volumes: [{ name: "v", emptyDir: {} }] } },
      },
    });
    const patch = {
      spec: {
        strategy: { $retainKeys: ["type"], type: "Recreate" },
        template: {
          spec: {
            "$setElementOrder/containers": [{ name: "c" }, { name: "a" }, { name: "b" }],
            containers: [
              { name: "c", image: "3" },
              {
                name: "a",
                args: ["3"],
                "$setElementOrder/env": [{ name: "Z" }, { name: "Y" }],
                env: [
                  { name: "Z", value: "z" },
                  { name: "X", $patch: "delete" },
                ],
              },
            ],
            volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }],
          },
        },
      },
    };
    const { status, body } = await subject.patch("strategic", patch);
    expect(status).toBe(200);
    expect(body.spec.strategy).toEqual({ type: "Recreate" });
    const { spec } = body.spec.template;
    expect(spec.volumes).toEqual([{ name: "v", hostPath: { path: "/", type: "" } }]);
    expect(
      spec.containers.map(({ name, image, env, args }: (typeof containers)[number]) => ({ name, image, env, args })),
    ).toEqual([
      { name: "c", image: "3" },
      {
        name: "a",
        image: "1",
        env: [
          { name: "Z", value: "z" },
          { name: "Y", value: "y" },
        ],
        args: ["3"],
      },
      { name: "b", image: "1" },
    ]);
    const wrong = await subject.patch("strategic", { spec: { template: { spec: { containers: [{ image: "x" }] } } } });
    expect([wrong.status, wrong.body.message]).toEqual([
      500,
      "map: map[image:x] does not contain declared merge key: name",
    ]);
  });

  it("strategic patches merge lists by their keys: Service", async () => {
    const namespace = await target().namespace();
    const subject = new Subject(target(), `/api/v1/namespaces/${namespace}/services`);
    await subject.create({
      spec: {
        selector: { a: "1" },
        ports: [
          { port: 80, name: "http" },
          { port: 443, name: "https" },
        ],
      },
    });
    const { body } = await subject.patch("strategic", {
      spec: {
        ports: [
          { port: 80, name: "web" },
          { port: 90, name: "x" },
        ],
      },
    });
    expect(body.spec.ports.map(({ port, name }: { port: number; name: string }) => [port, name])).toEqual([
      [80, "web"],
      [90, "x"],
      [443, "https"],
    ]);
    const merged = await subject.patch("merge", { spec: { ports: [{ port: 70 }] } });
    expect(merged.body.spec.ports).toHaveLength(1);
  });

  it("strategic patches of a Pod and its status", async () => {
    const namespace = await target().namespace();
    const subject = new Subject(target(), `/api/v1/namespaces/${namespace}/pods`);
    await subject.create({
      metadata: { finalizers: ["e.x/a", "e.x/b"] },
      spec: { schedulerName: "nobody", containers: [{ name: "main", image: "any" }] },
    });
    await subject.patch(
      "strategic",
      {
        status: {
          conditions: [
            { type: "A", status: "True" },
            { type: "B", status: "True" },
          ],
        },
      },
      "/status",
    );
    const { body } = await subject.patch(
      "strategic",
      {
        status: {
          conditions: [
            { type: "A", status: "False" },
            { type: "B", $patch: "delete" },
          ],
        },
      },
      "/status",
    );
    const types = body.status.conditions.filter(({ type }: { type: string }) => type.length === 1);
    expect(types).toMatchObject([{ type: "A", status: "False" }]);
    const without = await subject.patch("strategic", {
      metadata: { "$deleteFromPrimitiveList/finalizers": ["e.x/a"] },
    });
    expect(without.body.metadata.finalizers).toEqual(["e.x/b"]);
    const ordered = await subject.patch("strategic", {
      metadata: { "$setElementOrder/finalizers": ["e.x/c", "e.x/b"], finalizers: ["e.x/c"] },
    });
    expect(ordered.body.metadata.finalizers).toEqual(["e.x/c", "e.x/b"]);
    await subject.patch("merge", { metadata: { finalizers: null } });
    await subject.delete();
  });

  it("strategic patches replace the taints of a Node, and merge its conditions", async () => {
    const subject = new Subject(target(), "/api/v1/nodes", `patched-${await target().namespace()}`);
    await subject.create({
      metadata: { annotations: { "kwok.x-k8s.io/node": "not" } },
      spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
    });
    const { body } = await subject.patch("strategic", { spec: { taints: [{ key: "b", effect: "NoSchedule" }] } });
    expect(body.spec.taints).toEqual([{ key: "b", effect: "NoSchedule" }]);
    await subject.patch("strategic", { status: { conditions: [{ type: "A", status: "True" }] } }, "/status");
    const after = await subject.patch(
      "strategic",
      { status: { conditions: [{ type: "B", status: "True" }] } },
      "/status",
    );
    const types: string[] = after.body.status.conditions.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(["A", "B"]));
    await subject.delete();
  });

  it("custom resources take no strategic patches", async () => {
    await serveThings(target());
    const namespace = await target().namespace();
    const subject = new Subject(target(), `/apis/patch.berth.dev/v1/namespaces/${namespace}/drafts`);
    await subject.create({ apiVersion: "patch.berth.dev/v1", kind: "Draft", spec: { size: 1 } });
    const { status, body } = await subject.patch("strategic", { spec: { size: 2 } });
    expect({ status, reason: body.reason, message: body.message }).toEqual({
      status: 415,
      reason: "UnsupportedMediaType",
      message:
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    });
    for (const [change, field, message] of [
      [{ kind: "Other" }, "kind", 'Other.patch.berth.dev "it" is invalid: kind: Invalid value: "Other": must be Draft'],
      [
        { apiVersion: "v9" },
        "apiVersion",
        'Draft "it" is invalid: apiVersion: Invalid value: "v9": must be patch.berth.dev/v1',
      ],
    ] as const) {
      const refused = await subject.patch("merge", change);
      expect([refused.status, refused.body.message]).toEqual([422, message]);
      expect(refused.body.details.causes[0].field).toBe(field);
    }
    expect((await subject.patch("merge", { spec: { size: 2, map: { a: "1" } } })).body.spec).toMatchObject({
      size: 2,
      map: { a: "1" },
    });
    expect((await subject.patch("json", [{ op: "remove", path: "/spec/map/a" }])).body.spec.map).toEqual({});
  });
});
