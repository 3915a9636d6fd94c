import { expect, it } from "vitest";
import { Definitions } from "./definitions.ts";

const definitions = new Definitions(
  {
    Tree: {
      type: "object",
      required: ["name"],
      fields: {
        name: { type: "string", empty: "zero" },
        parent: { ref: "Tree" },
        children: { type: "array", element: { ref: "Tree" }, listType: "map", mapKeys: ["name"], empty: "dropped" },
        size: { ref: "Quantity", empty: "null" },
        either: { ref: "Either" },
      },
    },
    Quantity: { type: "string", format: "quantity" },
    Either: {
      type: "any",
      alternatives: { object: { ref: "Tree" }, array: { type: "array", element: { ref: "Tree" } } },
    },
  },
  () => ({ Tree: { "": "A tree.", name: "How it is called." } }),
);

it("definitions are linked, also to themselves", () => {
  const tree = definitions.get("Tree");
  expect([tree?.type, tree?.name, tree?.required]).toEqual(["object", "Tree", ["name"]]);
  expect(tree?.fields?.parent?.fields).toBe(tree?.fields);
  expect(tree?.fields?.children?.element?.fields).toBe(tree?.fields);
  expect(tree?.fields?.children).toMatchObject({ listType: "map", mapKeys: ["name"], empty: "dropped" });
  expect(tree?.fields?.size).toMatchObject({ type: "string", format: "quantity", name: "Quantity", empty: "null" });
  expect(tree?.fields?.either?.alternatives?.array?.element?.fields).toBe(tree?.fields);
  expect(tree?.always).toEqual(["name", "size"]);
});

it("there is nothing but what is defined", () => {
  expect(definitions.get("constructor")).toBeUndefined();
  expect(definitions.get("Tree")?.fields?.constructor).toBeUndefined();
  expect(
    () => new Definitions({ A: { ref: "B", type: "object", fields: { x: { ref: "C" } } } }).get("A")?.fields,
  ).toThrow("C");
});

it("a field is described by what is said of it, or of what it is", () => {
  const tree = definitions.get("Tree");
  expect([tree?.description, tree?.fields?.name?.description, tree?.fields?.parent?.description]).toEqual([
    ...["A tree.", "How it is called.", "A tree."],
  ]);
  expect(tree?.fields?.size?.description).toBeUndefined();
});
