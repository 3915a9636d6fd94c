import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeFrom } from "./patch.ts";

/** RFC 7386, as the standard writes it down. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.boolean(), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")),
})).object;
const object = value.map((spec) => ({ metadata: { name: "x", resourceVersion: "7" }, spec }));

describe("a merge patch between two states", () => {
  it("P1 leads from the one to the other", () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        const patch = mergeFrom(from, to) as { merge: object };
        expect(merged(from, patch.merge)).toEqual(to);
      }),
    );
  });

  it("P1 is empty between equal ones", () => {
    fc.assert(
      fc.property(object, (same) => {
        expect(mergeFrom(same, structuredClone(same))).toEqual({ merge: {} });
      }),
    );
  });

  it("P2 can be bound to the first of them", () => {
    const from = { metadata: { resourceVersion: "7" }, spec: { a: 1, b: 2 } };
    const to = { metadata: { resourceVersion: "7" }, spec: { a: 1, b: 3 } };
    expect(mergeFrom(from, to, { optimistic: true })).toEqual({
      merge: { metadata: { resourceVersion: "7" }, spec: { b: 3 } },
    });
  });
});
