/** How fields are called in CEL, whose identifiers have no dots and dashes and some words of their own. */

const KEYWORDS = new Set([
  ...["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"],
  ...["let", "loop", "package", "namespace", "return", "var", "void", "while"],
]);

const ESCAPES: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

const known = new Map<string, string | undefined>();

/** `undefined` if rules cannot name the field at all. */
export function escaped(field: string): string | undefined {
  if (known.has(field)) return known.get(field);
  const name = nameFor(field);
  if (known.size < 10_000) known.set(field, name);
  return name;
}

function nameFor(field: string): string | undefined {
  if (KEYWORDS.has(field)) return `__${field}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(field)) return undefined;
  return field.replaceAll(/__|[-./]/g, (found) => ESCAPES[found] ?? found);
}
