import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { ObjectOf } from "../objects/meta.ts";
import { defineResource } from "./define-resource.ts";
import { intOrString, toStructural } from "./structural.ts";
import { badSpecs, goodSpecs, Sample } from "./testing/sample.ts";

const object = (spec: unknown) => ({ apiVersion: Sample.apiVersion, kind: "Sample", metadata: { name: "s" }, spec });

describe("toStructural", () => {
  it.each([
    ["a union", z.union([z.string(), z.boolean()]), "exactly one is set"],
    [
      "a discriminated union",
      z.discriminatedUnion("t", [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b") })]),
      "oneOf",
    ],
    ["a tuple", z.tuple([z.string(), z.int()]), "anyOf"],
    ["a refinement", z.string().refine((text) => text !== "x"), "CEL rule"],
    ["a transformation", z.string().transform((text) => text.length), "transform it in the program"],
    ["a date", z.date(), "only what JSON has"],
    ["a bigint", z.bigint(), "only what JSON has"],
    ["a map with restricted keys", z.record(z.enum(["a", "b"]), z.string()), "keys"],
    ["a map with a pattern for its keys", z.record(z.string().regex(/^a/), z.string()), "keys"],
    ["a pattern with look-ahead", z.string().regex(/^(?=a)/), "(?="],
    ["a pattern with a reference back", z.string().regex(/(a)\1/), "\\1"],
    ["a host name, whose pattern looks ahead", z.hostname(), "(?="],
    ["literals of different types", z.literal(["a", 1]), "no type"],
    ["nothing", z.never(), "never"],
  ])("X1 refuses %s, and says where and what instead", (_, field, message) => {
    const schema = z.object({ outer: z.object({ list: z.array(z.object({ field })) }) });
    const refused = (text: unknown) => expect.objectContaining({ code: "KUBE_SCHEMA_NOT_STRUCTURAL", message: text });
    const refusing = () => toStructural(schema, "spec");
    expect(refusing).toThrow(refused(expect.stringMatching(/^spec\.outer\.list\[\]\.field/)));
    expect(refusing).toThrow(refused(expect.stringContaining(message)));
  });

  it("X1 refuses a schema that contains itself", () => {
    type Tree = { children?: Tree[] | undefined };
    const tree: z.ZodType<Tree> = z.object({ children: z.array(z.lazy(() => tree)).optional() });
    expect(() => toStructural(z.object({ tree }), "spec")).toThrow("cannot contain itself");
  });

  it("X2 translates whole numbers, open objects, maps and mixtures as Kubernetes has them", () => {
    const schema = z.object({
      large: z.int(),
      small: z.int32(),
      open: z.looseObject({}),
      strict: z.strictObject({ a: z.string() }),
      map: z.record(z.string(), z.string()),
      either: intOrString().describe("a port"),
      anything: z.any(),
    });
    expect(toStructural(schema, "spec").properties).toEqual({
      large: { type: "integer", format: "int64" },
      small: { type: "integer", format: "int32" },
      open: { type: "object", properties: {}, "x-kubernetes-preserve-unknown-fields": true },
      strict: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      map: { type: "object", additionalProperties: { type: "string" } },
      either: {
        description: "a port",
        anyOf: [{ type: "integer" }, { type: "string" }],
        "x-kubernetes-int-or-string": true,
      },
      anything: { "x-kubernetes-preserve-unknown-fields": true },
    });
  });
});

describe("defineResource", () => {
  it("X3 gives objects their type", () => {
    type Sample = ObjectOf<typeof Sample>;
    expectTypeOf<Sample["spec"]["count"]>().toEqualTypeOf<number>();
    expectTypeOf<Sample["spec"]["mode"]>().toEqualTypeOf<"Gate" | "Extender">();
    expectTypeOf<NonNullable<Sample["status"]>["phase"]>().toEqualTypeOf<"Ready" | "Failed" | undefined>();
  });

  it.each(goodSpecs)("X4 accepts %j", (spec) => {
    expect(Sample.validate(object(spec))).toEqual([]);
  });

  it.each(badSpecs)("X4 refuses at %s: %j", (where, spec) => {
    expect(Sample.validate(object(spec)).map(({ path }) => path)).toContain(where);
  });

  it("X4 says what is wrong, all of it", () => {
    expect(Sample.validate(object({ name: "abc", mode: "X", extra: 1 }))).toEqual([
      { path: "spec.extra", message: "is unknown" },
      { path: "spec.mode", message: "must be one of Gate, Extender" },
    ]);
    expect(Sample.validate({ metadata: {} })).toEqual([{ path: "spec", message: "is required" }]);
  });

  it.each([
    { group: "nodots" },
    { group: "Example.org" },
    { version: "1" },
    { version: "v1gamma" },
    { kind: "lower" },
    { plural: "With Space" },
  ])("X5 refuses names that Kubernetes does not allow: %j", (wrong) => {
    const right = { group: "example.org", version: "v1", kind: "Thing", spec: z.object({}) };
    expect(() => defineResource({ ...right, ...wrong })).toThrow(
      expect.objectContaining({ code: "KUBE_SCHEMA_NOT_STRUCTURAL" }),
    );
  });

  it("X6 documents every field, with its type, default and rules", () => {
    const docs = Sample.docs();
    expect(docs).toContain("# Sample\n\nSomething of everything.");
    expect(docs).toContain(
      "| `spec.name` * | string, at least 2 characters, at most 10 characters, matching `^[a-z]+$` |  | A short name \\| in lower case. |",
    );
    expect(docs).toContain("| `spec.count` | integer, ≥ 1, ≤ 100 | `2` | How many. |");
    expect(docs).toContain("| `spec.share` | number, > 0, ≤ 1 |");
    expect(docs).toContain("| `spec.jobs[].slots` | list of integer, ≥ 0 |");
    expect(docs).toContain("| `spec.port` | integer or string |");
    expect(docs).toContain("| `status.phase` | `Ready`, `Failed` |");
    expect(docs).toContain("- this name is taken\n- `spec`: more than 50 need the Gate\n");
  });
});
