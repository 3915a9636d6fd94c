import { expect, it } from "vitest";
import { schemaNode } from "../custom/schema-node.ts";
import { fillIn } from "./defaults.ts";

const item = { type: "object", properties: { a: { type: "string", default: "x" } } } as const;
const node = schemaNode({
  type: "object",
  properties: {
    plain: { type: "integer", default: 0 },
    maybe: { type: "string", nullable: true, default: "m" },
    inner: item,
    made: { ...item, default: {} },
    list: { type: "array", items: { ...item, default: { a: "y" } } },
    map: { type: "object", additionalProperties: item },
    object: { type: "object", default: { b: [1] }, properties: { b: { type: "array", items: { type: "integer" } } } },
    none: { type: "object", properties: { deep: { type: "string" } } },
  },
});

function filled(value: unknown): unknown {
  const copy = structuredClone(value);
  fillIn(copy, node);
  return copy;
}

const always = { plain: 0, maybe: "m", made: { a: "x" }, object: { b: [1] } };

it.each([
  [{}, always],
  [
    { plain: null, maybe: null },
    { ...always, maybe: null },
  ],
  [
    { inner: {}, none: {} },
    { ...always, inner: { a: "x" }, none: {} },
  ],
  [{ list: [{}, null, { a: "z" }] }, { ...always, list: [{ a: "x" }, { a: "y" }, { a: "z" }] }],
  [{ map: { k: {}, l: { a: "q" } } }, { ...always, map: { k: { a: "x" }, l: { a: "q" } } }],
  [
    { inner: "text", list: {}, map: [] },
    { ...always, inner: "text", list: {}, map: [] },
  ],
  ["text", "text"],
  [null, null],
])("%j becomes %j", (given, expected) => {
  expect(filled(given)).toEqual(expected);
});

it("each object has a default of its own", () => {
  const [first, second] = [filled({}), filled({})] as { object: { b: number[] } }[];
  first?.object.b.push(2);
  expect(second?.object.b).toEqual([1]);
});
