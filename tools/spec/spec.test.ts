/** In every package that has a SPEC.md, the specification and the tests keep each other honest. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../../packages", import.meta.url));
const specified = readdirSync(packages).filter((name) => existsSync(join(packages, name, "SPEC.md")));

/** The titles of all tests in a package. */
function titlesIn(source: string): string[] {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => /\.(test|suite)\.ts$/.test(file))
    .map((file) => readFileSync(join(source, file), "utf8"))
    .flatMap((text) =>
      [...text.matchAll(/\bit(?:\.each[^"`]*?\]\)|\.each.*?\))?\(\s*["`]([^"`]+)/gs)].map(
        ([, title]) => title as string,
      ),
    );
}

describe.each(specified)("packages/%s", (name) => {
  const source = join(packages, name, "src");
  const spec = readFileSync(join(packages, name, "SPEC.md"), "utf8");
  const rules = [...spec.matchAll(/\*\*([A-Z]\d+)\*\*/g)].map(([, rule]) => rule as string);
  const cited = new Set(titlesIn(source).flatMap((title) => title.match(/\b[A-Z]\d+\b/g) ?? []));

  it("has each rule once", () => {
    expect(rules).toEqual([...new Set(rules)]);
  });

  it.each(rules)("has a test for %s", (rule) => {
    expect(cited).toContain(rule);
  });

  const index = readFileSync(join(source, "index.ts"), "utf8");
  const exports = [...index.matchAll(/export (?:type )?\{([^}]+)\} from "(.+)"/g)].flatMap(
    ([, names = "", file = ""]) =>
      names
        .split(",")
        .map((each) => each.replace("type ", "").trim())
        .filter(Boolean)
        .map((each) => [each, file] as const),
  );

  it.each(exports)("%s is documented where it is declared", (exported, file) => {
    const lines = readFileSync(join(source, file), "utf8").split("\n");
    const declared = lines.findIndex((line) =>
      new RegExp(`^export .*\\b(class|interface|type|const|function) ${exported}\\b`).test(line),
    );
    expect(lines[declared - 1]?.trim()).toMatch(/\*\/$/);
  });
});
