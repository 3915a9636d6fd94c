/** In every package that has a catalogue of errors, the page that explains it and the code that throws keep it honest. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../../packages", import.meta.url));
const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");

const catalogues = new Map<string, readonly string[]>();
for (const name of readdirSync(packages)) {
  const file = join(packages, name, "src", "errors.ts");
  if (!existsSync(file)) continue;
  const { errorCatalogue } = (await import(file)) as { errorCatalogue?: object };
  if (errorCatalogue) catalogues.set(name, Object.keys(errorCatalogue));
}

/** Codes that begin so are of one package, and the page must not name any that it does not have. */
const OWN: Readonly<Record<string, RegExp>> = { kube: /`(KUBE_[A-Z_]+)`/g, cluster: /`(BERTH_CLUSTER_[A-Z_]+)`/g };

it("catalogues are found", () => {
  expect([...catalogues.keys()]).toEqual(expect.arrayContaining(["cli", "cluster", "gateway", "kube", "operator"]));
});

describe.each([...catalogues])("the error catalogue of %s", (name, codes) => {
  it("is documented code by code, and nothing else is", () => {
    for (const code of codes) expect(page).toContain(`| \`${code}\` |`);
    const own = OWN[name];
    if (!own) return; // others share their prefix
    const documented = [...page.matchAll(own)].map(([, code]) => code);
    expect([...new Set(documented)].sort()).toEqual([...codes].sort());
  });

  it("has no code that nothing throws", () => {
    const source = join(packages, name, "src");
    const files = readdirSync(source, { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".ts") && file !== "errors.ts" && !file.endsWith(".test.ts"));
    const text = sources.map((file) => readFileSync(join(source, file), "utf8")).join("\n");
    for (const code of codes) expect(text, code).toContain(`"${code}"`);
  });
});
