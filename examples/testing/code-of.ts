import { readFileSync } from "node:fs";

/** An example from its first import on, as READMEs show it. */
export function codeOf(file: string): string {
  const text = readFileSync(file, "utf8");
  return text.slice(text.indexOf("\nimport ") + 1).trimEnd();
}
