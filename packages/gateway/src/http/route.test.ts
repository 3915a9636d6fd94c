/** What the server validates with. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { jsonSchemaOf } from "./json-schema.ts";
import { queryOf, type Route, unquoted, validated } from "./route.ts";

const schema = z.strictObject({
  limit: z.int().min(1).optional(),
  dry: z.boolean().optional(),
  name: z.string().optional(),
});

describe("a schema", () => {
  it("R18 is JSON Schema for others, made once", () => {
    expect(jsonSchemaOf(schema)).toMatchObject({
      type: "object",
      properties: { limit: { type: "integer", minimum: 1 }, dry: { type: "boolean" }, name: { type: "string" } },
      additionalProperties: false,
    });
    expect(jsonSchemaOf(schema)).not.toHaveProperty("$schema");
    expect(jsonSchemaOf(schema)).toBe(jsonSchemaOf(schema));
  });
});

describe("parameters", () => {
  it("R15 are numbers and truths where the schema says so, and texts elsewhere", () => {
    expect(unquoted(schema, { limit: "5", dry: "true", name: "5" })).toEqual({ limit: 5, dry: true, name: "5" });
    expect(unquoted(schema, { limit: "0x5", dry: "yes", other: "1" })).toEqual({
      limit: "0x5",
      dry: "yes",
      other: "1",
    });
    expect(unquoted(schema, { limit: ["1", "2"], constructor: "1" })).toEqual({ limit: ["1", "2"], constructor: "1" });
  });

  it("R15 that there are not are refused, also where there are none", () => {
    expect(() => queryOf({} as Route, { x: "1" })).toThrow(expect.objectContaining({ code: "BERTH_BODY_INVALID" }));
    expect(queryOf({} as Route, {})).toEqual({});
    expect(queryOf({ query: schema } as unknown as Route, { limit: "3" })).toEqual({ limit: 3 });
  });

  it("H1 that are wrong are named, the first in the message and twenty in all", () => {
    const wide = z.object(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, z.string()])));
    const error = (() => {
      try {
        return validated(wide, {}, "body");
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ code: "BERTH_BODY_INVALID", message: expect.stringMatching(/^body\.f0: /) });
    expect((error as { details: { errors: object[] } }).details.errors).toHaveLength(20);
  });
});
