/** Pages and ETags, without a cluster. */
import type { KubernetesObject } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Asked } from "../http/route.ts";
import { etagOf, mustExist, one, paged, versionIn } from "./common.ts";

const object = (name: string, labels = {}): KubernetesObject => ({ metadata: { name, labels } });
const asked = (headers: Asked["headers"]) => ({ headers }) as Asked;

describe("pages", () => {
  it("R12 put together are the whole list, in order, whatever their size", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/)), fc.integer({ min: 1, max: 5 }), (names, limit) => {
        const objects = names.map((name) => object(name));
        const seen: (string | undefined)[] = [];
        let next: string | undefined;
        do {
          const page = paged(objects, { limit, ...(next !== undefined && { after: next }) });
          expect(page.total).toBe(names.length);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          seen.push(...page.items.map(({ metadata }) => metadata.name));
          next = page.next;
        } while (next !== undefined);
        expect(seen).toEqual([...names].sort());
      }),
    );
  });

  it("R12 have those objects only that are meant, and count them", () => {
    const objects = [object("a", { team: "x" }), object("b"), object("c", { team: "y" })];
    expect(paged(objects, { labelSelector: "team" })).toMatchObject({ total: 2, items: [{}, {}] });
    expect(paged(objects, { labelSelector: "team=y", limit: 1 })).not.toHaveProperty("next");
    expect(() => paged(objects, { labelSelector: "=" })).toThrow(
      expect.objectContaining({ code: "BERTH_BODY_INVALID", message: expect.stringContaining("query.labelSelector") }),
    );
  });
});

describe("an ETag", () => {
  it("R13 begins with the version, and changes with anything that is shown", () => {
    const view = { version: "17", waiting: true };
    expect(etagOf(view)).toMatch(/^"17\.[0-9a-f]{12}"$/);
    expect(etagOf({ ...view })).toBe(etagOf(view));
    const other = { ...view, waiting: false };
    expect(etagOf(other)).not.toBe(etagOf(view));
  });

  it("R13 is sent back to say that one has it, alone or among others", () => {
    const view = { version: "17" };
    const etag = etagOf(view);
    for (const known of [etag, `W/${etag}`, `"a" , ${etag}`, "*", ["x", etag]]) {
      expect(one(view, asked({ "if-none-match": known }))).toEqual({ status: 304, headers: { etag } });
    }
    for (const known of [undefined, "", '"17"', "17"]) {
      expect(one(view, asked({ "if-none-match": known })), String(known)).toEqual({ headers: { etag }, body: view });
    }
  });

  it("R4 is sent to say what has to be so still; as good is the version", () => {
    const version = (text: string | undefined) => versionIn(asked({ "if-match": text }));
    expect([version(undefined), version("*"), version(" * ")]).toEqual([undefined, undefined, undefined]);
    for (const text of ['"17"', "17", 'W/"17"', '"17.0123abcdef"', ' "17" ']) expect(version(text), text).toBe("17");
    for (const text of ["", '""', '"a"', '"17", "18"', '"-1"', '"17.xyz"', "17 18"]) {
      expect(() => version(text), text).toThrow(expect.objectContaining({ code: "BERTH_CHANGED_MEANWHILE" }));
    }
  });
});

describe("an object", () => {
  it("R3 that there is not is not found", () => {
    expect(mustExist(0, "job", "a")).toBe(0);
    expect(() => mustExist(undefined, "job", "a")).toThrow("there is no job a");
  });
});
