import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FieldErrors } from "../api/field-errors.ts";
import type { AnyObject } from "../api/json.ts";
import type { Definition, JsonSchema } from "../custom/definition.ts";
import { resourcesOf } from "../custom/resources.ts";
import { validateBySchema } from "./validate.ts";

function problems(spec: JsonSchema, value: unknown, old?: unknown): string[] {
  const definition: Definition = {
    metadata: { name: "things.example.org" },
    spec: {
      group: "example.org",
      scope: "Cluster",
      names: { kind: "Thing", plural: "things" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
  const [resource] = resourcesOf(definition, { isNew: true, isGoing: () => false });
  if (!resource) throw new Error("there is a version");
  const object = (each: unknown) => ({ metadata: { name: "x" }, spec: each }) as AnyObject;
  const errors = new FieldErrors();
  validateBySchema(object(value), old === undefined ? undefined : object(old), resource, errors);
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}

describe("limits", () => {
  it.each<[JsonSchema, unknown, string[]]>([
    [{ type: "string", minLength: 2 }, "a", ['spec: Invalid value: "a": spec in body should be at least 2 chars long']],
    [{ type: "string", maxLength: 1 }, "😀", []],
    [{ type: "string", format: "ipv4" }, "x", ['spec: Invalid value: "x": spec in body must be of type ipv4: "x"']],
    [{ type: "string", format: "nobody-knows" }, "x", []],
    [
      { type: "integer", maximum: 5, exclusiveMaximum: true },
      5,
      ["spec: Invalid value: 5: spec in body should be less than 5"],
    ],
    [{ type: "integer", multipleOf: 3 }, 4, ["spec: Invalid value: 4: spec in body should be a multiple of 3"]],
    [{ type: "number" }, 4, []],
    [
      { type: "array", minItems: 1, items: { type: "string" } },
      [],
      ["spec: Invalid value: 0: spec in body should have at least 1 items"],
    ],
    [
      { type: "object", minProperties: 1 },
      {},
      ["spec: Invalid value: 0: spec in body should have at least 1 properties"],
    ],
    [{ type: "string", enum: ["a", "b"] }, "c", ['spec: Unsupported value: "c": supported values: "a", "b"']],
    [{ type: "string", nullable: true }, null, []],
    [{ type: "string" }, null, ['spec: Invalid value: "null": spec in body must be of type string: "null"']],
    [
      { type: "string", not: { pattern: "^a" } },
      "ab",
      ['<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
    ],
    [{ type: "string", allOf: [{ minLength: 2 }, { pattern: "^a" }] }, "ab", []],
    [
      { type: "string", allOf: [{ minLength: 3 }, { pattern: "^a" }] },
      "ab",
      [
        'spec: Invalid value: "ab": spec in body should be at least 3 chars long',
        '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
      ],
    ],
    [
      {
        type: "object",
        properties: { a: { type: "integer" } },
        anyOf: [{ required: ["a"] }, { properties: { a: { minimum: 5 } } }],
      },
      { a: 1 },
      [],
    ],
  ])("%j %j", (schema, value, expected) => {
    expect(problems(schema, value)).toEqual(expected);
  });
});

describe("what was wrong before", () => {
  const limited: JsonSchema = {
    type: "object",
    properties: { a: { type: "integer", maximum: 5 }, b: { type: "string" } },
  };

  it("may stay, but not become wrong in another way", () => {
    expect(problems(limited, { a: 9, b: "new" }, { a: 9 })).toEqual([]);
    expect(problems(limited, { a: 8 }, { a: 9 })).toHaveLength(1);
  });

  it("is known by its keys in lists that are maps, and by nothing in others", () => {
    const items: JsonSchema = {
      type: "object",
      required: ["k"],
      properties: { k: { type: "string" }, v: { type: "integer", maximum: 5 } },
    };
    const keyed: JsonSchema = {
      type: "array",
      items,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    };
    const [old, moved] = [
      [{ k: "a", v: 9 }],
      [
        { k: "b", v: 1 },
        { k: "a", v: 9 },
      ],
    ];
    expect(problems(keyed, moved, old)).toEqual([]);
    expect(problems({ type: "array", items }, moved, old)).toHaveLength(1);
  });

  it("counts for rules as well", () => {
    const ruled: JsonSchema = {
      type: "object",
      properties: { a: { type: "integer", "x-kubernetes-validations": [{ rule: "self < 5" }] }, b: { type: "string" } },
    };
    expect(problems(ruled, { a: 9, b: "x" }, { a: 9 })).toEqual([]);
    expect(problems(ruled, { a: 9 }, { a: 8 })).toEqual(["spec.a: Invalid value: 9: failed rule: self < 5"]);
  });
});

describe("rules", () => {
  it("of maps and lists see them as a whole, and do not show them", () => {
    const rules = { "x-kubernetes-validations": [{ rule: "size(self) > 0" }] };
    const map: JsonSchema = { type: "object", additionalProperties: { type: "string" }, ...rules };
    const list: JsonSchema = { type: "array", items: { type: "string" }, ...rules };
    expect([problems(map, {}), problems(list, [])]).toEqual([
      ["spec: Invalid value: failed rule: size(self) > 0"],
      ["spec: Invalid value: failed rule: size(self) > 0"],
    ]);
  });

  it("are not asked about what is of the wrong shape", () => {
    const schema: JsonSchema = {
      type: "object",
      required: ["a"],
      properties: { a: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.a > 1" }],
    };
    expect(problems(schema, {})).toEqual([
      "spec.a: Required value",
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ]);
  });
});

it("any JSON is judged, and never lets anything fail", () => {
  const schemas: JsonSchema[] = [
    {
      type: "object",
      properties: {
        a: { type: "array", items: { type: "string", format: "date-time" }, "x-kubernetes-list-type": "set" },
      },
    },
    {
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    },
    { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    { "x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{ rule: "self == 5" }] },
    { type: "object", additionalProperties: { type: "number", "x-kubernetes-validations": [{ rule: "self > 1.0" }] } },
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...schemas),
      fc.jsonValue(),
      fc.option(fc.jsonValue(), { nil: undefined }),
      (schema, value, old) => {
        expect(Array.isArray(problems(schema, value, old))).toBe(true);
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});
