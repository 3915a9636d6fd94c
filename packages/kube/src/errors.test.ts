import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCatalogue, hasCode, KubeError } from "./errors.ts";

const page = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
const documented = [...page.matchAll(/`(KUBE_[A-Z_]+)`/g)].map(([, code]) => code);

describe("the error catalogue", () => {
  it("is documented code by code, and nothing else is", () => {
    expect([...new Set(documented)].sort()).toEqual(Object.keys(errorCatalogue).sort());
  });

  it("has no code that nothing throws", () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".ts") && file !== "errors.ts" && !file.endsWith(".test.ts"));
    const text = sources.map((file) => readFileSync(`${import.meta.dirname}/${file}`, "utf8")).join("\n");
    for (const code of Object.keys(errorCatalogue)) expect(text, code).toContain(`"${code}"`);
  });

  it("gives every error a code that stays and a remedy for people", () => {
    const error = new KubeError("KUBE_SELECTOR_INVALID", "no");
    expect(error).toMatchObject({ name: "KubeError", message: "no", remedy: errorCatalogue.KUBE_SELECTOR_INVALID });
    expect(hasCode(error, "KUBE_SELECTOR_INVALID")).toBe(true);
    expect(hasCode(error, "KUBE_SHUT_DOWN")).toBe(false);
    expect(hasCode(new Error("no"), "KUBE_SHUT_DOWN")).toBe(false);
  });
});
