/** Objects of custom resources: pruned, filled in, validated, and served as their definition says. */
import { expect } from "vitest";
import {
  type Any,
  definitionOf,
  type JsonSchema,
  objectOf,
  pathOf,
  refusalOf,
  send,
  until,
  withDefinition,
} from "./definitions.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";

const UNCHECKED =
  "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

const widgets = definitionOf(
  "Widget",
  {
    type: "object",
    required: ["size"],
    properties: {
      size: { type: "integer", minimum: 1, maximum: 10 },
      replicas: { type: "integer", format: "int32", default: 1 },
      name: { type: "string", maxLength: 5, pattern: "^[a-z]+$" },
      mode: { type: "string", enum: ["A", "B"] },
      list: { type: "array", maxItems: 2, items: { type: "string" } },
      any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
      when: { type: "string", format: "date-time" },
      ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
      map: { type: "object", maxProperties: 2, additionalProperties: { type: "integer" } },
      one: {
        type: "object",
        properties: { a: { type: "integer" }, b: { type: "integer" } },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
    },
    "x-kubernetes-validations": [
      { rule: "self.size <= 8", message: "too big" },
      { rule: "!has(self.list) || self.list.all(x, x != 'bad')" },
    ],
  },
  {
    subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  },
);

export const customResources = suite("custom resources", (it, target) => {
  const create = (path: string, object: unknown) => send(target(), "POST", path, object);

  const wrong: [spec: unknown, ...causes: string[]][] = [
    [
      { size: "x" },
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      UNCHECKED,
    ],
    [{ size: null }, "spec.size: Required value", UNCHECKED],
    [{}, "spec.size: Required value", UNCHECKED],
    [
      { size: 11 },
      "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
      "spec: Invalid value: too big",
    ],
    [{ size: 0 }, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"],
    [
      { size: 2.5 },
      'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size',
      UNCHECKED,
    ],
    [{ size: 9 }, "spec: Invalid value: too big"],
    [{ size: 3, name: "ABCDEFG" }, "spec.name: Too long: may not be more than 5 bytes", UNCHECKED],
    [{ size: 3, name: "AB" }, "spec.name: Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'"],
    [{ size: 3, mode: "C" }, 'spec.mode: Unsupported value: "C": supported values: "A", "B"', UNCHECKED],
    [
      { size: 3, mode: 5 },
      'spec.mode: Invalid value: "integer": spec.mode in body must be of type string: "integer"',
      'spec.mode: Unsupported value: 5: supported values: "A", "B"',
      UNCHECKED,
    ],
    [{ size: 3, list: ["a", "b", "c"] }, "spec.list: Too many: 3: must have at most 2 items", UNCHECKED],
    [{ size: 3, list: ["bad"] }, "spec: Invalid value: failed rule: !has(self.list) || self.list.all(x, x != 'bad')"],
    [
      { size: 3, list: [1, null] },
      'spec.list[0]: Invalid value: "integer": spec.list[0] in body must be of type string: "integer"',
      'spec.list[1]: Invalid value: "null": spec.list[1] in body must be of type string: "null"',
      UNCHECKED,
    ],
    [
      { size: 3, port: true },
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
      '<nil>: Invalid value: "": "spec.port" must validate at least one schema (anyOf)',
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer: "boolean"',
      UNCHECKED,
    ],
    [
      { size: 3, replicas: 3e9 },
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.replicas',
      ".spec.replicas: Invalid value: 3000000000: should be less than or equal to 2147483647",
    ],
    [{ size: 3, replicas: -1 }, ".spec.replicas: Invalid value: -1: should be a non-negative integer"],
    [
      { size: 3, when: "yesterday" },
      'spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"',
      UNCHECKED,
    ],
    [
      { size: 3, ratio: 0 },
      "spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0",
      // A whole number must be a multiple of a whole one.
      "spec.ratio: Invalid value: 0: factor MultipleOf declared for spec.ratio must be positive: 0",
    ],
    [{ size: 3, ratio: 0.25 }, "spec.ratio: Invalid value: 0.25: spec.ratio in body should be a multiple of 0.5"],
    [{ size: 3, ratio: 0.75 }, "spec.ratio: Invalid value: 0.75: spec.ratio in body should be a multiple of 0.5"],
    [{ size: 3, map: { a: 1, b: 2, c: 3 } }, "spec.map: Too many: 3: must have at most 2 items", UNCHECKED],
    [
      { size: 3, map: { a: "x" } },
      'spec.map.a: Invalid value: "string": spec.map.a in body must be of type integer: "string"',
      UNCHECKED,
    ],
    [
      { size: 3, one: {} },
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
      "spec.one.a: Required value",
      UNCHECKED,
    ],
    [
      { size: 3, one: { a: 1, b: 2 } },
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      "text",
      'spec: Invalid value: "string": spec in body must be of type object: "string"',
      ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: text is of the type string, expected map[string]interface{}",
      UNCHECKED,
    ],
  ];
  it("are refused for all that is wrong with them, in the real server's words", async () => {
    await withDefinition(target(), widgets, async () => {
      for (const [spec, ...causes] of wrong) {
        const answer = await create(`${pathOf(widgets)}?dryRun=All`, objectOf(widgets, "x", { spec }));
        expect([spec, refusalOf(answer)]).toEqual([spec, { code: 422, reason: "Invalid", causes: causes.toSorted() }]);
      }
      const metadata = await create(pathOf(widgets), {
        ...objectOf(widgets, "x"),
        metadata: { name: "x", labels: { a: 5 } },
      });
      const words = "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string";
      expect(metadata.message).toBe(`Widget in version "v1" cannot be handled as a Widget: ${words}`);
    });
  });

  it("lose what their definition does not know; strictly, it is refused", async () => {
    await withDefinition(target(), widgets, async () => {
      const object = { ...objectOf(widgets, "x", { spec: { size: 3, bogus: 1, any: { a: { b: null } } }, extra: 5 }) };
      const answer = await create(`${pathOf(widgets)}?dryRun=All`, object);
      expect([answer.spec, "extra" in answer]).toEqual([{ size: 3, replicas: 1, any: { a: { b: null } } }, false]);
      const unknown = { ...object, metadata: { name: "x", foo: 1 } };
      const { code, message } = await create(`${pathOf(widgets)}?dryRun=All&fieldValidation=Strict`, unknown);
      const fields = ["metadata.foo", "extra", "spec.bogus"].map((field) => `unknown field "${field}"`).join(", ");
      expect([code, message]).toEqual([
        400,
        `Widget in version "v1" cannot be handled as a Widget: strict decoding error: ${fields}`,
      ]);
    });
  });

  it("keep what is to be kept, and embedded resources are resources", async () => {
    const keeping: JsonSchema = {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: {
        known: { type: "object", properties: { a: { type: "string" } } },
        pod: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        part: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
      },
    };
    const definition = definitionOf("Keeper", keeping);
    await withDefinition(target(), definition, async () => {
      const path = `${pathOf(definition)}?dryRun=All`;
      const resource = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p", foo: 1, labels: { a: "b" } },
        more: [1],
      };
      const spec = { any: { thing: 1 }, known: { a: "x", b: "y" }, pod: resource, part: resource };
      const answer = await create(path, objectOf(definition, "x", { spec }));
      const metadata = { name: "p", labels: { a: "b" } };
      expect(answer.spec).toEqual({
        any: { thing: 1 },
        known: { a: "x" },
        pod: { ...resource, metadata },
        part: { apiVersion: "v1", kind: "Pod", metadata },
      });
      const bad = { pod: { kind: "a b", metadata: { labels: { "-": "x" } } } };
      const { details } = await create(path, objectOf(definition, "x", { spec: bad }));
      expect(details.causes.map((cause: Any) => cause.field).sort()).toEqual([
        "spec.pod.apiVersion",
        "spec.pod.kind",
        "spec.pod.metadata.labels",
      ]);
    });
  });

  it("are filled in: where there is a place, also for null, in lists and maps", async () => {
    const item: JsonSchema = {
      type: "object",
      properties: { a: { type: "string", default: "x" }, b: { type: "string" } },
    };
    const filling: JsonSchema = {
      type: "object",
      default: {},
      properties: {
        plain: { type: "integer", default: 5 },
        nothing: { type: "string", nullable: true, default: "x" },
        object: item,
        made: { ...item, default: {} },
        list: { type: "array", items: item },
        map: { type: "object", additionalProperties: item },
        given: { type: "object", default: { b: "y" }, properties: item.properties ?? {} },
        nullable: { type: "string", nullable: true },
      },
    };
    const definition = definitionOf("Filler", filling);
    await withDefinition(target(), definition, async () => {
      const path = `${pathOf(definition)}?dryRun=All`;
      const spec = async (given: unknown) => (await create(path, objectOf(definition, "x", { spec: given }))).spec;
      const always = { plain: 5, nothing: "x", made: { a: "x" }, given: { a: "x", b: "y" } };
      expect(await spec(undefined)).toEqual(always);
      expect(await spec(null)).toEqual(always);
      expect(await spec({ plain: null, nothing: null, nullable: null, object: null })).toEqual({
        ...always,
        nothing: null,
        nullable: null,
      });
      expect(await spec({ object: {}, list: [{}, { a: "z" }], map: { k: {} }, given: {} })).toEqual({
        ...always,
        object: { a: "x" },
        list: [{ a: "x" }, { a: "z" }],
        map: { k: { a: "x" } },
        given: { a: "x" },
      });
    });
  });

  it("have nothing twice in sets, and in maps by their keys", async () => {
    const definition = definitionOf("Lister", {
      type: "object",
      properties: {
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        map: keyed(["k"]),
        two: keyed(["k", "n"]),
      },
    });
    await withDefinition(target(), definition, async () => {
      const path = `${pathOf(definition)}?dryRun=All`;
      const spec = {
        set: ["a", "b", "a", "a"],
        map: [{ k: "a" }, { k: "b" }, { k: "a", v: 1 }],
        two: [
          { k: "a", n: 1 },
          { k: "a", n: 2 },
          { k: "a", n: 1 },
        ],
      };
      expect(refusalOf(await create(path, objectOf(definition, "x", { spec })))).toEqual({
        code: 422,
        reason: "Invalid",
        causes: [
          'spec.map[2]: Duplicate value: {"k":"a"}',
          'spec.set[2]: Duplicate value: "a"',
          'spec.two[2]: Duplicate value: {"k":"a","n":1}',
        ],
      });
    });
  });

  it("may stay wrong where they were wrong, and rules about changes are for changes", async () => {
    const strict = (maximum: number): JsonSchema => ({
      type: "object",
      properties: {
        a: { type: "integer", maximum },
        b: { type: "integer" },
        fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "is immutable" }] },
        grows: {
          type: "integer",
          "x-kubernetes-validations": [
            { rule: "!oldSelf.hasValue() || self >= oldSelf.value()", optionalOldSelf: true },
          ],
        },
        items: { ...keyed(["k"]), maxItems: 5, items: growing() },
      },
    });
    const definition = definitionOf("Changer", strict(10));
    await withDefinition(target(), definition, async () => {
      const path = pathOf(definition);
      const spec = {
        a: 8,
        fixed: "x",
        grows: 2,
        items: [
          { k: "a", v: 2 },
          { k: "b", v: 3 },
        ],
      };
      await create(path, objectOf(definition, "x", { spec }));
      const tightened = { spec: { versions: definitionOf("Changer", strict(5)).spec.versions } };
      await patch(
        target(),
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`,
        tightened,
      );
      await settled(target(), path, definition);
      expect((await patch(target(), `${path}/x`, { spec: { b: 1 } })).spec).toMatchObject({ a: 8, b: 1 });
      expect(refusalOf(await patch(target(), `${path}/x`, { spec: { a: 9 } })).causes).toEqual([
        "spec.a: Invalid value: 9: spec.a in body should be less than or equal to 5",
      ]);
      const items = [
        { k: "b", v: 4 },
        { k: "a", v: 1 },
        { k: "c", v: 0 },
      ];
      const wrongly = { spec: { fixed: "y", grows: 1, items } };
      expect(refusalOf(await patch(target(), `${path}/x`, wrongly)).causes).toEqual([
        'spec.fixed: Invalid value: "y": is immutable',
        "spec.grows: Invalid value: 1: failed rule: !oldSelf.hasValue() || self >= oldSelf.value()",
        "spec.items[1].v: Forbidden: must not shrink",
      ]);
      expect((await patch(target(), `${path}/x`, { spec: { grows: 3, fixed: null } })).spec).not.toHaveProperty(
        "fixed",
      );
    });
  });

  it("have a status apart, a generation that counts what is wanted, and a scale", async () => {
    await withDefinition(target(), widgets, async () => {
      const path = pathOf(widgets);
      const made = await create(
        path,
        objectOf(widgets, "x", { spec: { size: 3, replicas: 2 }, status: { replicas: 5 } }),
      );
      expect([made.metadata.generation, made.status]).toEqual([1, undefined]);
      const labelled = await patch(target(), `${path}/x`, {
        metadata: { labels: { a: "b" } },
        status: { replicas: 1 },
      });
      expect([labelled.metadata.generation, labelled.status]).toEqual([1, undefined]);
      expect((await patch(target(), `${path}/x`, { spec: { size: 4 } })).metadata.generation).toBe(2);
      const scaled = await send(target(), "GET", `${path}/x/scale`);
      expect(scaled).toMatchObject({
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        spec: { replicas: 2 },
        status: { replicas: 0 },
      });
      expect((await patch(target(), `${path}/x/scale`, { spec: { replicas: 7 } })).spec).toEqual({ replicas: 7 });
      expect((await send(target(), "GET", `${path}/x`)).spec).toEqual({ size: 4, replicas: 7 });
    });
  });

  it("are shown in the columns of their definition", async () => {
    const columns = [
      { name: "Size", type: "integer", jsonPath: ".spec.size" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "First", type: "string", jsonPath: ".spec.list[0]" },
      { name: "List", type: "string", jsonPath: ".spec.list", priority: 1 },
      { name: "When", type: "date", jsonPath: ".spec.when" },
      { name: "Wrong", type: "integer", jsonPath: ".spec.list", description: "Never shown." },
      { name: "Dotted", type: "string", jsonPath: ".metadata.labels.example\\.org/a" },
    ];
    const status: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const definition = definitionOf(
      "Shown",
      {
        type: "object",
        properties: {
          size: { type: "integer" },
          list: { type: "array", items: { type: "string" } },
          when: { type: "string" },
        },
      },
      { additionalPrinterColumns: columns },
    );
    Object.assign(definition.spec.versions[0]?.schema?.openAPIV3Schema?.properties ?? {}, { status });
    await withDefinition(target(), definition, async () => {
      const path = pathOf(definition);
      const conditions = [
        { type: "Other", status: "Unknown" },
        { type: "Ready", status: "True" },
      ];
      const full = objectOf(definition, "a", {
        spec: { size: 3, list: ["x", "y"], when: "2020" },
        status: { conditions },
      });
      await create(path, { ...full, metadata: { name: "a", labels: { "example.org/a": "z" } } });
      await create(path, objectOf(definition, "b", { spec: { size: 4 } }));
      const table = await tableOf(target(), path);
      expect(table.rows.map((row: Any) => row.cells)).toEqual([
        ["a", 3, "True", "x", '["x","y"]', "<invalid>", null, "z"],
        ["b", 4, null, null, null, null, null, null],
      ]);
      expect(table.columnDefinitions.map(({ name, type, priority }: Any) => [name, type, priority])).toEqual([
        ["Name", "string", 0],
        ...columns.map(({ name, type, priority = 0 }) => [name, type, priority]),
      ]);
      expect(table.columnDefinitions[1].description).toBe(
        "Custom resource definition column (in JSONPath format): .spec.size",
      );
    });
  });

  it("without columns show their age, and can be selected by the fields that are to be selectable", async () => {
    const definition = definitionOf(
      "Selected",
      {
        type: "object",
        properties: { color: { type: "string" }, hot: { type: "boolean" }, size: { type: "integer" } },
      },
      { selectableFields: [".spec.color", ".spec.hot", ".spec.size"].map((jsonPath) => ({ jsonPath })) },
    );
    await withDefinition(target(), definition, async () => {
      const path = pathOf(definition);
      await create(path, objectOf(definition, "a", { spec: { color: "red", hot: true, size: 1 } }));
      await create(path, objectOf(definition, "b", { spec: { color: "blue" } }));
      const names = async (selector: string) => {
        const { items } = await send(target(), "GET", `${path}?fieldSelector=${encodeURIComponent(selector)}`);
        return items?.map((item: Any) => item.metadata.name);
      };
      expect(await names("spec.color=red")).toEqual(["a"]);
      expect(await names("spec.color!=red")).toEqual(["b"]);
      expect(await names("spec.hot=true,spec.size=1")).toEqual(["a"]);
      expect(await names("spec.hot=")).toEqual(["b"]);
      expect(await names("spec.weight=1")).toBeUndefined();
      const { columnDefinitions } = await tableOf(target(), path);
      expect(columnDefinitions.map(({ name, type }: Any) => [name, type])).toEqual([
        ["Name", "string"],
        ["Age", "date"],
      ]);
    });
  });

  it("are stored once, and seen in each version with what that version knows", async () => {
    const definition = definitionOf("Versioned", {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
    });
    const other = definitionOf("Versioned", {
      type: "object",
      properties: { a: { type: "string" }, c: { type: "string", default: "c" } },
    });
    const [first, second] = [...definition.spec.versions, ...other.spec.versions];
    if (!first || !second) throw new Error("each has a version");
    definition.spec.versions = [
      first,
      { ...second, name: "v2", storage: false },
      { ...second, name: "v3", storage: false, served: false },
    ];
    await withDefinition(target(), definition, async () => {
      const [v1, v2] = [pathOf(definition), pathOf(definition, "default", "v2")];
      await create(v1, objectOf(definition, "x", { spec: { a: "1", b: "2" } }));
      const seen = await send(target(), "GET", `${v2}/x`);
      expect([seen.apiVersion, seen.spec]).toEqual(["conformance.example.org/v2", { a: "1" }]);
      await patch(target(), `${v2}/x`, { spec: { a: "3" } });
      expect((await send(target(), "GET", `${v1}/x`)).spec).toEqual({ a: "3" });
      const made = await create(v2, objectOf(definition, "y", { spec: { a: "4" } }, "v2"));
      expect(made).toMatchObject({ apiVersion: "conformance.example.org/v2", kind: "Versioned" });
      expect((await send(target(), "GET", v1)).items.map((item: Any) => item.apiVersion)).toEqual([
        "conformance.example.org/v1",
        "conformance.example.org/v1",
      ]);
      expect((await target().http("GET", pathOf(definition, "default", "v3"))).status).toBe(404);
    });
  });
});

function keyed(keys: string[]): JsonSchema {
  return {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
    items: {
      type: "object",
      required: keys,
      properties: { k: { type: "string" }, n: { type: "integer" }, v: { type: "integer" } },
    },
  };
}

/** Items whose value only grows. */
function growing(): JsonSchema {
  return {
    type: "object",
    required: ["k"],
    properties: { k: { type: "string" }, v: { type: "integer" } },
    "x-kubernetes-validations": [
      { rule: "self.v >= oldSelf.v", message: "must not shrink", reason: "FieldValueForbidden", fieldPath: ".v" },
    ],
  };
}

function patch(target: Target, path: string, body: unknown): Promise<Any> {
  return send(target, "PATCH", path, body, "application/merge-patch+json");
}

async function tableOf(target: Target, path: string): Promise<Any> {
  const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  return JSON.parse((await target.http("GET", path, { headers })).text);
}

/** Waits until a tightened definition is in effect: until the real server refuses what it took before. */
async function settled(target: Target, path: string, definition: ReturnType<typeof definitionOf>): Promise<void> {
  const probe = objectOf(definition, "probe", { spec: { a: 9 } });
  await until("it is in effect", async () => (await send(target, "POST", `${path}?dryRun=All`, probe)).code === 422);
}
