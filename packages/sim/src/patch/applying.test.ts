/** What must hold of server-side apply whatever is applied, by whomever, in whatever order. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyOf, isObject, type JsonObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import { isEmpty, pathsOf } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { fieldsV1, fromFieldsV1 } from "./fields-v1.ts";
import { merged } from "./merging.ts";
import { shownPath } from "./path-element.ts";
import { AppServer, appResource, appSchema } from "./testing.ts";

const text = fc.constantFrom("x", "y", "z");
const name = fc.constantFrom("a", "b", "c");
const texts = fc.dictionary(name, text, { minKeys: 1, noNullPrototype: true });
const pair = fc.record({ a: text, b: text }, { requiredKeys: ["a"] });

/** Never empty lists and maps: what is left of those has quirks of its own, see the conformance tests. */
const spec = fc.record(
  {
    replicas: fc.nat(2),
    image: text,
    selector: texts,
    pair,
    labels: texts,
    pairs: fc.dictionary(name, pair, { minKeys: 1, noNullPrototype: true }),
    args: fc.array(text, { minLength: 1, maxLength: 3 }),
    tags: fc.uniqueArray(name, { minLength: 1 }),
    containers: fc.uniqueArray(fc.record({ name, image: text, env: texts }, { requiredKeys: ["name"] }), {
      selector: (each) => each.name,
      minLength: 1,
    }),
    ports: fc.uniqueArray(
      fc.record({ port: fc.nat(2), protocol: fc.constantFrom("TCP", "UDP"), note: text }, { requiredKeys: ["port"] }),
      { selector: ({ port, protocol = "TCP" }) => `${port}/${protocol}`, minLength: 1 },
    ),
    free: fc.oneof(text, fc.dictionary(name, fc.oneof(text, texts), { minKeys: 1, noNullPrototype: true })),
  },
  { requiredKeys: ["replicas"] },
);
const configuration = fc.record({ spec }) as fc.Arbitrary<JsonObject>;
const manager = fc.constantFrom("ann", "bob", "cid");

type Step = { readonly how: "apply" | "force" | "merge"; readonly as: string; readonly fields: JsonObject };
const step: fc.Arbitrary<Step> = fc.record({
  how: fc.constantFrom("apply", "force", "merge"),
  as: manager,
  fields: configuration,
});

function take(app: AppServer, { how, as, fields }: Step): void {
  try {
    if (how === "merge") app.merge(fields, { as });
    else app.apply(fields, { as, force: how === "force" });
  } catch (error) {
    // Conflicts, and lists that have lost their last item: refused, and nothing has happened.
    if (!(error instanceof Refusal)) throw error;
  }
}

/** A server on which some things have happened. */
const world = fc.tuple(configuration, fc.array(step, { maxLength: 6 })).map(([first, steps]) => {
  const app = new AppServer();
  app.create(first, { as: "ann" });
  for (const each of steps) take(app, each);
  return app;
});

/** Whether an object says everything that a configuration says. */
function contains(object: unknown, part: unknown): boolean {
  return JSON.stringify(sorted(merged(object, part, appSchema))) === JSON.stringify(sorted(object));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

const RUNS = { numRuns: 40 };

describe("whatever is applied", () => {
  it("is there, if forced, and the second time changes nothing", () => {
    fc.assert(
      fc.property(world, configuration, manager, (app, fields, as) => {
        let after: unknown;
        try {
          after = app.apply(fields, { as, force: true });
        } catch (error) {
          if (error instanceof Refusal && error.body.code === 422) return; // something would be left without any items
          throw error;
        }
        expect(contains(app.get(), fields)).toBe(true);
        expect(app.apply(fields, { as })).toBe(after);
      }),
      RUNS,
    );
  });

  it("is owned: these fields, and no others", () => {
    fc.assert(
      fc.property(world, configuration, (app, fields) => {
        try {
          app.apply(fields, { as: "dan", force: true });
        } catch {
          return;
        }
        expect(app.owners()["dan/Apply"]).toEqual(fieldsV1(fieldsOf(fields, appSchema)));
      }),
      RUNS,
    );
  });

  it("conflicts with others or is done, and if it conflicts nothing happens", () => {
    fc.assert(
      fc.property(world, configuration, manager, (app, fields, as) => {
        const [before, owners] = [app.get(), copyOf(app.owners())];
        try {
          app.apply(fields, { as });
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
          expect(app.get()).toBe(before);
          expect(app.owners()).toEqual(owners);
          return;
        }
        expect(contains(app.get(), fields)).toBe(true);
      }),
      RUNS,
    );
  });

  it("takes nothing from those who own it and are not forced", () => {
    fc.assert(
      fc.property(world, configuration, (app, fields) => {
        const before = app.owners();
        try {
          app.apply(fields, { as: "dan" });
        } catch {
          return;
        }
        const { "dan/Apply": _, ...others } = app.owners();
        expect(others).toEqual(before);
      }),
      RUNS,
    );
  });

  it("every field that somebody owns is there", () => {
    const resource = appResource();
    fc.assert(
      fc.property(world, (app) => {
        const present = new Set([...pathsOf(fieldsOf(app.get(), resource.schema))].map(shownPath));
        for (const fields of Object.values(app.owners())) {
          const owned = fromFieldsV1(fields);
          expect(isEmpty(owned)).toBe(false);
          for (const path of pathsOf(owned)) {
            // Objects of the kind itself are not listed among the fields that are there; their fields are.
            const shown = shownPath(path);
            expect(
              [...present].some(
                (each) => each === shown || each.startsWith(`${shown}.`) || each.startsWith(`${shown}[`),
              ),
            ).toBe(true);
          }
        }
      }),
      RUNS,
    );
  });

  it("is the same whether owners are worked out after each write or at the end", () => {
    fc.assert(
      fc.property(configuration, fc.array(step, { maxLength: 12 }), (first, steps) => {
        const [late, early] = [new AppServer(), new AppServer()];
        for (const app of [late, early]) app.create(first, { as: "ann" });
        for (const each of steps) {
          for (const app of [late, early]) take(app, each);
          early.owners();
        }
        expect(late.owners()).toEqual(early.owners());
        expect(late.get().spec).toEqual(early.get().spec);
      }),
      RUNS,
    );
  });

  it("never changes what it was given", () => {
    fc.assert(
      fc.property(world, configuration, (app, fields) => {
        const copy = copyOf(fields);
        take(app, { how: "force", as: "ann", fields });
        expect(fields).toEqual(copy);
      }),
      RUNS,
    );
  });

  it("may be anything at all, and is then refused in words of the API", () => {
    const anything = fc.jsonValue({ maxDepth: 4 }).map((value) => copyOf(value) as JsonObject);
    fc.assert(
      fc.property(world, anything, anything, (app, spec, metadata) => {
        for (const fields of [
          { spec },
          { metadata },
          { spec: { containers: spec } },
          { [JSON.stringify(spec)]: metadata },
        ]) {
          take(app, { how: "force", as: "ann", fields });
          take(app, { how: "merge", as: "ann", fields });
        }
        expect(app.get().metadata.name).toBe("it");
        expect(app.owners()).toBeTypeOf("object");
      }),
      RUNS,
    );
  });
});
