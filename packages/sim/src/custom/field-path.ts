/** Paths that a definition has to its own fields: ".spec.name", ".spec['a.b']". Pure. */
import type { JsonSchema } from "./definition.ts";

/** What a path leads to, or why it does not. */
export type PathResult =
  | { readonly schema: JsonSchema; readonly steps: readonly string[] }
  | { readonly problem: string };

const TOKENS = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]']+/g;

export function followPath(path: string, root: JsonSchema, options: { readonly brackets?: boolean } = {}): PathResult {
  const tokens = path.match(TOKENS) ?? [];
  const steps: string[] = [];
  let schema = root;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    let name: string | undefined;
    if (token === ".") name = tokens[++index];
    else if (token === "[") {
      if (options.brackets === false) return { problem: "array notation is not allowed" };
      const quoted = tokens[++index] ?? "";
      if (!/^'.*'$/.test(quoted)) return { problem: `expected single quoted string but got ${quoted}` };
      name = quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1");
      if (tokens[++index] !== "]") return { problem: `expected ] but got ${tokens[index] ?? ""}` };
    } else return { problem: `expected [ or . but got: ${token}` };
    if (name === undefined) return { problem: "unexpected end of JSON path" };
    const next = schema.properties
      ? schema.properties[name]
      : typeof schema.additionalProperties === "object"
        ? schema.additionalProperties
        : undefined;
    if (!next) return { problem: "does not refer to a valid field" };
    steps.push(name);
    schema = next;
  }
  return { schema, steps };
}

export function isFieldPath(path: string, root: JsonSchema): boolean {
  return "schema" in followPath(path, root);
}
