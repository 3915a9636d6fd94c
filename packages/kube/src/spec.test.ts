/** The specification and the tests keep each other honest. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const spec = readFileSync(new URL("../SPEC.md", import.meta.url), "utf8");
const rules = [...spec.matchAll(/\*\*([A-Z]\d+)\*\*/g)].map(([, rule]) => rule as string);

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
const titles = files
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"))
  .flatMap((text) =>
    [...text.matchAll(/\bit(?:\.each[^"`]*?\]\)|\.each.*?\))?\(\s*["`]([^"`]+)/gs)].map(([, title]) => title),
  );
const cited = new Set(
  titles.flatMap((title) => [...(title as string).matchAll(/\b([A-Z]\d+)\b/g)].map(([, rule]) => rule)),
);

describe("SPEC.md", () => {
  it("has each rule once", () => {
    expect(rules).toEqual([...new Set(rules)]);
  });

  it.each(rules)("has a test for %s", (rule) => {
    expect(cited).toContain(rule);
  });
});

describe("what the package exports", () => {
  const index = readFileSync(join(import.meta.dirname, "index.ts"), "utf8");
  const exports = [...index.matchAll(/export (?:type )?\{([^}]+)\} from "(.+)"/g)].flatMap(
    ([, names = "", file = ""]) =>
      names
        .split(",")
        .map((name) => name.replace("type ", "").trim())
        .filter(Boolean)
        .map((name) => [name, file] as const),
  );

  it.each(exports)("%s is documented where it is declared", (name, file) => {
    const lines = readFileSync(join(import.meta.dirname, file), "utf8").split("\n");
    const declared = lines.findIndex((line) =>
      new RegExp(`^export .*\\b(class|interface|type|const|function) ${name}\\b`).test(line),
    );
    expect(lines[declared - 1]?.trim()).toMatch(/\*\/$/);
  });
});
