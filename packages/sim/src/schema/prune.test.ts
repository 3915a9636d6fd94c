import fc from "fast-check";
import { expect, it } from "vitest";
import { schemaNode } from "../custom/schema-node.ts";
import { pruned } from "./prune.ts";
import { Unreadable } from "./scalars.ts";

const schema = schemaNode({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        text: { type: "string" },
        maybe: { type: "string", nullable: true },
        filled: { type: "string", default: "x" },
        list: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
        map: { type: "object", additionalProperties: { type: "object", properties: { a: { type: "string" } } } },
        free: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object" } },
        },
        anything: { "x-kubernetes-preserve-unknown-fields": true },
        loose: { type: "object", additionalProperties: true },
      },
    },
  },
});

function prune(given: object) {
  const unknown: string[] = [];
  return { object: pruned(given as Record<string, unknown>, schema, unknown), unknown };
}

it("only known fields are kept, whatever they hold", () => {
  const spec = { text: { deep: [1] }, more: 1, list: [{ a: 1, b: 2 }, 5], map: { k: { a: 1, c: 3 } } };
  expect(prune({ apiVersion: "a/v1", kind: "A", spec, status: {} })).toEqual({
    object: { apiVersion: "a/v1", kind: "A", spec: { text: {}, list: [{ a: 1 }, 5], map: { k: { a: 1 } } } },
    unknown: ["spec.list[0].b", "spec.map.k.c", "spec.more", "spec.text.deep", "status"],
  });
});

it("what is to be kept is kept, except inside of what is known", () => {
  const spec = {
    free: { any: { a: null }, known: { lost: 1 } },
    anything: [{ a: { b: 1 } }],
    loose: { a: 1, b: { c: 1 } },
  };
  expect(prune({ spec })).toEqual({
    object: { spec: { free: { any: { a: null }, known: {} }, anything: [{ a: { b: 1 } }], loose: { a: 1, b: {} } } },
    unknown: ["spec.free.known.lost", "spec.loose.b.c"],
  });
});

it("null is dropped unless it may be there, or makes room for a default", () => {
  expect(prune({ spec: { text: null, maybe: null, filled: null, list: [null] } }).object).toEqual({
    spec: { maybe: null, filled: null, list: [null] },
  });
});

it("metadata is read as that of any object, and told of first", () => {
  const given = { a: 1, metadata: { name: "x", foo: 1, labels: { a: null } } };
  expect(prune(given)).toEqual({
    object: { metadata: { name: "x", labels: { a: "" } } },
    unknown: ["metadata.foo", "a"],
  });
  expect(() => prune({ metadata: { labels: 5 } })).toThrow(Unreadable);
  expect(() => prune({ metadata: "x" })).toThrow(Unreadable);
});

it("any JSON comes out as it is the second time", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (spec) => {
      const { object } = prune(JSON.parse(JSON.stringify({ spec })));
      expect(prune(object)).toEqual({ object, unknown: [] });
    }),
  );
});
