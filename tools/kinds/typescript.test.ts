import { describe, expect, it } from "vitest";
import type { DiscoveredResource, GroupVersion, Schema } from "./openapi.ts";
import { typescriptOf } from "./typescript.ts";

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const described = (description: string, name: string): Schema => ({ description, allOf: [ref(name)] });
const meta = (name: string) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`;

/** A kind as the server describes it, with fields of our choice. */
function kindSchema(apiVersion: string, kind: string, properties: Record<string, Schema> = {}): Schema {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const common = {
    apiVersion: { type: "string", description: "APIVersion defines the versioned schema." },
    kind: { type: "string" },
    metadata: described("Standard object's metadata.", meta("ObjectMeta")),
  } satisfies Record<string, Schema>;
  return {
    type: "object",
    properties: { ...common, ...properties },
    "x-kubernetes-group-version-kind": [{ group, version, kind }],
  };
}

function groupVersion(
  groupVersion: string,
  schemas: Record<string, Schema>,
  resources: DiscoveredResource[],
): GroupVersion {
  return { openApi: { components: { schemas } }, discovery: { groupVersion, resources } };
}

const ships = (schemas: Record<string, Schema>, ...more: DiscoveredResource[]) =>
  groupVersion("sea.example/v1", schemas, [{ name: "ships", kind: "Ship", namespaced: true }, ...more]);

/** A file's lines without indentation, header and blank lines. */
function linesOf(groupVersions: GroupVersion[], file = "sea-v1.ts"): string[] {
  const text = typescriptOf(groupVersions, "a test").get(file);
  return (text ?? "").split("\n").slice(1).filter(Boolean);
}

/** The type of one field of a Ship. */
function typeOf(field: Schema, others: Record<string, Schema> = {}): string | undefined {
  const ship = kindSchema("sea.example/v1", "Ship", { field });
  const lines = linesOf([ships({ "io.k8s.api.sea.v1.Ship": ship, ...others })]);
  return lines.find((line) => line.startsWith('"field"'))?.replace(/^"field"\?: (.*);$/, "$1");
}

describe("kinds", () => {
  it("become an interface and a value, with what all objects have first", () => {
    const ship = kindSchema("sea.example/v1", "Ship", { cargo: { type: "string", description: "What it carries." } });
    expect(
      linesOf([ships({ "io.k8s.api.sea.v1.Ship": { ...ship, description: "Ship floats.", required: ["cargo"] } })]),
    ).toEqual([
      'import { type ObjectMeta, type WritableKind, kindOf } from "../objects/meta.ts";',
      "/** Ship floats. */",
      "export interface Ship {",
      "apiVersion?: string;",
      "kind?: string;",
      "metadata: ObjectMeta;",
      "/** What it carries. */",
      '"cargo": string;',
      "}",
      'export const Ship: WritableKind<Ship> = kindOf("sea.example/v1", "Ship", "ships");',
    ]);
  });

  it("say whether they have no namespace", () => {
    const harbour = { name: "harbours", kind: "Harbour", namespaced: false };
    const schemas = { "io.k8s.api.sea.v1.Harbour": kindSchema("v1", "Harbour") };
    expect(linesOf([groupVersion("v1", schemas, [harbour])]).at(-1)).toBe(
      'export const Harbour: WritableKind<Harbour> = kindOf("v1", "Harbour", "harbours", "Cluster");',
    );
  });

  it("of subresources alone have no value, and stand in the file of their own group", () => {
    const boarding = {
      name: "ships/boarding",
      kind: "Boarding",
      group: "port.example",
      version: "v2",
      namespaced: true,
    };
    const status = { name: "ships/status", kind: "Ship", namespaced: true };
    const documents = ships(
      {
        "io.k8s.api.sea.v1.Ship": kindSchema("sea.example/v1", "Ship"),
        "io.k8s.api.port.v2.Boarding": kindSchema("port.example/v2", "Boarding"),
      },
      boarding,
      status,
    );
    expect(linesOf([documents], "port-v2.ts").filter((line) => line.startsWith("export"))).toEqual([
      "export interface Boarding {",
    ]);
    expect(linesOf([documents]).filter((line) => line.startsWith("export const"))).toHaveLength(1);
  });

  it("are left out if nothing is kept of them: lists, and what is only called", () => {
    const documents = ships(
      {
        "io.k8s.api.sea.v1.Ship": kindSchema("sea.example/v1", "Ship"),
        "io.k8s.api.sea.v1.ShipList": kindSchema("sea.example/v1", "ShipList"),
      },
      { name: "ships/hail", kind: "HailOptions", namespaced: true },
    );
    expect(linesOf([documents]).filter((line) => line.startsWith("export interface"))).toEqual([
      "export interface Ship {",
    ]);
  });
});

describe("fields", () => {
  it.each<[Schema, string]>([
    [{ type: "boolean" }, "boolean"],
    [{ type: "integer" }, "number"],
    [{ type: "number" }, "number"],
    [{ type: "string", enum: ["In", "NotIn"] }, '"In" | "NotIn"'],
    [{ type: "array", items: { type: "string", enum: ["A", "B"] } }, '("A" | "B")[]'],
    [{ type: "object", additionalProperties: { type: "integer" } }, "Record<string, number>"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ oneOf: [{ type: "integer" }, { type: "string" }] }, "number | string"],
    [{}, "unknown"],
  ])("%j is %s", (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it("have the type that a name stands for, if that has no fields", () => {
    expect(typeOf(described("When.", meta("Time")), { [meta("Time")]: { type: "string" } })).toBe("string");
    const quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
    expect(typeOf(ref(quantity), { [quantity]: { oneOf: [{ type: "string" }, { type: "number" }] } })).toBe("string");
  });

  it("use the types that there are by hand", () => {
    expect(typeOf({ type: "array", items: ref(meta("Condition")) })).toBe("(Condition)[]");
    expect(typeOf(ref(meta("LabelSelector")))).toBe("LabelSelectorSpec");
  });

  it("refer to interfaces of the same file, and of others through their file", () => {
    const hull = "io.k8s.api.sea.v1.Hull";
    const crate = "io.k8s.api.port.v2.Crate";
    const fields = { type: "object", properties: { size: { type: "integer" } } } satisfies Schema;
    expect(typeOf(ref(hull), { [hull]: fields })).toBe("Hull");
    expect(typeOf({ type: "array", items: ref(crate) }, { [crate]: fields })).toBe("(portV2.Crate)[]");

    const ship = kindSchema("sea.example/v1", "Ship", { crate: ref(crate), next: { type: "array", items: ref(hull) } });
    const documents = ships({ "io.k8s.api.sea.v1.Ship": ship, [crate]: fields, [hull]: fields, unused: fields });
    expect(linesOf([documents])).toContain('import type * as portV2 from "./port-v2.ts";');
    expect(linesOf([documents], "port-v2.ts")).toEqual(["export interface Crate {", '"size"?: number;', "}"]);
    expect([...typescriptOf([documents], "a test").keys()].sort()).toEqual(["index.ts", "port-v2.ts", "sea-v1.ts"]);
    expect(linesOf([documents], "index.ts").slice(-2)).toEqual([
      'export * as portV2 from "./port-v2.ts";',
      'export * as seaV1 from "./sea-v1.ts";',
    ]);
  });

  it("may contain themselves", () => {
    const plank = "io.k8s.api.sea.v1.Plank";
    const schema: Schema = { type: "object", properties: { next: ref(plank) } };
    expect(typeOf(ref(plank), { [plank]: schema })).toBe("Plank");
  });

  it("of a type that nobody describes are an error", () => {
    expect(() => typeOf(ref("io.k8s.api.sea.v1.Nowhere"))).toThrow('there is no schema "io.k8s.api.sea.v1.Nowhere"');
  });
});
