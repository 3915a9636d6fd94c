/** Server-side apply: what becomes of objects, who owns which field, and how conflicts are told. */
import { expect } from "vitest";
import type { JsonObject } from "../api/json.ts";
import { owners, refusal, Subject, serveThings } from "./patching.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";

const as = (manager: string, more = "") => `?fieldManager=${manager}${more}`;
const FORCE = "&force=true";
const leaves = (...names: string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));

/** A place for one object, and its configurations. */
interface Place {
  readonly subject: Subject;
  configuration(fields: JsonObject): JsonObject;
}

async function place(target: Target, apiVersion: string, kind: string, plural: string): Promise<Place> {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const subject = new Subject(target, `${group}/namespaces/${await target.namespace()}/${plural}`);
  const configuration = (fields: JsonObject) => ({
    apiVersion,
    kind,
    ...fields,
    metadata: { name: "it", ...(fields.metadata as JsonObject) },
  });
  return { subject, configuration };
}

const configMap = (target: Target) => place(target, "v1", "ConfigMap", "configmaps");
const deployment = (target: Target) => place(target, "apps/v1", "Deployment", "deployments");

async function thing(target: Target): Promise<Place> {
  await serveThings(target);
  return place(target, "patch.berth.dev/v1", "Draft", "drafts");
}

/** Nothing comes of it: no replicas, and nobody rolls it out. */
const quiet = {
  replicas: 0,
  paused: true,
  selector: { matchLabels: { app: "it" } },
  template: { metadata: { labels: { app: "it" } }, spec: { containers: [{ name: "main", image: "any" }] } },
};

export const apply = suite("Server-side apply", (it, target) => {
  it("begins an object, and owns what it says", async () => {
    const { subject, configuration } = await configMap(target());
    const begun = await subject.patch(
      "apply",
      configuration({ metadata: { labels: { l: "1" } }, data: { a: "1" } }),
      as("ann"),
    );
    expect(begun.status).toBe(201);
    expect(begun.body).toMatchObject({ data: { a: "1" }, metadata: { labels: { l: "1" } } });
    expect(owners(begun)).toEqual({
      "ann/Apply": { "f:data": leaves("a"), "f:metadata": { "f:labels": leaves("l") } },
    });
    const [entry] = begun.body.metadata.managedFields;
    expect(entry).toEqual({
      manager: "ann",
      operation: "Apply",
      apiVersion: "v1",
      time: begun.body.metadata.creationTimestamp,
      fieldsType: "FieldsV1",
      fieldsV1: expect.anything(),
    });
  });

  it("a second time writes nothing", async () => {
    const { subject, configuration } = await configMap(target());
    const once = await subject.patch("apply", configuration({ data: { a: "1" } }), as("ann"));
    const twice = await subject.patch("apply", configuration({ data: { a: "1" } }), as("ann"));
    expect(twice.status).toBe(200);
    expect(twice.body).toEqual(once.body);
  });

  it("conflicts with others, unless forced", async () => {
    const { subject, configuration } = await configMap(target());
    await subject.create({ data: { a: "1", b: "1", c: "1" } }, as("ann"));
    expect(refusal(await subject.patch("apply", configuration({ data: { a: "2", d: "1" } }), as("bob")))).toEqual({
      status: 409,
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "ann" using v1: .data.a',
      causes: [{ reason: "FieldManagerConflict", message: 'conflict with "ann" using v1', field: ".data.a" }],
    });
    await subject.patch("apply", configuration({ data: { c: "1", e: "1" } }), as("cid"));
    const several = refusal(
      await subject.patch("apply", configuration({ data: { a: "2", c: "2", e: "2" } }), as("bob")),
    );
    expect(several.message).toBe(
      [
        'Apply failed with 4 conflicts: conflicts with "ann" using v1:',
        "- .data.a",
        "- .data.c",
        'conflicts with "cid":',
        "- .data.c",
        "- .data.e",
      ].join("\n"),
    );
    expect(several.causes).toHaveLength(4);
    const forced = await subject.patch("apply", configuration({ data: { a: "2", c: "2", e: "2" } }), as("bob", FORCE));
    expect(forced.body.data).toEqual({ a: "2", b: "1", c: "2", e: "2" });
    expect(owners(forced)).toEqual({
      "ann/Update": { "f:data": { ".": {}, "f:b": {} } },
      "bob/Apply": { "f:data": leaves("a", "c", "e") },
    });
  });

  it("owners share what they agree on, and what nobody wants any more goes", async () => {
    const { subject, configuration } = await configMap(target());
    await subject.patch("apply", configuration({ data: { a: "1", b: "1", c: "1" } }), as("ann"));
    const before = await subject.get();
    const shared = await subject.patch("apply", configuration({ data: { a: "1" } }), as("bob"));
    expect(owners(shared)).toEqual({
      "ann/Apply": { "f:data": leaves("a", "b", "c") },
      "bob/Apply": { "f:data": leaves("a") },
    });
    // Ownership is part of the object: there is a new version, and nothing else.
    expect(shared.body.metadata.resourceVersion).not.toBe(before.body.metadata.resourceVersion);
    expect(shared.body.metadata.managedFields.map((each: { time?: string }) => each.time === undefined)).toEqual([
      true,
      false,
    ]);
    await subject.patch("merge", { data: { b: "2" } }, as("cid"));
    const after = await subject.patch("apply", configuration({}), as("ann"));
    expect(after.body.data).toEqual({ a: "1", b: "2" });
    expect(owners(after)).toEqual({ "bob/Apply": { "f:data": leaves("a") }, "cid/Update": { "f:data": leaves("b") } });
  });

  it("whoever writes takes what he changes", async () => {
    const { subject, configuration } = await configMap(target());
    await subject.patch("apply", configuration({ data: { a: "1", b: "1" } }), as("ann"));
    await subject.patch("merge", { data: { a: "2" } }, as("bob"));
    const { body } = await subject.get();
    const put = await subject.update({ ...body, data: { ...body.data, c: "1" } }, as("cid"));
    expect(owners(put)).toEqual({
      "ann/Apply": { "f:data": leaves("b") },
      "bob/Update": { "f:data": leaves("a") },
      "cid/Update": { "f:data": leaves("c") },
    });
    expect(refusal(await subject.patch("apply", configuration({ data: { a: "1", b: "1" } }), as("ann"))).message).toBe(
      'Apply failed with 1 conflict: conflict with "bob" using v1: .data.a',
    );
  });

  const refused: [name: string, configuration: unknown, query: string, status: number, message: string][] = [
    [
      "no manager",
      { apiVersion: "v1", kind: "ConfigMap" },
      "",
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    ["nothing", null, as("x"), 400, "invalid object type: /, Kind="],
    [
      "a list",
      [],
      as("x"),
      400,
      "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    ["another kind", { apiVersion: "v1", kind: "Secret" }, as("x"), 400, "invalid object type: /v1, Kind=Secret"],
    [
      "another version",
      { apiVersion: "apps/v1", kind: "ConfigMap" },
      as("x"),
      400,
      "invalid object type: apps/v1, Kind=ConfigMap",
    ],
  ];
  for (const [name, body, query, status, message] of refused) {
    it(`is refused: ${name}`, async () => {
      const { subject } = await configMap(target());
      const answer = await subject.patch("apply", body, query);
      expect([answer.status, answer.body.message]).toEqual([status, message]);
    });
  }

  const wrong: [fields: JsonObject, status: number, message: string][] = [
    [{ metadata: { managedFields: [] } }, 400, "metadata.managedFields must be nil"],
    [{ metadata: { name: "other" } }, 400, "the name of the object (other) does not match the name on the URL (it)"],
    [
      { metadata: { namespace: "other" } },
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      { metadata: { resourceVersion: "1" } },
      409,
      'Operation cannot be fulfilled on configmaps "it": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [
      { metadata: { uid: "u" } },
      422,
      'ConfigMap "it" is invalid: metadata.uid: Invalid value: "u": field is immutable',
    ],
    [
      { foo: 1 },
      500,
      "failed to create typed patch object (/it; /v1, Kind=ConfigMap): .foo: field not declared in schema",
    ],
    [
      { data: { a: 1 } },
      500,
      "failed to create typed patch object (/it; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}",
    ],
    [
      { data: [] },
      500,
      "failed to create typed patch object (/it; /v1, Kind=ConfigMap): .data: expected map, got &{[]}",
    ],
    [
      { metadata: { finalizers: ["a/b", "a/b"] } },
      500,
      'failed to create typed patch object (/it; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries for key [="a/b"]',
    ],
  ];
  for (const [fields, status, message] of wrong) {
    it(`is refused: ${JSON.stringify(fields)}`, async () => {
      const { subject, configuration } = await configMap(target());
      await subject.create({ data: {} });
      const answer = await subject.patch("apply", configuration(fields), as("x"));
      expect([answer.status, answer.body.message]).toEqual([status, message]);
    });
  }

  it("what is not there is begun only as itself", async () => {
    const { subject, configuration } = await configMap(target());
    const other = await subject.patch("apply", configuration({ metadata: { name: "other" } }), as("x"));
    expect(other.status).toBe(400);
    const known = await subject.patch("apply", configuration({ metadata: { uid: "u" } }), as("x"));
    expect([known.status, known.body.message]).toEqual([
      409,
      'Operation cannot be fulfilled on configmaps "it": uid mismatch: the provided object specified uid u, and no existing object was found',
    ]);
    const versioned = await subject.patch("apply", configuration({ metadata: { resourceVersion: "1" } }), as("x"));
    expect(versioned.status).toBe(201);
  });

  it("a dry run shows what would be, owners included", async () => {
    const { subject, configuration } = await configMap(target());
    const dry = await subject.patch("apply", configuration({ data: { a: "1" } }), as("ann", "&dryRun=All"));
    expect(dry.status).toBe(201);
    expect(owners(dry)).toEqual({ "ann/Apply": { "f:data": leaves("a") } });
    expect((await subject.get()).status).toBe(404);
    await subject.create({ data: { a: "1" } }, as("bob"));
    const conflict = await subject.patch("apply", configuration({ data: { a: "2" } }), as("ann", "&dryRun=All"));
    expect(conflict.status).toBe(409);
    const forced = await subject.patch("apply", configuration({ data: { a: "2" } }), as("ann", `&dryRun=All${FORCE}`));
    expect(owners(forced)).toEqual({ "ann/Apply": { "f:data": leaves("a") }, "bob/Update": { "f:data": {} } });
    expect(owners(await subject.get())).toEqual({ "bob/Update": { "f:data": { ".": {}, "f:a": {} } } });
  });

  it("clients may say who owns what", async () => {
    const { subject, configuration } = await configMap(target());
    await subject.create({ data: { a: "1", b: "1" } }, as("ann"));
    const entry = {
      manager: "bob",
      operation: "Apply",
      apiVersion: "v1",
      time: "2020-01-01T00:00:00Z",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": leaves("a") },
    };
    const path = "/metadata/managedFields";
    const told = await subject.patch("json", [{ op: "replace", path, value: [entry] }], as("x"));
    expect(told.body.metadata.managedFields).toEqual([entry]);
    const pruned = await subject.patch("apply", configuration({ data: { c: "1" } }), as("bob"));
    expect(pruned.body.data).toEqual({ b: "1", c: "1" });
    const nonsense = await subject.patch("merge", { metadata: { managedFields: [{ ...entry, operation: "Zap" }] } });
    expect(nonsense.body.metadata.managedFields).toEqual(pruned.body.metadata.managedFields);
    const cleared = await subject.patch("json", [{ op: "replace", path, value: [{}] }], as("x"));
    expect(cleared.body.metadata.managedFields).toBeUndefined();
    await subject.patch("merge", { data: { d: "1" } }, as("dan"));
    expect(owners(await subject.get())).toEqual({});
    const first = await subject.patch("apply", configuration({ data: { e: "1" } }), as("ann"));
    expect(owners(first)).toEqual({
      "ann/Apply": { "f:data": leaves("e") },
      "before-first-apply/Update": { "f:data": { ".": {}, ...leaves("b", "c", "d") } },
    });
    const empty = await subject.patch("merge", { metadata: { managedFields: [] } });
    expect(empty.body.metadata.managedFields).toBeUndefined();
  });

  it("puts the oldest managers together when there are more than ten", async () => {
    const { subject } = await configMap(target());
    const names = Array.from({ length: 12 }, (_, index) => `m${String(index).padStart(2, "0")}`);
    for (const [index, name] of names.entries()) {
      if (index === 0) await subject.create({ data: { [name]: "1" } }, as(name));
      else await subject.patch("merge", { data: { [name]: "1" } }, as(name));
    }
    const result = owners(await subject.get());
    expect(Object.keys(result).sort()).toEqual([
      "ancient-changes/Update",
      ...names.slice(3).map((name) => `${name}/Update`),
    ]);
    expect(result["ancient-changes/Update"]).toEqual({ "f:data": { ".": {}, ...leaves("m00", "m01", "m02") } });
  });

  it("owners of a Pod: not what the server adds, and the status apart", async () => {
    const { subject, configuration } = await place(target(), "v1", "Pod", "pods");
    const spec = {
      schedulerName: "nobody",
      containers: [{ name: "main", image: "any", ports: [{ containerPort: 80 }], env: [{ name: "E", value: "v" }] }],
      tolerations: [{ key: "t", operator: "Exists" }],
      volumes: [{ name: "v", emptyDir: {} }],
    };
    await subject.create({ metadata: { labels: { a: "1" } }, spec }, as("ann"));
    await subject.patch("merge", { status: { phase: "Running", message: "m" } }, `/status${as("kit")}`);
    await subject.patch("apply", configuration({ metadata: { labels: { b: "2" } } }), as("bob"));
    await subject.patch("apply", configuration({ status: { reason: "Because" } }), `/status${as("cid")}`);
    expect(owners(await subject.get())).toEqual({
      "ann/Update": {
        "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
        "f:spec": {
          "f:containers": {
            'k:{"name":"main"}': {
              ".": {},
              ...leaves(
                "image",
                "imagePullPolicy",
                "name",
                "resources",
                "terminationMessagePath",
                "terminationMessagePolicy",
              ),
              "f:env": { ".": {}, 'k:{"name":"E"}': { ".": {}, ...leaves("name", "value") } },
              "f:ports": {
                ".": {},
                'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, ...leaves("containerPort", "protocol") },
              },
            },
          },
          ...leaves(
            "dnsPolicy",
            "enableServiceLinks",
            "restartPolicy",
            "schedulerName",
            "securityContext",
            "terminationGracePeriodSeconds",
            "tolerations",
          ),
          "f:volumes": { ".": {}, 'k:{"name":"v"}': { ".": {}, ...leaves("emptyDir", "name") } },
        },
      },
      "bob/Apply": { "f:metadata": { "f:labels": leaves("b") } },
      "cid/Apply/status": { "f:status": leaves("reason") },
      "kit/Update/status": { "f:status": leaves("phase", "message") },
    });
    await subject.delete();
  });

  it("owners of a Deployment, begun by apply", async () => {
    const { subject, configuration } = await deployment(target());
    const begun = await subject.patch("apply", configuration({ spec: quiet }), as("ann"));
    expect(begun.body.spec).toMatchObject({ progressDeadlineSeconds: 600, strategy: { type: "RollingUpdate" } });
    const owned = {
      ...leaves("paused", "replicas", "selector"),
      "f:template": {
        "f:metadata": { "f:labels": leaves("app") },
        "f:spec": { "f:containers": { 'k:{"name":"main"}': { ".": {}, ...leaves("image", "name") } } },
      },
    };
    expect(owners(begun)).toEqual({ "ann/Apply": { "f:spec": owned } });
    const side = { name: "side", image: "s", env: [{ name: "X", value: "1" }] };
    const template = { spec: { containers: [side] } };
    await subject.patch("apply", configuration({ spec: { template, minReadySeconds: 5 } }), as("bob"));
    const after = await subject.patch(
      "apply",
      configuration({ spec: { template: { spec: { containers: [{ name: "side", image: "s" }] } } } }),
      as("bob"),
    );
    expect(after.body.spec.minReadySeconds).toBeUndefined();
    expect(after.body.spec.template.spec.containers).toMatchObject([{ name: "main" }, { name: "side", image: "s" }]);
    expect(after.body.spec.template.spec.containers[1].env).toBeUndefined();
    const without = await subject.patch("apply", configuration({ spec: {} }), as("bob"));
    expect(without.body.spec.template.spec.containers).toHaveLength(1);
    expect(owners(without)).toEqual({ "ann/Apply": { "f:spec": owned }, "bob/Apply": leaves("spec") });
    await subject.delete();
  });

  it("whoever scales owns the replicas, under that name", async () => {
    const { subject, configuration } = await deployment(target());
    await subject.patch("apply", configuration({ spec: quiet }), as("ann"));
    const scaled = await subject.patch("merge", { spec: { replicas: 1 } }, `/scale${as("bob")}`);
    expect([scaled.status, scaled.body.kind, scaled.body.metadata.managedFields]).toEqual([200, "Scale", undefined]);
    const after = await subject.get();
    expect(owners(after)["bob/Update/scale"]).toEqual({ "f:spec": leaves("replicas") });
    expect(owners(after)["ann/Apply"]?.["f:spec"]).not.toHaveProperty(["f:replicas"]);
    const conflict = await subject.patch("apply", configuration({ spec: quiet }), as("ann"));
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "bob" with subresource "scale" using apps/v1: .spec.replicas',
    );
    await subject.delete();
  });

  it("nobody owns where a pod is bound to; whoever resizes it owns the size", async () => {
    const { subject } = await place(target(), "v1", "Pod", "pods");
    const containers = [{ name: "main", image: "any", resources: { requests: { cpu: "1" } } }];
    await subject.create({ spec: { schedulerName: "nobody", containers } }, as("ann"));
    const resized = { spec: { containers: [{ name: "main", resources: { requests: { cpu: "2" } } }] } };
    await subject.patch("strategic", resized, `/resize${as("bob")}`);
    const before = await subject.get();
    expect(owners(before)["bob/Update/resize"]).toEqual({
      "f:spec": { "f:containers": { 'k:{"name":"main"}': { "f:resources": { "f:requests": leaves("cpu") } } } },
    });
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "it" },
      target: { kind: "Node", name: "nowhere" },
    };
    expect((await subject.post("/binding", binding)).status).toBe(201);
    const after = await subject.get();
    expect(after.body.spec.nodeName).toBe("nowhere");
    expect(owners(after)).toEqual(owners(before));
    await subject.delete();
  });

  it("owners of a Service's ports, by port and protocol", async () => {
    const { subject, configuration } = await place(target(), "v1", "Service", "services");
    const ports = [
      { port: 53, protocol: "UDP", name: "u" },
      { port: 53, protocol: "TCP", name: "t" },
    ];
    await subject.patch("apply", configuration({ spec: { selector: { a: "1" }, ports } }), as("ann"));
    const added = await subject.patch(
      "apply",
      configuration({ spec: { ports: [{ port: 80, name: "h" }] } }),
      as("bob"),
    );
    expect(added.body.spec.ports.map((each: { name: string }) => each.name)).toEqual(["u", "t", "h"]);
    expect(owners(added)).toEqual({
      "ann/Apply": {
        "f:spec": {
          "f:selector": {},
          "f:ports": {
            'k:{"port":53,"protocol":"TCP"}': { ".": {}, ...leaves("name", "port", "protocol") },
            'k:{"port":53,"protocol":"UDP"}': { ".": {}, ...leaves("name", "port", "protocol") },
          },
        },
      },
      "bob/Apply": {
        "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, ...leaves("name", "port") } } },
      },
    });
    const conflict = await subject.patch(
      "apply",
      configuration({ spec: { ports: [{ port: 53, name: "x" }] } }),
      as("bob"),
    );
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "ann": .spec.ports[port=53,protocol="TCP"].name',
    );
  });

  it("owners of a Node's taints and conditions", async () => {
    const name = `applied-${await target().namespace()}`;
    const subject = new Subject(target(), "/api/v1/nodes", name);
    const configuration = (fields: JsonObject) => ({ apiVersion: "v1", kind: "Node", metadata: { name }, ...fields });
    await subject.create({ metadata: { labels: { x: "1" } }, spec: { unschedulable: true } }, as("ann"));
    const conditions = [{ type: "Custom", status: "True" }];
    await subject.patch("apply", configuration({ status: { conditions } }), `/status${as("bob")}`);
    const taints = [{ key: "t", effect: "NoSchedule" }];
    const tainted = await subject.patch("apply", configuration({ spec: { taints } }), as("cid", FORCE));
    expect(owners(tainted)["cid/Apply"]).toEqual({ "f:spec": leaves("taints") });
    const conflict = await subject.patch("apply", configuration({ spec: { unschedulable: false } }), as("cid"));
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "ann" using v1: .spec.unschedulable',
    );
    const result = owners(await subject.get());
    expect(result["ann/Update"]).toMatchObject({ "f:spec": leaves("unschedulable") });
    expect(result["bob/Apply/status"]).toEqual({
      "f:status": { "f:conditions": { 'k:{"type":"Custom"}': { ".": {}, ...leaves("status", "type") } } },
    });
    await subject.delete();
  });

  it("owners of a custom resource: sets, maps, and what is one thing", async () => {
    const { subject, configuration } = await thing(target());
    const spec = {
      size: 1,
      set: ["a", "b"],
      list: ["x"],
      map: { a: "1" },
      atomicMap: { a: "1" },
      byName: [
        { name: "one", value: "1" },
        { name: "two", set: ["s"] },
      ],
      byTwo: [{ port: 1 }, { port: 1, protocol: "UDP" }],
      anything: { deep: { er: 1 } },
      either: "5",
    };
    const begun = await subject.patch("apply", configuration({ spec }), as("ann"));
    expect(owners(begun)).toEqual({
      "ann/Apply": {
        "f:spec": {
          ...leaves("size", "list", "atomicMap", "either"),
          "f:set": { 'v:"a"': {}, 'v:"b"': {} },
          "f:map": leaves("a"),
          "f:byName": {
            'k:{"name":"one"}': { ".": {}, ...leaves("name", "value") },
            'k:{"name":"two"}': { ".": {}, "f:name": {}, "f:set": { 'v:"s"': {} } },
          },
          "f:byTwo": {
            'k:{"port":1,"protocol":"TCP"}': { ".": {}, "f:port": {} },
            'k:{"port":1,"protocol":"UDP"}': { ".": {}, ...leaves("port", "protocol") },
          },
          "f:anything": { "f:deep": { ".": {}, "f:er": {} } },
        },
      },
    });
    const other = { set: ["c", "a"], byName: [{ name: "two", value: "2" }, { name: "zero" }], map: { b: "2" } };
    const added = await subject.patch("apply", configuration({ spec: other }), as("bob"));
    expect(added.body.spec).toMatchObject({
      set: ["c", "a", "b"],
      byName: [{ name: "one", value: "1" }, { name: "two", value: "2", set: ["s"] }, { name: "zero" }],
      map: { a: "1", b: "2" },
    });
    const less = await subject.patch("apply", configuration({ spec: { size: 1, set: ["b"] } }), as("ann"));
    expect(less.body.spec).toMatchObject({
      set: ["c", "a", "b"],
      byName: [{ name: "two", value: "2" }, { name: "zero" }],
      map: { b: "2" },
    });
    expect(less.body.spec.list).toBeUndefined();
    // One mistake at a time: which of two the real server names is chance.
    const wrong = await subject.patch("apply", configuration({ spec: { byName: [{ value: "x" }] } }), as("ann"));
    expect(wrong.status).toBe(500);
    expect(wrong.body.message).toContain(
      ".spec.byName: element 0: associative list with keys has an element that omits all key fields",
    );
  });

  it("the status of a custom resource is applied apart, and metadata is not", async () => {
    const { subject, configuration } = await thing(target());
    await subject.patch("apply", configuration({ spec: { size: 1 }, status: { phase: "Ignored" } }), as("ann"));
    const status = { phase: "On", conditions: [{ type: "A", status: "True" }] };
    const applied = await subject.patch(
      "apply",
      configuration({ metadata: { labels: { l: "1" } }, spec: { size: 9 }, status }),
      `/status${as("bob")}`,
    );
    expect(applied.body).toMatchObject({ spec: { size: 1 }, status });
    expect(applied.body.metadata.labels).toBeUndefined();
    expect(owners(applied)).toEqual({
      "ann/Apply": { "f:spec": leaves("size") },
      "bob/Apply/status": {
        "f:status": { "f:phase": {}, "f:conditions": { 'k:{"type":"A"}': { ".": {}, ...leaves("status", "type") } } },
      },
    });
    const conflict = await subject.patch("apply", configuration({ status: { phase: "Off" } }), `/status${as("cid")}`);
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "bob" with subresource "status": .status.phase',
    );
  });

  it("kubectl apply --server-side takes over from kubectl apply", async () => {
    const namespace = await target().namespace();
    const file = (data: object) =>
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "it", namespace }, data });
    const kubectl = async (data: object, ...args: string[]) =>
      target().kubectl(["apply", ...args, "-f", "-"], file(data));
    expect(await kubectl({ a: "1", b: "1" })).toMatchObject({ code: 0, stdout: "configmap/it created\n" });
    const subject = new Subject(target(), `/api/v1/namespaces/${namespace}/configmaps`);
    const client = await subject.get();
    expect(Object.keys(owners({ ...client, body: withoutKubectl(client.body) }))).toEqual(["client-side-apply/Update"]);
    expect(await kubectl({ a: "2", c: "1" }, "--server-side")).toMatchObject({
      code: 0,
      stdout: "configmap/it serverside-applied\n",
    });
    const server = await subject.get();
    expect(server.body.data).toEqual({ a: "2", c: "1" });
    expect(owners({ ...server, body: withoutKubectl(server.body) })).toMatchObject({
      "it/Apply": { "f:data": leaves("a", "c") },
    });
    await subject.patch("merge", { data: { a: "3" } }, as("ann"));
    const conflict = await kubectl({ a: "2", c: "1" }, "--server-side");
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toContain('Apply failed with 1 conflict: conflict with "ann" using v1: .data.a');
    expect(await kubectl({ a: "2", c: "1" }, "--server-side", "--force-conflicts")).toMatchObject({ code: 0 });
    expect((await subject.get()).body.data).toEqual({ a: "2", c: "1" });
  });
});

/** kubectl is one of those whose names begin like the cluster's own. */
function withoutKubectl(body: { metadata: { managedFields: { manager: string }[] } }) {
  const managedFields = body.metadata.managedFields.map((entry) => ({
    ...entry,
    manager: entry.manager.replace(/^kubectl-?/, "") || "it",
  }));
  return { ...body, metadata: { ...body.metadata, managedFields } };
}
