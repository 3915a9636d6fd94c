import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CliError, errorCatalogue } from "./errors.ts";

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

  it("gives every error a code that stays and a remedy for people", () => {
    const error = new CliError("BERTH_CLI_FILE", "no");
    expect(error).toMatchObject({ name: "CliError", code: "BERTH_CLI_FILE", message: "no" });
    expect(error.remedy).toBe(errorCatalogue.BERTH_CLI_FILE);
  });
});
