/** Custom resource definitions: which are accepted, what their status says, how they change and how they go. */
import { expect } from "vitest";
import {
  type Any,
  DEFINITIONS,
  type Definition,
  definitionOf,
  type JsonSchema,
  objectOf,
  pathOf,
  readDefinition,
  refusalOf,
  send,
  until,
  type Version,
  withDefinition,
} from "./definitions.ts";
import { suite } from "./suite.ts";

const SPEC: JsonSchema = { type: "object", properties: { size: { type: "integer" }, name: { type: "string" } } };
const ROOT = "spec.validation.openAPIV3Schema";
const X = `${ROOT}.properties[spec].properties[x]`;

export const customDefinitions = suite("custom resource definitions", (it, target) => {
  const create = (definition: unknown, query = "?dryRun=All") =>
    send(target(), "POST", `${DEFINITIONS}${query}`, definition);

  it("get their names accepted, are established, and are then in discovery", async () => {
    const definition = definitionOf("Accepted", SPEC, { subresources: { status: {}, scale: scalePaths() } });
    definition.spec.names.shortNames = ["acc"];
    definition.spec.names.categories = ["conformance"];
    const made = await create(definition);
    expect(made).toMatchObject({
      metadata: { generation: 1 },
      spec: { names: { singular: "accepted", listKind: "AcceptedList" }, conversion: { strategy: "None" } },
      status: { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] },
    });
    await withDefinition(target(), definition, async () => {
      const { status } = await readDefinition(target(), definition);
      expect(status).toEqual({
        acceptedNames: made.spec.names,
        storedVersions: ["v1"],
        conditions: [
          condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
          condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
      });
      const { resources } = await send(target(), "GET", "/apis/conformance.example.org/v1");
      const [first, ...others] = resources.filter(
        (each: Any) => each.kind === "Accepted" || each.name.includes("accepteds"),
      );
      expect({ ...first, storageVersionHash: undefined, verbs: first.verbs.toSorted() }).toMatchObject({
        name: "accepteds",
        singularName: "accepted",
        namespaced: true,
        kind: "Accepted",
        shortNames: ["acc"],
        categories: ["conformance"],
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      });
      expect(others.map((each: Any) => [each.name, each.kind, each.verbs.toSorted()])).toEqual([
        ["accepteds/status", "Accepted", ["get", "patch", "update"]],
        ["accepteds/scale", "Scale", ["get", "patch", "update"]],
      ]);
    });
  });

  const refused: [what: string, change: (definition: Definition) => unknown, ...causes: string[]][] = [
    [
      "another name",
      named("foo.example.org"),
      'metadata.name: Invalid value: "foo.example.org": must be spec.names.plural+"."+spec.group',
    ],
    [
      "a group without a dot",
      ({ spec }) => Object.assign(spec, { group: "example" }),
      'metadata.name: Invalid value: "things.conformance.example.org": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ],
    [
      "another scope",
      ({ spec }) => Object.assign(spec, { scope: "Foo" }),
      'spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"',
    ],
    [
      "no schema",
      ({ spec }) => delete spec.versions[0]?.schema,
      "spec.versions[0].schema.openAPIV3Schema: Required value",
    ],
    [
      "kind and listKind the same",
      ({ spec }) => Object.assign(spec.names, { listKind: "Thing" }),
      'spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same',
    ],
    ["a type that is missing", x({}), `${X}.type: Required value: must not be empty for specified object fields`],
    ["a list of nothing", x({ type: "array" }), `${X}.items: Required value: must be specified`],
    [
      "items without a type",
      x({ type: "array", items: {} }),
      `${X}.items.type: Required value: must not be empty for specified array items`,
    ],
    [
      "a type that there is not",
      x({ type: "text" }),
      `${X}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
    ["a reference", x({ $ref: "#/a" }), `${X}.$ref: Forbidden: $ref is not supported`],
    [
      "fields and a map at once",
      x({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
      `${X}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    ],
    [
      "a type in an alternative",
      x({ type: "string", anyOf: [{ type: "string" }, { pattern: "a" }] }),
      `${X}.anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
    [
      "a default of another type",
      x({ type: "integer", default: "a" }),
      `${X}.default: Invalid value: "string":  in body must be of type integer: "string"`,
    ],
    [
      "a default with unknown fields",
      x({ type: "object", default: { b: 1 } }),
      `${X}.default: Invalid value: {"b":1}: must not have unknown fields`,
    ],
    [
      "an unknown type of list",
      x({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "foo" }),
      `${X}.x-kubernetes-list-type: Unsupported value: "foo": supported values: "atomic", "set", "map"`,
    ],
    [
      "a map without keys",
      x({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" }),
      `${X}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    ],
    [
      "a map by a key that may be missing",
      x(listMap({ a: { type: "string" } }, "a")),
      `${X}.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
    [
      "a map by a key that there is not",
      x(listMap({ a: { type: "string" } }, "z")),
      `${X}.x-kubernetes-list-map-keys: Invalid value: ["z"]: entries must all be names of item properties`,
    ],
    [
      "a set of objects that are no wholes",
      x({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
      `${X}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
    [
      "uniqueItems",
      x({ type: "array", items: { type: "string" }, uniqueItems: true }),
      `${X}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
    [
      "a rule that is empty",
      x(ruled({ rule: " " })),
      `${X}.x-kubernetes-validations[0].rule: Required value: rule is not specified`,
    ],
    [
      "a reason that there is not",
      x(ruled({ rule: "self > 1", reason: "Foo" as never })),
      `${X}.x-kubernetes-validations[0].reason: Unsupported value: "Foo": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    ],
    [
      "oldSelf that nobody asks for",
      x(ruled({ rule: "self > 1", optionalOldSelf: true })),
      `${X}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
    ],
    [
      "oldSelf of items that nobody can tell apart",
      x({ type: "array", maxItems: 5, items: ruled({ rule: "self == oldSelf" }) }),
      `${X}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${X}`,
    ],
    [
      "metadata of its own",
      root({ metadata: { type: "object", properties: { labels: { type: "object" } } } }),
      `${ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
    [
      "paths of scales",
      version({ subresources: { scale: { specReplicasPath: ".foo", statusReplicasPath: "x" } } }),
      'spec.subresources.scale.specReplicasPath: Invalid value: ".foo": should be a json path under .spec',
      'spec.subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .',
    ],
    [
      "columns",
      version({ additionalPrinterColumns: [{ name: "", type: "foo", jsonPath: "spec" }] }),
      "spec.additionalPrinterColumns[0].name: Required value",
      'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
    ],
    [
      "selectable fields",
      version({
        selectableFields: [
          { jsonPath: ".spec.nope" },
          { jsonPath: ".spec" },
          { jsonPath: ".spec.name" },
          { jsonPath: ".spec.name" },
        ],
      }),
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field',
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[3].jsonPath: Duplicate value: ".spec.name"',
    ],
    [
      "a group of Kubernetes' own",
      ({ metadata, spec }) => {
        spec.group = "x.k8s.io";
        metadata.name = "things.x.k8s.io";
      },
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ];
  for (const [what, change, ...causes] of refused) {
    it(`are refused with ${what}`, async () => {
      const definition = definitionOf("Thing", structuredClone(SPEC));
      change(definition);
      const answer = await create(definition);
      expect(refusalOf(answer)).toEqual({ code: 422, reason: "Invalid", causes: causes.toSorted() });
    });
  }

  it("are refused with rules that cannot be compiled", async () => {
    const rules = ["self.foo > 1", "self >", "self + 1", "self == 'a'", "foo(self)", "self == 3.0"];
    for (const rule of rules) {
      const answer = await create(definitionOf("Thing", { type: "object", properties: { x: ruled({ rule }) } }));
      expect([rule, answer.code]).toEqual([rule, 422]);
      expect(answer.details.causes).toEqual([
        {
          reason: "FieldValueInvalid",
          field: `${X}.x-kubernetes-validations[0].rule`,
          message: expect.stringMatching(/compilation failed|must evaluate to a bool/),
        },
      ]);
    }
  });

  it("cannot change what their objects are stored by, once they are established", async () => {
    const definition = definitionOf("Fixed", SPEC);
    await withDefinition(target(), definition, async () => {
      const { metadata, spec } = await readDefinition(target(), definition);
      const changed = {
        ...definition,
        metadata: { name: metadata.name, resourceVersion: metadata.resourceVersion },
        spec: { ...spec, scope: "Cluster", names: { ...spec.names, kind: "Other" } },
      };
      expect(refusalOf(await send(target(), "PUT", `${DEFINITIONS}/${metadata.name}`, changed))).toEqual({
        code: 422,
        reason: "Invalid",
        causes: [
          'spec.names.kind: Invalid value: "Other": field is immutable',
          'spec.scope: Invalid value: "Cluster": field is immutable',
        ],
      });
    });
  });

  it("that change take effect: on what is written from then on, and on what is read", async () => {
    const definition = definitionOf("Changing", SPEC);
    await withDefinition(target(), definition, async () => {
      const path = pathOf(definition);
      await send(target(), "POST", path, objectOf(definition, "old", { spec: { size: 1, name: "n" } }));
      const properties = { size: { type: "integer", maximum: 5 }, color: { type: "string", default: "red" } } as const;
      const patch = { spec: { versions: definitionOf("Changing", { type: "object", properties }).spec.versions } };
      const type = "application/merge-patch+json";
      await send(target(), "PATCH", `${DEFINITIONS}/${definition.metadata.name}`, patch, type);
      await until(
        "the change is in effect",
        async () => (await send(target(), "GET", `${path}/old`)).spec.color === "red",
      );
      expect((await send(target(), "GET", `${path}/old`)).spec).toEqual({ size: 1, color: "red" });
      expect(await send(target(), "POST", path, objectOf(definition, "new", { spec: { size: 6 } }))).toMatchObject({
        code: 422,
      });
      const made = await send(target(), "POST", path, objectOf(definition, "new", { spec: { name: "n" } }));
      expect(made.spec).toEqual({ color: "red" });
    });
  });

  it("that go take their objects with them, as soon as these can go", async () => {
    const definition = definitionOf("Going", SPEC);
    const path = pathOf(definition);
    await withDefinition(target(), definition, async () => {
      await send(target(), "POST", path, objectOf(definition, "free"));
      const held = { ...objectOf(definition, "held"), metadata: { name: "held", finalizers: ["example.org/hold"] } };
      await send(target(), "POST", path, held);
      const marked = await send(target(), "DELETE", `${DEFINITIONS}/${definition.metadata.name}`);
      expect(marked.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
      expect(marked.status.conditions.map((each: Any) => each.type)).toEqual([
        "NamesAccepted",
        "Established",
        "Terminating",
      ]);
      await until("the free one is gone", async () => (await send(target(), "GET", path)).items.length === 1);
      const refusal = await send(target(), "POST", path, objectOf(definition, "late"));
      const why = "create not allowed while custom resource definition is terminating";
      expect([refusal.code, refusal.reason, refusal.message]).toEqual([
        403,
        "Forbidden",
        `goings.conformance.example.org "late" is forbidden: ${why}`,
      ]);
      expect(await readDefinition(target(), definition)).toMatchObject({ kind: "CustomResourceDefinition" });
      const free = { metadata: { finalizers: null } };
      await send(target(), "PATCH", `${path}/held`, free, "application/merge-patch+json");
    });
    expect((await target().http("GET", path)).status).toBe(404);
  });

  it("do not get names that others have, until these are free", async () => {
    const [first, second] = [definitionOf("Wanted", SPEC), definitionOf("Wanting", SPEC)];
    second.spec.names.shortNames = ["wanted"];
    await withDefinition(target(), first, async () => {
      await send(target(), "POST", DEFINITIONS, second);
      await until(
        "it has been looked at",
        async () => (await readDefinition(target(), second)).status.conditions?.length > 1,
      );
      const { status } = await readDefinition(target(), second);
      expect(status.conditions).toEqual([
        condition("NamesAccepted", "False", "ShortNamesConflict", '"wanted" is already in use'),
        condition("Established", "False", "NotAccepted", "not all names are accepted"),
      ]);
      expect((await target().http("GET", pathOf(second))).status).toBe(404);
    });
    await until("it is served", async () => (await target().http("GET", pathOf(second))).status === 200);
    await send(target(), "DELETE", `${DEFINITIONS}/${second.metadata.name}`);
  });
});

function scalePaths() {
  return { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" };
}

function condition(type: string, status: string, reason: string, message: string) {
  return { type, status, reason, message, lastTransitionTime: expect.any(String) };
}

function named(name: string) {
  return ({ metadata }: Definition) => Object.assign(metadata, { name });
}

/** With a field "x" in the spec. */
function x(schema: JsonSchema) {
  return ({ spec }: Definition) => {
    const properties = spec.versions[0]?.schema?.openAPIV3Schema?.properties?.spec?.properties;
    if (properties) properties.x = schema;
  };
}

/** With other fields beside the spec. */
function root(properties: Record<string, JsonSchema>) {
  return ({ spec }: Definition) =>
    void Object.assign(spec.versions[0]?.schema?.openAPIV3Schema?.properties ?? {}, properties);
}

function version(fields: Partial<Version>) {
  return ({ spec }: Definition) => Object.assign(spec.versions[0] ?? {}, fields);
}

function listMap(properties: Record<string, JsonSchema>, key: string): JsonSchema {
  return {
    type: "array",
    items: { type: "object", properties },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [key],
  };
}

function ruled(rule: NonNullable<JsonSchema["x-kubernetes-validations"]>[number]): JsonSchema {
  return { type: "integer", "x-kubernetes-validations": [rule] };
}
