import { describe, expect, it } from "vitest";
import type { FindStruct, GoField } from "./go-structs.ts";
import type { DiscoveredResource, GroupVersion, Schema } from "./openapi.ts";
import { simulatedFiles } from "./simulated.ts";

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const SHIP = "io.k8s.api.sea.v1.Ship";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";

const pointer: GoField = { pointer: true, omitEmpty: true, omitZero: false };
const optional: GoField = { pointer: false, omitEmpty: true, omitZero: false };
const always: GoField = { pointer: false, omitEmpty: false, omitZero: false };

function filesOf(
  fields: Record<string, [Schema, GoField]>,
  resources: DiscoveredResource[] = [],
  more: Record<string, Schema> = {},
) {
  const properties = Object.fromEntries(Object.entries(fields).map(([key, [schema]]) => [key, schema]));
  const schemas: Record<string, Schema> = {
    [SHIP]: {
      type: "object",
      description:
        "Ship floats. It has a long story, which is told elsewhere and does not fit here, at least not on this line of text.",
      properties,
      "x-kubernetes-group-version-kind": [{ group: "sea.example", version: "v1", kind: "Ship" }],
    },
    [`${META}.DeleteOptions`]: { type: "object" },
    ...more,
  };
  const discovery = {
    groupVersion: "sea.example/v1",
    resources: [{ name: "ships", kind: "Ship", namespaced: true, singularName: "ship", verbs: ["get"] }, ...resources],
  };
  const groupVersion: GroupVersion = { openApi: { components: { schemas } }, discovery };
  const structs: FindStruct = (name) =>
    new Map(name === SHIP ? Object.entries(fields).map(([key, [, field]]) => [key, field]) : []);
  return Object.fromEntries(
    [...simulatedFiles([groupVersion], structs)].map(([file, text]) => [file, JSON.parse(text)]),
  );
}

const nodesOf = (...args: Parameters<typeof filesOf>) => filesOf(...args)["schemas.json"][SHIP].fields;

describe("resources", () => {
  it("have their subresources, whatever group these are of", () => {
    const scale = {
      name: "ships/scale",
      kind: "Scale",
      namespaced: true,
      group: "autoscaling",
      version: "v1",
      verbs: ["get"],
    };
    const [ship] = filesOf({}, [scale])["resources.json"];
    expect(ship).toEqual({
      apiVersion: "sea.example/v1",
      kind: "Ship",
      plural: "ships",
      singular: "ship",
      namespaced: true,
      verbs: ["get"],
      schema: SHIP,
      subresources: [{ name: "scale", kind: "Scale", apiVersion: "autoscaling/v1", verbs: ["get"] }],
    });
  });
});

describe("schemas", () => {
  it("say what becomes of nothing: kept, dropped, or zero in its place", () => {
    const text: Schema = { type: "string" };
    const struct: Schema = { allOf: [ref(`${META}.ObjectMeta`)], default: {} };
    const more = { [`${META}.ObjectMeta`]: { type: "object" } } as const;
    const fields: Record<string, [Schema, GoField]> = {
      a: [text, pointer],
      b: [text, optional],
      c: [text, always],
      d: [struct, optional],
      e: [struct, pointer],
    };
    const nodes = nodesOf(fields, [], more);
    expect(Object.values(nodes).map((node) => (node as { empty?: string }).empty)).toEqual([
      undefined,
      "dropped",
      "zero",
      "zero",
      undefined,
    ]);
    expect(nodes.d).toEqual({ ref: `${META}.ObjectMeta`, empty: "zero" });
  });

  it("say how lists and maps are merged, and what they are made of", () => {
    const list: Schema = {
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "a",
    };
    const map: Schema = { type: "object", additionalProperties: ref(QUANTITY) };
    const { l, m } = nodesOf({ l: [list, optional], m: [map, optional] }, [], { [QUANTITY]: { type: "string" } });
    expect(l).toEqual({
      type: "array",
      element: { type: "string" },
      listType: "map",
      mapKeys: ["a"],
      patchStrategy: ["merge", "retainKeys"],
      patchMergeKey: "a",
      empty: "dropped",
    });
    expect(m).toEqual({ type: "map", element: { ref: QUANTITY }, empty: "dropped" });
  });

  it("know what has a form of its own", () => {
    const files = filesOf({ q: [ref(QUANTITY), pointer] }, [], { [QUANTITY]: { type: "string" } });
    expect(files["schemas.json"][QUANTITY]).toEqual({ type: "string", format: "quantity" });
  });

  it("refuse a field that Kubernetes' source does not have", () => {
    const structs: FindStruct = () => new Map();
    const schemas = {
      [SHIP]: {
        properties: { a: { type: "string" } },
        "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Ship" }],
      },
    } as const;
    const discovery = { groupVersion: "v1", resources: [{ name: "ships", kind: "Ship", namespaced: true }] };
    expect(() => simulatedFiles([{ openApi: { components: { schemas } }, discovery }], structs)).toThrow(
      'no field "a"',
    );
  });
});

it("descriptions are how the long ones begin", () => {
  const files = filesOf({
    a: [{ type: "string", description: "Its flag.\n\nMore." }, pointer],
    b: [{ type: "string" }, pointer],
  });
  expect(files["descriptions.json"][SHIP]).toEqual({ "": "Ship floats.", a: "Its flag." });
});
