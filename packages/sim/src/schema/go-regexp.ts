/** Regular expressions as Go writes them, for ours. */

/** A POSIX class inside of brackets. */
const CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const known = new Map<string, RegExp | undefined>();

/** The same expression in JavaScript; `undefined` if it is none. */
export function goRegExp(pattern: string): RegExp | undefined {
  if (known.has(pattern)) return known.get(pattern);
  const compiled = compile(pattern);
  if (known.size < 10_000) known.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): RegExp | undefined {
  // Go has neither look-around nor references back.
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(pattern)) return undefined;
  const [, letters = ""] = pattern.match(/^\(\?([imsU]+)\)/) ?? [];
  const rest = letters ? pattern.slice(letters.length + 3) : pattern;
  const flags = [...new Set(letters)].filter((letter) => "ims".includes(letter)).join("");
  const translated = rest
    .replaceAll("(?P<", "(?<")
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$")
    .replaceAll(/\[:(\^?)(\w+):\]/g, (whole, not: string, name: string) => (not ? whole : (CLASSES[name] ?? whole)))
    .replaceAll(/\\Q([\s\S]*?)(?:\\E|$)/g, (_, text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
    .replaceAll("\\pL", "\\p{L}")
    .replaceAll("\\pN", "\\p{N}");
  // With "u" characters are counted as Go counts them; some harmless escapes are only allowed without it.
  return attempt(translated, `${flags}u`) ?? attempt(translated, flags);
}

function attempt(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}
