/** The catalogue of errors, and the page that explains it. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCatalogue, GatewayError } from "./errors.ts";

describe("the error catalogue", () => {
  it("is documented code by code", () => {
    const page = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
    for (const code of Object.keys(errorCatalogue)) expect(page).toContain(`| \`${code}\` |`);
  });

  it("has no code that nothing throws", () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".ts") && file !== "errors.ts" && !file.endsWith(".test.ts"));
    const text = sources.map((file) => readFileSync(`${import.meta.dirname}/${file}`, "utf8")).join("\n");
    for (const code of Object.keys(errorCatalogue)) expect(text, code).toContain(`"${code}"`);
  });

  it("gives every error a code that stays, a status of HTTP, and a remedy for people", () => {
    const error = new GatewayError("BERTH_SLOT_TAKEN", "pi has slot 3");
    expect(error).toMatchObject({
      name: "GatewayError",
      code: "BERTH_SLOT_TAKEN",
      message: "pi has slot 3",
      details: {},
    });
    expect([error.status, error.remedy]).toEqual([409, errorCatalogue.BERTH_SLOT_TAKEN.remedy]);
    for (const [code, { status, title, remedy }] of Object.entries(errorCatalogue)) {
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(status, code).toBeLessThan(600);
      expect(title, code).toMatch(/^[A-Z].*[^.]$/);
      expect(remedy, code).toMatch(/^[A-Z].*\.$/);
    }
  });
});
